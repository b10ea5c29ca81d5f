/** Writes the proven patch to a file. */

import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sentence } from '../../domain/text/words.ts';
import { replaceFile } from '../../files/replace-file.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import { isWritable } from './run-directory.ts';

/** Replaces the file in one step; an empty patch is an empty file. Null on success, otherwise the reason in one sentence. */
export function writePatch(path: string, { bytes }: Pick<ProvenPatch, 'bytes'>): string | null {
  try {
    const obstacle = obstacleTo(path);
    if (obstacle !== null) return obstacle;
    // The file may be in the work tree, where commands of the model could have put a link.
    replaceFile(path, bytes, 0o666);
    return null;
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      return sentence(`The patch cannot be written to ${path}: ${error.message}`);
    throw error;
  }
}

/** Why no patch can be written to this path, as far as that is known beforehand; null if nothing prevents it. */
export function obstacleTo(path: string): string | null {
  const refuse = (why: string) => `The patch cannot be written to ${path}: ${why}`;
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return refuse(`there is no folder ${folder}.`);
  if (!isWritable(folder)) return refuse(`the folder ${folder} is not writable.`);
  // A rename would replace a device or a link by a regular file.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    return refuse('it is not a regular file. --output patch prints the patch.');
  return null;
}
