/** Lists of paths that a run keeps in its shadow repository. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeNames, encodeNames } from './names.ts';

/** The list of the folders that were empty at the start: git does not track them, and undoing a run leaves them as they were. */
export function emptyFoldersFile(shadowDir: string): string {
  return join(shadowDir, 'empty-folders');
}

/** Writes the list. */
export function keepList(file: string, names: readonly string[]): void {
  writeFileSync(file, encodeNames(names));
}

/** Reads what `keepList` wrote; empty if there is no such file. */
export function readList(file: string): string[] {
  return existsSync(file) ? decodeNames(readFileSync(file)) : [];
}
