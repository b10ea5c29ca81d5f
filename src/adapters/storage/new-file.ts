/** Files that are written where none is, and nowhere else. */

import { lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface NewFile {
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
export async function writeNewFile(root: string, { path, text, unless }: NewFile): Promise<NewFileEnd> {
  const there = [path, ...unless].find((name) => exists(join(root, name)));
  if (there !== undefined) return { status: 'there', path: there };
  try {
    const folder = dirname(join(root, path));
    mkdirSync(folder, { recursive: true });
    if (realpathSync(folder) !== join(realpathSync(root), dirname(path)))
      return { status: 'failed', why: 'a link stands in the way' };
    writeFileSync(join(root, path), text, { flag: 'wx' });
    return { status: 'written' };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { status: 'failed', why: error.message };
    throw error;
  }
}

/** Also a link that leads nowhere. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
