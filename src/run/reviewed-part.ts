/** What the result says of the contents of a patch. */

import type { PathChange } from '../domain/change.ts';
import type { ProvenPatch } from '../ports.ts';
import type { Ready } from './prepare.ts';
import type { Review } from './review.ts';

/** Null without a patch. What does the work is loaded late, since an empty patch needs none of it. */
export async function reviewedPart(
  { directory, start }: Ready,
  net: readonly PathChange[],
  patch: ProvenPatch | null,
): Promise<Review | null> {
  if (patch === null || patch.files.length === 0) return null;
  const { reviewPatch } = await import('./review.ts');
  return reviewPatch({
    files: patch.files,
    net,
    shadowGit: directory.shadowGit,
    principles: start.principles.map(({ path }) => path),
  });
}
