import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, umask } from 'node:process';

/**
 * Gives the tests a world that is the same for everybody: an empty home, no settings of git, none of a hook that they are
 * run by, no proxy, messages in English, and files as the usual umask makes them. Returns what removes the home.
 */
export default function makeWorld(): () => void {
  // The commands of the tests name folders without quotes.
  if (/[^\w./+-]/.test(tmpdir())) env.TMPDIR = '/tmp';
  const home = mkdtempSync(join(tmpdir(), 'patchsmith-home-'));
  for (const name of Object.keys(env)) if (/^(?:GIT_|XDG_|LC_|LANG)|proxy$/i.test(name)) delete env[name];
  env.HOME = home;
  umask(0o022);
  return () => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
