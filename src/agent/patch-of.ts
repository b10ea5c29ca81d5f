/** The patch of the changes so far. */

import type { PathChange } from '../domain/changes/change.ts';
import { machineFault } from '../domain/run/machine-fault.ts';
import type { PatchResult, Workspace } from '../ports/workspace.ts';

/** A broken machine is a reason for having no patch. Anything else that is thrown is a bug. */
export function patchOf(
  workspace: Pick<Workspace, 'makePatch'>,
  net: readonly PathChange[],
): Promise<PatchResult> {
  return workspace.makePatch(net).catch((error: unknown): PatchResult => {
    const fault = machineFault(error);
    if (fault === null) throw error;
    return { status: 'failed', message: `The patch cannot be made: ${fault}.` };
  });
}
