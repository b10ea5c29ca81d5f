/**
 * Removes what commands may have created, through descriptors and without following links. So nothing outside can be reached,
 * whatever the entry contains and even if its folders are moved in the meantime.
 */

import { execFile } from 'node:child_process';
import { chmodSync, closeSync, constants, fstatSync, openSync, rmdirSync, unlinkSync } from 'node:fs';
import type { RepoPath } from '../../../domain/changes/path.ts';
import { CutShort } from '../../../domain/errors/thrown.ts';
import { hasCode } from '../../../files/failures.ts';
import { below, enterParent, through } from '../../../files/nofollow.ts';
import { timeLimit } from '../../../files/time-limit.ts';
import { O_PATH } from '../../../files/tree-view.ts';
import { PROGRAM_FOLDERS } from '../../../git/git.ts';

/** Removes the entry with everything in it, if it is there. Throws if it cannot be removed. */
export async function removeGitDir(root: string, path: string): Promise<void> {
  const place = enterParent(root, path as RepoPath, 'existing');
  if (place.status === 'failed') {
    if (place.reason === 'not_found') return;
    throw new Error(notRemoved(path, place.message));
  }
  const { folder, name } = place;
  try {
    openToOwner(folder);
    if (removeLeaf(folder, name)) return;
    const inner = openSync(below(folder, name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      openToOwner(inner);
      await empty(inner);
    } finally {
      closeSync(inner);
    }
    rmdirSync(below(folder, name));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new Error(notRemoved(path, error.message), { cause: error });
  } finally {
    closeSync(folder);
  }
}

function notRemoved(path: string, why: string): string {
  return `${JSON.stringify(path)}, which a command created, cannot be removed: ${why} Remove it before you use git there.`;
}

/** Removes an entry that is not a folder. False for a folder. */
function removeLeaf(folder: number, name: string): boolean {
  try {
    unlinkSync(below(folder, name));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    if (hasCode(error, 'EISDIR', 'EPERM')) return false;
    throw error;
  }
}

/** Programs of the system do this, as there may be any number of entries at any depth. Neither follows a link that it finds. */
async function empty(folder: number): Promise<void> {
  const remove = () => run(folder, 'find', '.', '-mindepth', '1', '-delete');
  if ((await remove()) === null) return;
  // Folders may be closed to their owner.
  await run(folder, 'chmod', '-R', 'u+rwX', '.');
  const why = await remove();
  if (why !== null) throw Object.assign(new Error(why), { code: 'EACCES' });
}

/** Null on success, otherwise what the program says. */
function run(folder: number, program: string, ...args: readonly string[]): Promise<string | null> {
  const signal = timeLimit();
  const options = {
    cwd: through(folder),
    env: { PATH: PROGRAM_FOLDERS.join(':') },
    killSignal: 'SIGKILL' as const,
    ...(signal && { signal }),
  };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, _, stderr) => {
      if (signal?.aborted) reject(new CutShort());
      else resolve(error === null ? null : stderr.trim() || error.message);
    });
  });
}

/** Makes a folder accessible to its owner; if it belongs to someone else, the error that follows tells. */
function openToOwner(folder: number): void {
  const { mode } = fstatSync(folder);
  if ((mode & 0o700) === 0o700) return;
  try {
    chmodSync(through(folder), (mode & 0o7777) | 0o700);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
  }
}
