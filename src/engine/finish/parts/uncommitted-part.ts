/** What the patch of a run applies to if the work tree had uncommitted work at the start. */

import { patchFilePublisher } from '../../../adapters/storage/patch-file.ts';
import type { PathChange } from '../../../domain/changes/change.ts';
import { quotedName } from '../../../domain/changes/path.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import { listed } from '../../../domain/text/listed.ts';
import { pluralize } from '../../../domain/text/pluralize.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ProvenPatch } from '../../../ports/workspace.ts';
import type { Ready } from '../../ready.ts';

/** The stored uncommitted work, and the warnings about it. */
export interface UncommittedPart {
  readonly patch: RunResult['uncommittedPatch'];
  readonly warnings: readonly Warning[];
}

const NOTHING: UncommittedPart = { patch: null, warnings: [] };

/** Keeps the uncommitted work beside a patch that has something in it: without it the patch could not be applied to the commit. */
export async function uncommittedPart(
  { workspace, directory, start: { followUp } }: Ready,
  net: readonly PathChange[],
  kept: { readonly patch: ProvenPatch | null; readonly isThere: boolean },
): Promise<UncommittedPart> {
  if (kept.patch === null || kept.patch.bytes.length === 0 || !kept.isThere) return NOTHING;
  const made = await workspace.uncommitted(net);
  if (made === null) return NOTHING;
  if (made.status === 'failed') return { patch: null, warnings: [notKept(made.message)] };
  const { leftOut } = made;
  const left = warning(
    'WARN_UNCOMMITTED_NOT_KEPT',
    `${pluralize(leftOut.length, 'large uncommitted file')} that the run did not change ${leftOut.length === 1 ? 'is' : 'are'} not kept: ${listed(leftOut.map(quotedName), 5)}.`,
  );
  const notes = leftOut.length === 0 ? [] : [left];
  const { bytes, sha256 } = made.patch;
  if (bytes.length === 0) return { patch: null, warnings: notes };
  const failure = await patchFilePublisher(directory.uncommitted).publish(made.patch);
  if (failure !== null) return { patch: null, warnings: [notKept(failure)] };
  const { commit } = workspace.base();
  const base = commit === null ? 'an empty tree' : commit.slice(0, 12);
  const merge = followUp?.merge ?? null;
  const what =
    merge === null
      ? `The work tree had uncommitted changes when the run started. The patch applies to ${base} after ${directory.uncommitted}.`
      : `The patch is relative to the merge of ${merge.slice(0, 12)}, which publish makes again. By hand, apply ${directory.uncommitted} to ${base} first.`;
  return {
    patch: { path: directory.uncommitted, sha256, bytes: bytes.length },
    warnings: [warning('WARN_UNCOMMITTED_WORK', what), ...notes],
  };
}

function notKept(why: string): Warning {
  return warning(
    'WARN_UNCOMMITTED_NOT_KEPT',
    `The patch applies to the uncommitted work that the run started with, which could not be kept as a patch: ${why}`,
  );
}
