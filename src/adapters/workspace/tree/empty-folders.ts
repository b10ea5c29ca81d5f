/** The folders that were empty when a run began: git does not track them, and undoing a run leaves them as they were. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeName, encodeName } from '../../../files/names.ts';

/** The file in the shadow repository that lists them. */
export function emptyFoldersFile(shadowDir: string): string {
  return join(shadowDir, 'empty-folders');
}

/** Records which folders were empty at the start, so that `undo` keeps them. */
export function keepEmptyFolders(file: string, folders: readonly string[]): void {
  writeFileSync(file, Buffer.concat(folders.map((folder) => encodeName(`${folder}\0`))));
}

/** Reads what `keepEmptyFolders` wrote; an empty set if there is no such file. */
export function readEmptyFolders(file: string): Set<string> {
  if (!existsSync(file)) return new Set();
  return new Set(
    decodeName(readFileSync(file))
      .split('\0')
      .filter((folder) => folder !== ''),
  );
}
