/** Pipes and devices in place of rule files: every git that reads the rules would wait for them, also the user's. */

import { unlinkSync } from 'node:fs';
import { isRuleFile, quotedName } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/unusable-file.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { hasCode } from '../../../files/failures.ts';
import { viewing } from '../../../files/tree-view.ts';

const WHY = 'is a pipe or device, which git would wait for';

/** `special` are the pipes, sockets and devices of the start. Throws `UnusableFile` for one in place of a rule file. */
export function refuseBlocking(root: string, special: readonly string[]): void {
  const first = special.find(isRuleFile);
  if (first !== undefined) throw new UnusableFile(`${root}/${first}`, WHY);
}

/** What is needed to remove them. */
interface BlockingPlaces {
  readonly root: string;
  readonly closed: Pick<ClosedPlaces, 'open'>;
  warn(warning: Warning): void;
}

/** Removes those that are there later. Throws `UnusableFile` if one stays. */
export function removeBlocking({ root, closed, warn }: BlockingPlaces, special: readonly string[]): void {
  for (const path of special.filter(isRuleFile)) {
    if (!remove(root, path) && !(closed.open(path, 'write') && remove(root, path)))
      throw new UnusableFile(`${root}/${path}`, WHY);
    warn(warning('WARN_SPECIAL_REMOVED', `${quotedName(path)} was a pipe or device, and was removed.`));
  }
}

/** False if it is still there. */
function remove(root: string, path: string): boolean {
  return viewing(root, (view) => {
    try {
      unlinkSync(view.place(path));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return true;
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'EBUSY')) return false;
      throw error;
    }
  });
}
