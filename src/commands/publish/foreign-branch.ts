/** A plan's branch with commits of others, or whose pull request people closed: found before a run is paid for. */

import { type CommitsSince, commitsSince, findHead } from '../../adapters/github/branch.ts';
import { putComment } from '../../adapters/github/issues.ts';
import { findPullRequest } from '../../adapters/github/pull-requests.ts';
import { branchOf, markerOf, planId, type RunPlan } from '../../domain/github/publishing/identity.ts';
import { publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { refusedResult } from '../../engine/finish/result.ts';
import { sha256Of } from '../../files/hash.ts';
import { makeTemporaryFolder } from '../../files/temporary.ts';
import { commentText } from '../../texts/issue-comment.ts';
import { findClosed } from './closing.ts';
import { forReaders } from './issue/input-words.ts';
import { cleanMergeIn, cloneFor, type PublishJob, pullPlace, readRepository } from './job.ts';
import { ended, type PublishPlace } from './place.ts';

/** The target of a run. */
export interface BranchWork {
  /** `sha256` matters only for a plan that came from no file and no issue. */
  readonly plan: Pick<RunPlan, 'source' | 'title' | 'sha256'>;
  /** The branch that it begins on; null where that is the default branch. */
  readonly base: string | null;
  /** The caller reports it on the issue. */
  readonly hasIssue: boolean;
}

/** In words for the maintainer. */
export function foreignReason(branch: string, { sha, author }: NonNullable<CommitsSince['foreign']>): string {
  return `The branch ${branch} has commits by others (${sha.slice(0, 8)} by ${author}), which are not overwritten. To build on them, comment /patchsmith and what to do on its pull request (--continue); otherwise merge or delete the branch, or choose another one with --branch.`;
}

/** Exit 11 if publishing would be refused for that, else null. Commits of others are reported once, on their pull request. */
export async function foreignObstacle(place: PublishPlace, work: BranchWork): Promise<RunOutcome | null> {
  // With a suffix each run has its own branch.
  if (place.settings.branchSuffix !== 'none') return null;
  return ended(place, () => lookAtBranch(place, work));
}

async function lookAtBranch(
  place: PublishPlace,
  { plan, base: begun, hasIssue }: BranchWork,
): Promise<RunOutcome | null> {
  const { settings, repository, upstream, fork, version, env } = place;
  const { source, title, sha256 } = plan;
  const full: RunPlan = { source, title, sha256, allow: [], protect: [] };
  const id = planId(full, repository, sha256Of);
  const branch = settings.branch ?? branchOf(full, id);
  const { default_branch, full_name } = await readRepository(upstream);
  const base = settings.base ?? begun ?? default_branch;
  const pull = pullPlace({ upstream, fork, branch }, { repository: full_name, branch: base });
  const closed = await findClosed(pull, markerOf(id), settings.reopen);
  if (closed.status === 'refused') return closed.outcome;
  const head = await findHead(fork, branch);
  if (head === null) return null;
  const baseSha = await findHead(upstream, base);
  if (baseSha === null) return null;
  const scratch = makeTemporaryFolder(env);
  try {
    const cleanMerge = cleanMergeIn(cloneFor({ ...place, scratch: scratch.path }, full_name), upstream);
    const { foreign } = await commitsSince(upstream, { baseSha, head, cleanMerge });
    if (foreign === null) return null;
    const outcome = publishFailed('ERR_COMMITS_OF_OTHERS', foreignReason(branch, foreign));
    if (!hasIssue) {
      const result = { ...refusedResult(outcome, version), runId: 'none yet' };
      await sayOnPull({ ...place, base, branch, result, marker: markerOf(id) }, outcome);
    }
    return outcome;
  } finally {
    scratch.remove();
  }
}

/** Where the branch belongs, and whose work it was to have. */
interface BranchOfWork extends PublishPlace, Pick<PublishJob, 'branch' | 'result' | 'marker'> {
  readonly base: string;
}

/** One comment, if the branch has a pull request; its words are replaced when they change. */
export async function sayOnPull(work: BranchOfWork, outcome: RunOutcome): Promise<void> {
  const { upstream, fork, settings, base, branch, marker } = work;
  if (settings.comment === 'never') return;
  const pull = await findPullRequest(upstream, { base, branch, headOwner: fork.owner, headRepo: fork.repo });
  if (pull === null) return;
  const body = commentText({ ...forReaders(work, outcome), ...UNPUBLISHED, marker });
  await putComment(upstream, { issue: pull.number, marker, body });
}

const UNPUBLISHED = { pullRequest: null, conflicts: [], warnings: [] };
