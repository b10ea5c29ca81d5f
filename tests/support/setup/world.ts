import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, umask } from 'node:process';
import { diskInMemory } from './disk-in-memory.ts';
import { IS_FULL } from './sample.ts';

/**
 * Gives the tests a world that is the same for everybody: an empty home, no settings of git, none of a hook that they are
 * run by, no proxy, messages in English, and files as the usual umask makes them. New repositories have no examples of hooks,
 * which take git longer to write than all the rest. What tests write lies in memory if it can; the full suite takes the disk.
 * Returns what removes it.
 */
export default function makeWorld(): () => Promise<void> {
  // The commands of the tests name folders without quotes.
  if (/[^\w./+-]/.test(tmpdir())) env.TMPDIR = '/tmp';
  const disk = IS_FULL ? null : diskInMemory();
  if (disk) env.TMPDIR = disk.folder;
  const world = mkdtempSync(join(tmpdir(), 'patchsmith-world-'));
  for (const name of Object.keys(env)) if (/^(?:GIT_|XDG_|LC_|LANG)|proxy$/i.test(name)) delete env[name];
  env.HOME = join(world, 'home');
  env.GIT_TEMPLATE_DIR = join(world, 'template');
  for (const folder of [env.HOME, join(env.GIT_TEMPLATE_DIR, 'hooks'), join(env.GIT_TEMPLATE_DIR, 'info')])
    mkdirSync(folder, { recursive: true });
  umask(0o022);
  // Most repositories begin as a copy of this one.
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', join(world, 'empty')]);
  return async () => {
    rmSync(world, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    await disk?.remove();
  };
}
