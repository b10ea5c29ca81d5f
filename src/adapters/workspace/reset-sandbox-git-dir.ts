/**
 * Keeps what the model's commands did with git in the throwaway git dir, and removes everything that git runs or obeys.
 * Works through descriptors and follows no link.
 */

import { closeSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RepoPath } from '../../domain/changes/path.ts';
import { decodeName } from '../../files/names.ts';
import { below, enterParent, through } from '../../files/nofollow.ts';
import { Breath } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { alternatesOf, configOf, readsFrom } from '../../git/store/bare-repository.ts';
import type { SandboxGitDir } from '../../ports/workspace.ts';
import { describeSandboxGitDir, type ReadingSettings, sandboxGitDirPlan } from './sandbox-git-dir.ts';
import { openToOwner, removeGitDir } from './unwalked/remove-git-dir.ts';
import { startSettings } from './verify-git-dir.ts';

type Kind = 'file' | 'folder';
/** The kind an entry must have to be kept; null if it is always removed. */
type KindOf = (name: string) => Kind | null;

/** Git only reads data from these. Configuration, hooks, attributes and unfinished rebases are not among them. */
const FILES: readonly string[] = ['HEAD', 'index', 'packed-refs', 'shallow'];
const FOLDERS: readonly string[] = ['refs', 'logs', 'objects', 'info'];

const inGitDir: KindOf = (name) => {
  if (FOLDERS.includes(name)) return 'folder';
  // A split index refers to its other part.
  return FILES.includes(name) || /^sharedindex\.[0-9a-f]+$/.test(name) ? 'file' : null;
};
const inInfo: KindOf = (name) => (name === 'exclude' ? 'file' : null);
const inObjects: KindOf = (name) => (/^(?:[0-9a-f]{2}|pack|info)$/.test(name) ? 'folder' : null);

/** For the end of a run, when no command is running any more. Succeeds if the run has not created the git dir. */
export async function disarmSandboxGitDir(
  checkout: Checkout,
  { shadowGit, sandboxGitDir }: { shadowGit: string; sandboxGitDir: string },
): Promise<void> {
  await resetSandboxGitDir(checkout, sandboxGitDir, startSettings(shadowGit));
}

/** The git dir of an earlier process, disarmed; null if the checkout's objects are somewhere else now. */
export async function keptSandboxGitDir(
  checkout: Checkout,
  gitDir: string,
  settings: ReadingSettings,
): Promise<SandboxGitDir | null> {
  if (!readsFrom(gitDir, checkout.objects)) return null;
  // A lock left by a killed git is removed with the rest.
  await resetSandboxGitDir(checkout, gitDir, settings);
  return describeSandboxGitDir(checkout, gitDir);
}

async function resetSandboxGitDir(
  checkout: Checkout,
  gitDir: string,
  settings: ReadingSettings,
): Promise<void> {
  const stat = lstatSync(gitDir, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    await removeGitDir(dirname(gitDir), basename(gitDir));
    return;
  }
  const plan = sandboxGitDirPlan(checkout, settings);
  // The harmful part first.
  await put(gitDir, 'config', configOf(plan));
  await keepOnly(gitDir, '', (name) => (name === 'config' ? 'file' : inGitDir(name)));
  await keepOnly(gitDir, 'info/', inInfo);
  await keepOnly(gitDir, 'objects/', inObjects);
  await keepOnly(gitDir, 'objects/info/', () => null);
  await put(gitDir, 'objects/info/alternates', alternatesOf(plan.alternate));
  const attributes = join(checkout.commonDir, 'info/attributes');
  if (existsSync(attributes)) await put(gitDir, 'info/attributes', readFileSync(attributes));
  // Without these it is not a repository, and git would search the folders above for one.
  await inFolder(gitDir, 'refs/', () => {});
  if (!existsSync(join(gitDir, 'HEAD'))) await put(gitDir, 'HEAD', `${plan.head}\n`);
}

/** `folder` is empty or ends with a slash. */
async function keepOnly(gitDir: string, folder: string, kindOf: KindOf): Promise<void> {
  const gone = await inFolder(gitDir, folder, async (open) => {
    const names = (await readdir(through(open), { encoding: 'buffer' })).map(decodeName);
    const breath = new Breath();
    const others: string[] = [];
    for (const name of names) {
      if (!isOfKind(open, name, kindOf(name))) others.push(name);
      await breath.after(1);
    }
    return others;
  });
  for (const name of gone) await removeGitDir(gitDir, `${folder}${name}`);
}

function isOfKind(folder: number, name: string, kind: Kind | null): boolean {
  if (kind === null) return false;
  const stat = lstatSync(below(folder, name));
  return kind === 'file' ? stat.isFile() : stat.isDirectory();
}

async function put(gitDir: string, path: string, content: string | Buffer): Promise<void> {
  await removeGitDir(gitDir, path);
  const at = path.lastIndexOf('/') + 1;
  await inFolder(gitDir, path.slice(0, at), (folder) =>
    writeFileSync(below(folder, path.slice(at)), content, { flag: 'wx', mode: 0o600 }),
  );
}

/** Creates the folder if it is missing, and restores access if a command has removed it. */
async function inFolder<T>(
  gitDir: string,
  folder: string,
  act: (descriptor: number) => T | Promise<T>,
): Promise<T> {
  const place = enterParent(gitDir, `${folder}x` as RepoPath, 'make');
  if (place.status === 'failed') throw new Error(`${folder} in ${gitDir}: ${place.message}`);
  try {
    openToOwner(place.folder);
    return await act(place.folder);
  } finally {
    closeSync(place.folder);
  }
}
