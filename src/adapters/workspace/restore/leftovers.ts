/** Clears away what a guarded write leaves behind when the runner is killed in the middle of it. */

import { readdir, unlink } from 'node:fs/promises';
import { parseRepoPath } from '../../../domain/changes/path.ts';
import { ioFailure } from '../../../files/failures.ts';
import { TEMPORARY_NAME } from '../../../files/nofollow-files.ts';
import { below, enterParent, through } from '../../../files/nofollow-path.ts';

/** The path ends in a name that only a guarded write gives. */
export function isTemporary(path: string): boolean {
  return TEMPORARY_NAME.test(path.slice(path.lastIndexOf('/') + 1));
}

/** Removes the temporary files beside these paths. */
export async function removeLeftovers(root: string, targets: readonly string[]): Promise<void> {
  for (const target of targets) {
    const parsed = parseRepoPath(target);
    if (!parsed.ok) continue;
    const place = await enterParent(root, parsed.path, 'existing');
    if (place.status === 'failed') continue;
    try {
      for (const name of await readdir(through(place.folder))) {
        if (TEMPORARY_NAME.test(name)) await unlink(below(place.folder, name));
      }
    } catch (error) {
      // What cannot be looked at or removed is found by the next look at the work tree, and told there.
      ioFailure(error, target, 'read');
    } finally {
      await place.folder.close();
    }
  }
}
