/** The branch with the change. It only ever moves forward, and never over someone else's commit. */

import { type CommitsSince, commitsSince, findHead } from '../../adapters/github/branch.ts';
import type { Clone } from '../../adapters/github/clone.ts';
import { findPullRequest, type PullRequest } from '../../adapters/github/pull-requests.ts';
import { makeSignedCommit } from '../../adapters/github/signed-commit.ts';
import {
  commitMessage,
  isMadeFor,
  isOfAnotherRequest,
  planTrailer,
} from '../../domain/github/publishing/commit-message.ts';
import { costTrailer } from '../../domain/github/publishing/costs.ts';
import { requestOf } from '../../domain/github/publishing/identity.ts';
import { changeSubject } from '../../domain/github/publishing/plain-text.ts';
import { publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import type { CommitOrder, Person } from '../../ports/github.ts';
import { accountOf, rulesObstacle } from './branch-rules.ts';
import { foreignReason, sayOnPull } from './foreign-branch.ts';
import { type Base, cleanMergeIn, type PublishJob, pullPlace, type Refused, refuse } from './job.ts';

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
    const since =
      head === null ? null : await commitsSince(upstream, { baseSha: base.sha, head, cleanMerge });
    const notOver = await whyNotOver(job, since, { base, tree, request });
    if (notOver !== null) return refuse(notOver);
    if (head !== null && since?.tree === tree && since.behind === 0) {
      publication.commit = { sha: head, tree, operation: 'none', verified: null };
      sayMade(`${branch} has this change already`);
      return { status: 'ok', sha: head };
    }
    // The commits of the branch stay in its history; a base that has moved is merged in.
    const parents =
      head === null || since?.ahead === 0 ? [base.sha] : since?.behind === 0 ? [head] : [head, base.sha];
    if (!(await clone.fetch(parents))) continue;
    const made = await makeCommit(job, clone, { tree, parents, branch, head, base: base.branch, request });
    if (made.status === 'refused') return made;
    if (made.status === 'made') return { status: 'ok', sha: made.sha };
  }
  return refuse(
    publishFailed(
      'ERR_PULL_REQUEST_MOVED',
      `The branch ${branch} was updated by others ${TRIES} times in a row. Publish again.`,
    ),
  );
}

/** Why this change must not come onto the branch as it is; null when it may. */
async function whyNotOver(
  job: PublishJob,
  since: CommitsSince | null,
  { base, tree, request }: { base: Base; tree: string; request: string | null },
): Promise<RunOutcome | null> {
  const { branch } = job;
  const foreign = since?.foreign ?? null;
  if (foreign !== null) {
    const outcome = publishFailed('ERR_COMMITS_OF_OTHERS', foreignReason(branch, foreign));
    if (job.askedIn === null) await sayOnPull({ ...job, base: base.branch }, outcome);
    return outcome;
  }
  const origin = since?.origins.at(-1);
  if (origin === undefined) return null;
  const other = isMadeFor(origin, base.branch) ? null : await pullOfOtherBase(job, base);
  if (other !== null)
    return publishFailed(
      'ERR_BRANCH_OF_OTHER_WORK',
      `The branch ${branch} is that of pull request #${other.number} into ${other.base.ref}, which work for ${base.branch} would change. Choose another branch for ${base.branch} with --branch.`,
    );
  if (since?.tree === tree || !isOfAnotherRequest(origin, request)) return null;
  return publishFailed(
    'ERR_BRANCH_OF_OTHER_WORK',
    `The branch ${branch} has the work of another request (${origin.request ?? 'one that it does not name'}, run ${origin.runId}), which this run did not build on: it would be replaced. Run it again with --continue and the number of its pull request (in a workflow, continue: auto) to build on it; or merge it first, or delete the branch to keep only this work.`,
  );
}

/** The open pull request from the branch, if there is none into this base. */
async function pullOfOtherBase(job: PublishJob, base: Base): Promise<PullRequest | null> {
  const { upstream, wanted } = pullPlace(job, base);
  const pull = await findPullRequest(upstream, wanted);
  return pull === null || pull.base.ref === base.branch ? null : pull;
}

/** The commit to make; `base` and `request` are stated in its message. */
export interface CommitToMake extends Pick<CommitOrder, 'tree' | 'parents' | 'branch' | 'head'> {
  readonly base: string;
  readonly request: string | null;
}

/** `moved`: someone else moved the branch in the meantime, and nothing was overwritten. */
export type CommitMade = Refused | { status: 'made'; sha: string } | { status: 'moved' };

/** Makes the commit and moves the branch to it, which is reported in the publication. Throws `GitHubRefused`. */
export async function makeCommit(job: PublishJob, clone: Clone, wanted: CommitToMake): Promise<CommitMade> {
  const { settings, fork, result, publication, say, sayMade } = job;
  const { base, request, ...order } = wanted;
  const { author, committer, trailers } = await peopleOf(job);
  const facts = { runId: result.runId, tree: order.tree, base, request };
  const message = commitMessage(changeSubject(result), facts, {
    message: settings.commitMessage,
    trailers: [...planTrailer(result.plan?.title), ...costTrailer(result), ...trailers],
  });
  const { branch, parents, head } = order;
  const ahead = { branch, message, isNew: head === null, isMerge: parents.length > 1 };
  const obstacle = await rulesObstacle(fork, settings, ahead);
  if (obstacle !== null) return refuse(obstacle);
  const tell = (sha: string, verified: boolean | null): CommitMade => {
    const operation = order.head === null ? 'created' : 'updated';
    publication.commit = { sha, tree: order.tree, operation, verified };
    sayMade(`${order.branch} ${operation}: ${sha.slice(0, 8)}`);
    return { status: 'made', sha };
  };
  const push = (sha: string, ref: string) => {
    if (!settings.dryRun) return clone.push(sha, ref);
    say(`would git push ${clone.url} ${sha}:${ref}`);
    return Promise.resolve(true);
  };
  if (settings.sign === 'required') {
    const made = await makeSignedCommit(fork, clone, { ...order, message, author, committer }, push);
    if (made.status === 'made') return tell(made.sha, true);
    if (made.status === 'moved') return made;
    return refuse(publishFailed('ERR_COMMIT_NOT_MADE', sentence(made.message)));
  }
  const by = author ?? (await accountOf(fork));
  const sha = await clone.makeCommit({ ...order, message, author: by, committer: committer ?? by });
  if (!(await push(sha, `refs/heads/${order.branch}`))) return { status: 'moved' };
  return tell(sha, null);
}

async function peopleOf({ fork, settings }: PublishJob) {
  const { author, committer, signoff, coAuthors } = settings;
  const line = ({ name, email }: Person) => `${name} <${email}>`;
  // As `git commit --signoff` does it: by the committer, who is the author where none is named.
  const signer = signoff ? (committer ?? author ?? (await accountOf(fork))) : null;
  const trailers = [
    ...coAuthors.map((person) => `Co-authored-by: ${line(person)}`),
    ...(signer === null ? [] : [`Signed-off-by: ${line(signer)}`]),
  ];
  return { author, committer, trailers };
}
