/** What the result says about the contents of a patch, and whether they may be published. */

import type { PathChange } from '../../../domain/changes/change.ts';
import { pathMatcher } from '../../../domain/changes/path-policy.ts';
import type { Withheld } from '../../../domain/run/decide-outcome.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import type { ProvenPatch, ReadBlobs } from '../../../ports/workspace.ts';
import type { Ready } from '../../ready.ts';
import type { Session } from '../../session.ts';
import { repositoriesReason, withheldReason } from '../result.ts';

/** What the result says about the review. */
export interface ReviewedPart extends Pick<RunResult, 'flags' | 'secrets'> {
  /** Null when the patch may be published. */
  readonly withheld: Withheld | null;
  /** Why `publish` would not take the patch, with the limits known here; null when it would. */
  readonly oversize: string | null;
}

/** The modules that do the work are loaded late, since an empty patch needs none of them. */
export async function reviewedPart(
  { findKnown, input }: Session,
  { start }: Ready,
  { net, patch, read }: { net: readonly PathChange[]; patch: ProvenPatch | null; read: ReadBlobs },
): Promise<ReviewedPart> {
  if (patch === null || patch.files.length === 0)
    return { flags: [], secrets: [], withheld: null, oversize: null };
  const { reviewPatch } = await import('../review.ts');
  const { overCaps } = await import('../../../domain/github/publishing/policy.ts');
  const { flags, secrets } = await reviewPatch({
    files: patch.files,
    net,
    read,
    principles: start.principles.map(({ path }) => path),
    findKnown,
  });
  const isAccepted = pathMatcher(start.acceptSecrets);
  const withheld =
    repositoriesReason(patch.repositories) ?? withheldReason(secrets.filter(({ path }) => !isAccepted(path)));
  const { maxPatchFiles: maxFiles, maxPatchBytes: maxBytes } = input.settings;
  const size = { files: patch.files.length, bytes: patch.bytes.length };
  const oversize = overCaps(size, { maxFiles, maxBytes })?.reason ?? null;
  return { flags: [...flags], secrets: [...secrets], withheld, oversize };
}
