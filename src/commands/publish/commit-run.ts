/** The branch with the change. It only ever moves forward, and never over someone else's commit. */

import { type BranchState, findHead, judgeBranch } from '../../adapters/github/branch.ts';
import type { Clone } from '../../adapters/github/clone.ts';
import { findPullRequest, type PullRequest } from '../../adapters/github/pull-requests.ts';
import type { CodeFor } from '../../domain/errors/registry.ts';
import { isMadeFor, isOfAnotherRequest } from '../../domain/github/publishing/commit-message.ts';
import { requestOf } from '../../domain/github/publishing/identity.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { type Base, pullPlace } from './base.ts';
import { foreignReason, sayOnPull } from './foreign-branch.ts';
import { cleanMergeIn, type PublishJob, type Refused } from './job.ts';
import { makeCommit } from './make-commit.ts';

/** Others may move the branch at the same time; everything is then read again. */
const TRIES = 3;

/** Commits a tree, which the clone has, on its branch. If someone else moves it in the meantime, it retries a few times. */
export async function commitRun(
  job: PublishJob,
  base: Base,
  { clone, tree }: { readonly clone: Clone; readonly tree: string },
): Promise<Refused | { status: 'ok'; sha: string }> {
  const { fork, upstream, branch, result, publication, sayMade } = job;
  const request = result.plan === null ? null : requestOf(result.plan);
  const cleanMerge = cleanMergeIn(clone, upstream);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const head = await findHead(fork, branch);
    const state: BranchState =
      head === null
        ? { whose: 'nobody' }
        : await judgeBranch({ base: upstream, baseSha: base.sha, head, cleanMerge });
    const notOver = await whyNotOver(job, state, { base, tree, request });
    if (notOver !== null) return notOver;
    if (state.whose === 'ours' && state.tree === tree && state.behind === 0) {
      publication.commit = { sha: state.head, tree, operation: 'none', verified: null };
      sayMade(`${branch} has this change already`);
      return { status: 'ok', sha: state.head };
    }
    const parents = parentsOf(state, base.sha);
    if (!(await clone.fetch(parents))) continue;
    const made = await makeCommit(job, clone, { tree, parents, branch, head, base: base.branch, request });
    if (made.status === 'refused') return made;
    if (made.status === 'made') return { status: 'ok', sha: made.sha };
  }
  return refuse(
    'ERR_PULL_REQUEST_MOVED',
    `The branch ${branch} was updated by others ${TRIES} times in a row. Publish again.`,
  );
}

function refuse(code: CodeFor<'publish_failed'>, reason: string): Refused {
  return { status: 'refused', outcome: publishFailed(code, reason) };
}

/** Why this change must not come onto the branch as it is; null when it may. */
async function whyNotOver(
  job: PublishJob,
  state: BranchState,
  { base, tree, request }: { base: Base; tree: string; request: string | null },
): Promise<Refused | null> {
  const { branch } = job;
  const kept = `The patch is kept in ${job.run.directory.patch}.`;
  if (state.whose === 'foreign') {
    const reason = foreignReason(branch, state);
    const foreign = publishFailed('ERR_COMMITS_OF_OTHERS', reason);
    if (job.askedIn === null) await sayOnPull({ ...job, base: base.branch }, foreign);
    return refuse('ERR_COMMITS_OF_OTHERS', `${reason} ${kept}`);
  }
  if (state.whose !== 'ours' || state.origin === null) return null;
  const other = isMadeFor(state.origin, base.branch) ? null : await pullOfOtherBase(job, base);
  if (other !== null)
    return refuse(
      'ERR_BRANCH_OF_OTHER_WORK',
      `The branch ${branch} is that of pull request #${other.number} into ${other.base.ref}, which work for ${base.branch} would change. Choose another branch for ${base.branch} with --branch. ${kept}`,
    );
  if (state.tree === tree || !isOfAnotherRequest(state.origin, request)) return null;
  return refuse(
    'ERR_BRANCH_OF_OTHER_WORK',
    `The branch ${branch} has the work of another request (${state.origin.request ?? 'one that it does not name'}, run ${state.origin.runId}), which this run did not build on: it would be replaced. Run it again with --continue and the number of its pull request (in a workflow, continue: auto) to build on it; or merge it first, or delete the branch to keep only this work. ${kept}`,
  );
}

/** The open pull request from the branch, if there is none into this base. */
async function pullOfOtherBase(job: PublishJob, base: Base): Promise<PullRequest | null> {
  const { upstream, wanted } = pullPlace(job, base);
  const pull = await findPullRequest(upstream, wanted);
  return pull === null || pull.base.ref === base.branch ? null : pull;
}

/** The commits of the branch stay in its history; a base that has moved is merged in. */
function parentsOf(state: BranchState, base: string): string[] {
  if (state.whose !== 'ours' || state.ahead === 0) return [base];
  return state.behind === 0 ? [state.head] : [state.head, base];
}
