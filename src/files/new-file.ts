/** Writes new files only, never over existing ones. */

import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file to be written if it does not exist yet. */
export interface FileToWrite {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  /** Files that make it unnecessary: if one of them exists, it is not written. */
  readonly unless: readonly string[];
}

/** `there` names the existing file because of which nothing was written; `why` follows the name of the file. */
export type NewFileEnd =
  | { status: 'written' }
  | { status: 'there'; path: string }
  | { status: 'failed'; why: string };

/** Creates missing folders. Follows no link out of the root. */
export async function writeNewFile(root: string, { path, text, unless }: FileToWrite): Promise<NewFileEnd> {
  const obstacle = obstacleAbove(root, path);
  if (obstacle !== null) return { status: 'failed', why: obstacle };
  const there = [path, ...unless].find((name) => exists(join(root, name)));
  if (there !== undefined) return { status: 'there', path: there };
  try {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: 'wx' });
    return { status: 'written' };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { status: 'failed', why: error.message };
    throw error;
  }
}

/** Null if all existing parts of its parent path are folders. */
function obstacleAbove(root: string, path: string): string | null {
  const names = path.split('/').slice(0, -1);
  for (const at of names.keys()) {
    const folder = names.slice(0, at + 1).join('/');
    const stats = lstatSync(join(root, folder), { throwIfNoEntry: false });
    if (stats === undefined) return null;
    if (stats.isSymbolicLink()) return `a link is in the way, ${folder}`;
    if (!stats.isDirectory()) return `${folder} is not a folder`;
  }
  return null;
}

/** True for a dangling link too. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
