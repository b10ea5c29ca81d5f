/**
 * Removes a git dir that commands created, through descriptors and without following links: nothing outside can be reached,
 * whatever is in the dir and whoever moves its folders in the meantime.
 */

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import type { RepoPath } from '../../../domain/changes/path.ts';
import { hasCode } from '../../../files/failures.ts';
import { encodeName } from '../../../files/names.ts';
import { enterParent, through } from '../../../files/nofollow-path.ts';
import { Breath } from '../../../files/time-limit.ts';

const FOLDER_ITSELF = 0o10000000 /* O_PATH */ | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes the entry with everything in it. Throws if it cannot be removed; an entry that is gone already is not a failure.
 */
export async function removeGitDir(root: string, path: string): Promise<void> {
  const place = await enterParent(root, path as RepoPath, 'existing');
  if (place.status === 'failed') {
    if (place.reason === 'not_found') return;
    throw new Error(notRemoved(path, place.message));
  }
  try {
    await openToOwner(place.folder);
    await removeIn(place.folder, encodeName(place.name));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new Error(notRemoved(path, error.message), { cause: error });
  } finally {
    await place.folder.close();
  }
}

function notRemoved(path: string, why: string): string {
  return `${JSON.stringify(path)}, which a command created, cannot be removed: ${why} Remove it before you use git there.`;
}

async function removeIn(parent: FileHandle, name: Buffer): Promise<void> {
  if (await removeLeaf(parent, name)) return;
  const folder = await open(within(parent, name), FOLDER_ITSELF);
  try {
    await openToOwner(folder);
    await empty(folder);
  } finally {
    await folder.close();
  }
  await rmdir(within(parent, name));
}

/** The contents of subfolders are moved up first, so that no depth needs more than two descriptors. */
async function empty(folder: FileHandle): Promise<void> {
  const breath = new Breath();
  for (let names = await namesIn(folder); names.length > 0; names = await namesIn(folder)) {
    for (const name of names) {
      await breath.after(1);
      if (await removeLeaf(folder, name)) continue;
      const inner = await open(within(folder, name), FOLDER_ITSELF);
      try {
        await openToOwner(inner);
        for (const below of await namesIn(inner)) await moveUp(inner, below, folder);
      } finally {
        await inner.close();
      }
      await rmdir(within(folder, name));
    }
  }
}

async function moveUp(from: FileHandle, name: Buffer, to: FileHandle): Promise<void> {
  if (await removeLeaf(from, name)) return;
  const moved = await open(within(from, name), FOLDER_ITSELF);
  try {
    // Giving a folder another parent requires write permission on it.
    await openToOwner(moved);
  } finally {
    await moved.close();
  }
  await rename(within(from, name), within(to, Buffer.from(randomUUID())));
}

/** Removes an entry that is not a folder, or an empty folder. False if the folder is not empty, or cannot be opened. */
async function removeLeaf(folder: FileHandle, name: Buffer): Promise<boolean> {
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
export async function openToOwner(folder: FileHandle): Promise<void> {
  const { mode } = await folder.stat();
  if ((mode & 0o700) === 0o700) return;
  try {
    await chmod(through(folder), (mode & 0o7777) | 0o700);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
  }
}

function namesIn(folder: FileHandle): Promise<Buffer[]> {
  return readdir(through(folder), { encoding: 'buffer' });
}

function within(folder: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${through(folder)}/`), name]);
}
