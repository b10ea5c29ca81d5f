/** Cleans up what a guarded write leaves behind when the runner is killed in the middle of it. */

import { closeSync, readdirSync, unlinkSync } from 'node:fs';
import { nameOf, parseRepoPath } from '../../../domain/changes/path.ts';
import { ioFailure } from '../../../files/failures.ts';
import { TEMPORARY_NAME } from '../../../files/nofollow-files.ts';
import { below, enterParent, through } from '../../../files/nofollow-path.ts';
import { Breath } from '../../../files/time-limit.ts';

/** Whether the path ends in a name that only a guarded write uses. */
export function isTemporary(path: string): boolean {
  return TEMPORARY_NAME.test(nameOf(path));
}

/** Removes the temporary files beside these paths. */
export async function removeLeftovers(root: string, targets: readonly string[]): Promise<void> {
  const breath = new Breath();
  for (const target of targets) {
    await breath.after(1);
    const parsed = parseRepoPath(target);
    if (!parsed.ok) continue;
    const place = enterParent(root, parsed.path, 'existing');
    if (place.status === 'failed') continue;
    try {
      for (const name of readdirSync(through(place.folder))) {
        if (TEMPORARY_NAME.test(name)) unlinkSync(below(place.folder, name));
      }
    } catch (error) {
      // The next scan of the work tree finds and reports what cannot be examined or removed.
      ioFailure(error, target, 'read');
    } finally {
      closeSync(place.folder);
    }
  }
}
