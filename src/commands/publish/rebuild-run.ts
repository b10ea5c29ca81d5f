/** The run's patch on the base as it is now, reviewed again. */

import { findCommit } from '../../adapters/github/objects.ts';
import { pathMatcher } from '../../domain/changes/path-policy.ts';
import { flagLines } from '../../domain/report/result-lines.ts';
import type { Flag } from '../../domain/review/flag.ts';
import { flagsOf } from '../../domain/review/review-flags.ts';
import type { Withheld } from '../../domain/run/decide-outcome.ts';
import { noChange, policyViolation, publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { addedSecrets, type FoundSecret } from '../../domain/secrets/secret-scan.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { repositoriesReason, withheldReason } from '../../engine/finish/result.ts';
import { openScratchRepository } from '../../git/store/scratch-apply.ts';
import type { NewFile } from '../../ports/github.ts';
import type { Base } from './base.ts';
import type { PublishJob, Refused } from './job.ts';
import type { CheckedPatch } from './read-run.ts';
import { type Rebuilt, rebuild } from './rebuild.ts';

/** The change to publish, on today's base. */
export interface Change {
  /** The tree the base is changed to. */
  readonly tree: string;
  readonly files: readonly NewFile[];
  readonly flags: readonly Flag[];
}

/**
 * Rebuilds a run's patch on the base as it is now, and checks it against the policy. `mergedTree` is what the run began with if
 * that is the tree of no commit: that of a merge.
 */
export async function rebuildRun(
  job: PublishJob,
  base: Base,
  patch: CheckedPatch,
  mergedTree: string | null = null,
): Promise<Refused | { status: 'ok'; change: Change }> {
  const { result, upstream, publication, say } = job;
  const refuse = (outcome: RunOutcome): Refused => ({ status: 'refused', outcome });
  const bench = openScratchRepository(job.scratch);
  const began = result.baseSha === null ? null : await findCommit(upstream, result.baseSha);
  const runTree = mergedTree ?? began?.tree.sha ?? null;
  const rebuilt = await rebuild({ where: upstream, patch, runTree, baseTree: base.tree, bench });
  if (rebuilt.status !== 'ok') return refuse(whyNotRebuilt(job, base, rebuilt));
  const isOwnBase =
    mergedTree === null
      ? base.sha === result.baseSha && result.baseDirty === false
      : base.tree === mergedTree;
  if (isOwnBase && rebuilt.tree !== result.treeSha)
    return refuse(
      publishFailed(
        'ERR_PATCH_BROKEN',
        `The patch makes the tree ${rebuilt.tree} of the run's own base, and the result says ${result.treeSha}: it is not the patch that the run proved.`,
      ),
    );
  const withheld = whyWithheld(job, rebuilt);
  if (withheld !== null) return refuse(policyViolation(withheld.code, withheld.reason));

  publication.flags.push(
    ...flagsOf(
      rebuilt.reviewed,
      result.principles.map(({ path }) => path),
    ),
  );
  publication.merged.push(...rebuilt.merged);
  for (const line of flagLines(publication.flags)) say(line);
  if (rebuilt.merged.length > 0) say(`merged with changes of ${base.branch}: ${rebuilt.merged.join(', ')}`);
  // A merge that is kept as it is has both parents to tell.
  if (rebuilt.tree === base.tree && mergedTree === null)
    return refuse(noChange(`${base.branch} already contains the whole patch.`));
  return { status: 'ok', change: { tree: rebuilt.tree, files: rebuilt.files, flags: publication.flags } };
}

function whyNotRebuilt(
  { publication, run }: PublishJob,
  base: Base,
  rebuilt: Exclude<Rebuilt, { status: 'ok' }>,
): RunOutcome {
  if (rebuilt.status === 'broken')
    return publishFailed('ERR_PATCH_BROKEN', sentence(`The patch cannot be trusted: ${rebuilt.message}`));
  publication.conflicts.push(...rebuilt.files);
  const named = rebuilt.files.map(({ path, why }) => `${path} (${why})`);
  return publishFailed(
    'ERR_PATCH_CONFLICT',
    `The patch does not fit onto ${base.branch} (${base.sha.slice(0, 8)}): ${listed(named, 10, 'file')}. Run the plan again on the current base. The patch is kept in ${run.directory.patch}.`,
  );
}

/** What the change has that must not be published; null if nothing. */
function whyWithheld(
  { settings, findKnown }: PublishJob,
  { reviewed, repositories }: Rebuilt & { status: 'ok' },
): Withheld | null {
  const secrets = reviewed.flatMap(({ path, textBefore, textAfter }): FoundSecret[] =>
    textAfter === null
      ? [{ path, line: 0, what: 'cannot be read' }]
      : addedSecrets({ path, before: textBefore ?? '', after: textAfter }, findKnown),
  );
  const isAccepted = pathMatcher(settings.acceptSecrets);
  return repositoriesReason(repositories) ?? withheldReason(secrets.filter(({ path }) => !isAccepted(path)));
}
