/** The branch with the change. It only ever moves forward, and never over someone else's commit. */

import { type BranchState, judgeBranch } from '../../adapters/github/branch.ts';
import { findHead } from '../../adapters/github/committers/api.ts';
import { findPullRequest, type PullRequest } from '../../adapters/github/pull-requests.ts';
import type { CodeFor } from '../../domain/errors/registry.ts';
import { changeTitle } from '../../domain/github/publishing/change-title.ts';
import {
  commitMessage,
  isMadeFor,
  isOfAnotherRequest,
} from '../../domain/github/publishing/commit-message.ts';
import { requestOf } from '../../domain/github/publishing/identity.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import type { Base } from './base.ts';
import { committerFor, commitWishes } from './committer-for.ts';
import { fixFor, workflowsAmong } from './explain-refusal.ts';
import { cleanMergeOn } from './follow-up/clean-merge.ts';
import { foreignReason, sayOnPull } from './foreign-branch.ts';
import { type PublishJob, type Refused, repositoryNamed } from './job.ts';
import type { Change } from './rebuild-run.ts';

/** Others may move the branch at the same time; everything is then read again. */
const TRIES = 3;

/** Commits the change on its branch. If someone else moves the branch in the meantime, it retries a few times. */
export async function commitRun(
  job: PublishJob,
  base: Base,
  { tree, files }: Change,
): Promise<Refused | { status: 'ok'; sha: string }> {
  const { fork, upstream, branch, result, publication, sayMade } = job;
  const { message, trailers, author, committer: by } = await commitWishes(job);
  const request = result.plan === null ? null : requestOf(result.plan);
  const facts = { runId: result.runId, tree, base: base.branch, request };
  const cleanMerge = cleanMergeOn(job);
  const committer = await committerFor(job);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const head = await findHead(fork, branch);
    const state: BranchState =
      head === null
        ? { whose: 'nobody' }
        : await judgeBranch({ base: upstream, baseSha: base.sha, fork, head, cleanMerge });
    const notOver = await whyNotOver(job, state, { base, tree, request });
    if (notOver !== null) return notOver;
    if (state.whose === 'ours' && state.tree === tree && state.behind === 0) {
      publication.commit = { sha: state.head, tree, operation: 'none', verified: null };
      sayMade(`${branch} has this change already`);
      return { status: 'ok', sha: state.head };
    }
    const made = await committer.commit({
      tree,
      baseCommit: base.sha,
      baseTree: base.tree,
      files,
      message: commitMessage(changeTitle(result), facts, { message, trailers }),
      author,
      committer: by,
      parents: parentsOf(state, base.sha),
      branch,
      head,
    });
    if (made.status === 'failed') return notMade(job, made.message);
    if (made.status === 'moved') continue;
    const operation = head === null ? 'created' : 'updated';
    publication.commit = { sha: made.sha, tree, operation, verified: made.verified };
    sayMade(`${branch} ${operation}: ${made.sha.slice(0, 8)}`);
    return { status: 'ok', sha: made.sha };
  }
  return refuse(
    'ERR_PULL_REQUEST_MOVED',
    `The branch ${branch} was updated by others ${TRIES} times in a row. Publish again.`,
  );
}

function notMade({ result, run }: PublishJob, message: string): Refused {
  const fix = fixOfPush(message, result);
  return refuse(
    'ERR_COMMIT_NOT_MADE',
    `${sentence(message)} ${fix}The patch is kept in ${run.directory.patch}.`,
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
async function pullOfOtherBase(
  { upstream, fork, branch }: PublishJob,
  base: Base,
): Promise<PullRequest | null> {
  const today = repositoryNamed(upstream.github, base.repository);
  const { owner, repo } = fork === upstream ? today : fork;
  const pull = await findPullRequest(today, { base: base.branch, branch, headOwner: owner, headRepo: repo });
  return pull === null || pull.base.ref === base.branch ? null : pull;
}

/** A refused push is only described in words; the missing permissions are the same as with the API. */
function fixOfPush(message: string, { changedFiles }: PublishJob['result']): string {
  const route = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';
  const status = /workflow|permission|denied|\b40[134]\b/i.test(message) ? 403 : 422;
  const refusal = { route, status, message, permission: null, requestId: null };
  const isAboutWorkflows = /workflow/i.test(message);
  const fix = fixFor(refusal, { workflows: isAboutWorkflows ? workflowsAmong(changedFiles) : [] });
  return fix === '' ? '' : `${fix} `;
}

/** The commits of the branch stay in its history; a base that has moved is merged in. */
function parentsOf(state: BranchState, base: string): string[] {
  if (state.whose !== 'ours' || state.ahead === 0) return [base];
  return state.behind === 0 ? [state.head] : [state.head, base];
}
