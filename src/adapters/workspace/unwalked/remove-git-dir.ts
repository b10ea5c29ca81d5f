/**
 * Removes a git dir that commands created, through descriptors and without following links. So nothing outside can be reached,
 * whatever the dir contains and even if its folders are moved in the meantime. Names are listed and removed on another thread,
 * because there may be any number of them, and files of any size.
 */

import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { readdir, rename, rmdir, unlink } from 'node:fs/promises';
import type { RepoPath } from '../../../domain/changes/path.ts';
import { hasCode } from '../../../files/failures.ts';
import { encodeName } from '../../../files/names.ts';
import { enterParent, through } from '../../../files/nofollow.ts';
import { Breath } from '../../../files/time-limit.ts';

const FOLDER_ITSELF = 0o10000000 /* O_PATH */ | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Removes the entry with everything in it, if it is there. Throws if it cannot be removed. */
export async function removeGitDir(root: string, path: string): Promise<void> {
  const place = enterParent(root, path as RepoPath, 'existing');
  if (place.status === 'failed') {
    if (place.reason === 'not_found') return;
    throw new Error(notRemoved(path, place.message));
  }
  try {
    openToOwner(place.folder);
    await removeIn(place.folder, encodeName(place.name));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new Error(notRemoved(path, error.message), { cause: error });
  } finally {
    closeSync(place.folder);
  }
}

function notRemoved(path: string, why: string): string {
  return `${JSON.stringify(path)}, which a command created, cannot be removed: ${why} Remove it before you use git there.`;
}

async function removeIn(parent: number, name: Buffer): Promise<void> {
  if (await removeLeaf(parent, name)) return;
  const folder = openSync(within(parent, name), FOLDER_ITSELF);
  try {
    openToOwner(folder);
    await empty(folder);
  } finally {
    closeSync(folder);
  }
  await rmdir(within(parent, name));
}

/** The contents of subfolders are moved up first, so that no depth needs more than two descriptors. */
async function empty(folder: number): Promise<void> {
  const breath = new Breath();
  for (let names = await namesIn(folder); names.length > 0; names = await namesIn(folder)) {
    for (const name of names) {
      await breath.after(1);
      if (await removeLeaf(folder, name)) continue;
      const inner = openSync(within(folder, name), FOLDER_ITSELF);
      try {
        openToOwner(inner);
        for (const below of await namesIn(inner)) await moveUp(inner, below, folder);
      } finally {
        closeSync(inner);
      }
      await rmdir(within(folder, name));
    }
  }
}

async function moveUp(from: number, name: Buffer, to: number): Promise<void> {
  if (await removeLeaf(from, name)) return;
  const moved = openSync(within(from, name), FOLDER_ITSELF);
  try {
    // Giving a folder another parent requires write permission on it.
    openToOwner(moved);
  } finally {
    closeSync(moved);
  }
  await rename(within(from, name), within(to, Buffer.from(randomUUID())));
}

/** Removes an entry that is not a folder, or an empty folder. False if the folder is not empty, or cannot be opened. */
async function removeLeaf(folder: number, name: Buffer): Promise<boolean> {
  try {
    await unlink(within(folder, name));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    if (!hasCode(error, 'EISDIR', 'EPERM')) throw error;
  }
  try {
    await rmdir(within(folder, name));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EACCES')) return false;
    throw error;
  }
}

/** Makes a folder accessible to its owner; if it belongs to someone else, the error that follows tells. */
export function openToOwner(folder: number): void {
  const { mode } = fstatSync(folder);
  if ((mode & 0o700) === 0o700) return;
  try {
    chmodSync(through(folder), (mode & 0o7777) | 0o700);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
  }
}

function namesIn(folder: number): Promise<Buffer[]> {
  return readdir(through(folder), { encoding: 'buffer' });
}

function within(folder: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${through(folder)}/`), name]);
}
