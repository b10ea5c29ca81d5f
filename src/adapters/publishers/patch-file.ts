/** Writes the proven patch to a file. */

import { renameSync, writeFileSync } from 'node:fs';
import type { ProvenPatch, Publisher } from '../../ports.ts';

/** The file is replaced in one step; an empty patch is an empty file. */
export function patchFilePublisher(path: string): Publisher {
  return {
    name: 'patch-file',
    async publish(patch: ProvenPatch): Promise<string | null> {
      try {
        const temporary = `${path}.${process.pid}.new`;
        writeFileSync(temporary, patch.bytes);
        renameSync(temporary, path);
        return null;
      } catch (error) {
        if (error instanceof Error && 'code' in error)
          return `The patch cannot be written to ${path}: ${error.message}.`;
        throw error;
      }
    },
  };
}
