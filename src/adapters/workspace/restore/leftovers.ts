/** Cleans up what a guarded write leaves behind when the runner is killed in the middle of it. */

import { readdirSync, unlinkSync } from 'node:fs';
import { nameOf, parseRepoPath } from '../../../domain/changes/path.ts';
import { below, inParent, through } from '../../../files/nofollow.ts';
import { TEMPORARY_NAME } from '../../../files/nofollow-files.ts';
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
    // The next scan of the work tree finds and reports what cannot be examined or removed.
    inParent(root, parsed.path, 'existing', ({ folder }) => {
      for (const name of readdirSync(through(folder)))
        if (TEMPORARY_NAME.test(name)) unlinkSync(below(folder, name));
      return null;
    });
  }
}
