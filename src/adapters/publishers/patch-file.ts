/** Writes the proven patch to a file. */

import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { ProvenPatch, Publisher } from '../../ports.ts';

/** The file is replaced in one step; an empty patch is an empty file. */
export function patchFilePublisher(path: string): Publisher {
  return {
    name: 'patch-file',
    async publish(patch: ProvenPatch): Promise<string | null> {
      try {
        // A rename would put a plain file where a device or a link was.
        if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
          return `The patch cannot be written to ${path}: it is not a regular file. --output patch prints the patch.`;
        replaceFile(path, patch.bytes);
        return null;
      } catch (error) {
        if (error instanceof Error && 'code' in error)
          return `The patch cannot be written to ${path}: ${error.message}.`;
        throw error;
      }
    },
  };
}

/** The file may lie in the work tree, where commands of the model could have put a link in the temporary file's place. */
function replaceFile(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.${process.pid}.new`;
  rmSync(temporary, { force: true });
  try {
    writeFileSync(temporary, bytes, { flag: 'wx' });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}
