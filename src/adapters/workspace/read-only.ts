/** Whether a checkout can be written to at all. */

import { accessSync, constants } from 'node:fs';
import { sentence } from '../../domain/text/words.ts';

/** Why nothing can be written to the root of a work tree, for people; null when it can. */
export function whyReadOnly(root: string): string | null {
  try {
    accessSync(root, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why =
      error.code === 'EROFS'
        ? 'it is on a read-only file system'
        : error.code === 'EACCES'
          ? 'this user may not write there'
          : error.message;
    return `${sentence(`Nothing can be written to the work tree ${root}: ${why}`)} Make it writable, or name another checkout with --repo.`;
  }
}
