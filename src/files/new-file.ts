/** Files that are written where none is, and nowhere else. */

import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file that is written where it does not exist yet. */
export interface FileToWrite {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  /** Files that stand for it: where one of them is, it is not written. */
  readonly unless: readonly string[];
}

/** `there` names the file because of which nothing was written; `why` follows the name of the file. */
export type NewFileEnd =
  | { status: 'written' }
  | { status: 'there'; path: string }
  | { status: 'failed'; why: string };

/** Makes missing folders. Leaves the root by no link. */
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

/** Null when the folders that it is to lie in are folders, as far as they are there. */
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

/** Also a link that leads nowhere. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
