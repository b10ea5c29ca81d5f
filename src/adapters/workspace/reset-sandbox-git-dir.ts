/**
 * Keeps what the model's commands did with git in the throwaway git dir, and removes everything that git runs or obeys.
 * Works through descriptors and follows no link.
 */

import { closeSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RepoPath } from '../../domain/changes/path.ts';
import { decodeName } from '../../files/names.ts';
import { below, enterParent, through } from '../../files/nofollow.ts';
import { Breath } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { readsFrom } from '../../git/store/bare-repository.ts';
import type { CoreSettings } from '../../git/user-settings.ts';
import type { SandboxGitDir } from '../../ports/workspace.ts';
import { startSettings } from './kept/base-copy.ts';
import { describeSandboxGitDir, makeSandboxGitDir, writeGitDir } from './sandbox-git-dir.ts';
import { openToOwner, removeGitDir } from './unwalked/remove-git-dir.ts';

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
const inRefs: KindOf = (name) => (name === 'stash' ? 'file' : 'folder');
const inInfo: KindOf = (name) => (name === 'exclude' ? 'file' : null);
const inObjects: KindOf = (name) => (/^(?:[0-9a-f]{2}|pack|info)$/.test(name) ? 'folder' : null);

/** For the end of a run, when no command is running any more. Succeeds if the run has not created the git dir. */
export async function disarmSandboxGitDir(
  checkout: Checkout,
  { shadowGit, sandboxGitDir }: { shadowGit: string; sandboxGitDir: string },
): Promise<void> {
  await resetSandboxGitDir(checkout, sandboxGitDir, startSettings(shadowGit));
}

/** The git dir of an earlier process, disarmed, or a new one if the checkout's objects are somewhere else now. */
export async function reopenSandboxGitDir(
  checkout: Checkout,
  gitDir: string,
  settings: CoreSettings,
): Promise<SandboxGitDir> {
  // A lock left by a killed git is removed with the rest.
  if (readsFrom(gitDir, checkout.objects)) await resetSandboxGitDir(checkout, gitDir, settings);
  else {
    // The folder itself may be mounted by now, and stays.
    mkdirSync(gitDir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(gitDir)) rmSync(join(gitDir, name), { recursive: true, force: true });
    await makeSandboxGitDir(checkout, gitDir, settings);
  }
  return describeSandboxGitDir(checkout, gitDir);
}

async function resetSandboxGitDir(checkout: Checkout, gitDir: string, settings: CoreSettings): Promise<void> {
  const stat = lstatSync(gitDir, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    await removeGitDir(dirname(gitDir), basename(gitDir));
    return;
  }
  await keepOnly(gitDir, '', inGitDir);
  await keepOnly(gitDir, 'refs/', inRefs);
  await keepOnly(gitDir, 'info/', inInfo);
  await keepOnly(gitDir, 'objects/', inObjects);
  await keepOnly(gitDir, 'objects/info/', () => null);
  writeGitDir(checkout, gitDir, settings);
}

/** `folder` is empty or ends with a slash; created if it is missing, and opened if a command has closed it. */
async function keepOnly(gitDir: string, folder: string, kindOf: KindOf): Promise<void> {
  const place = enterParent(gitDir, `${folder}x` as RepoPath, 'make');
  if (place.status === 'failed') throw new Error(`${folder} in ${gitDir}: ${place.message}`);
  try {
    openToOwner(place.folder);
    const breath = new Breath();
    for (const name of await readdir(through(place.folder), { encoding: 'buffer' })) {
      const named = decodeName(name);
      if (!isOfKind(place.folder, named, kindOf(named))) await removeGitDir(gitDir, `${folder}${named}`);
      await breath.after(1);
    }
  } finally {
    closeSync(place.folder);
  }
}

function isOfKind(folder: number, name: string, kind: Kind | null): boolean {
  if (kind === null) return false;
  const stat = lstatSync(below(folder, name));
  return kind === 'file' ? stat.isFile() : stat.isDirectory();
}
