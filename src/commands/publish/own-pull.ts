/** The pull request of a plan, from a branch of its own: opened, updated or reopened. */

import { ownAccount } from '../../adapters/github/access.ts';
import { setMetadata } from '../../adapters/github/pull-request-metadata.ts';
import {
  findPullRequest,
  openPullRequest,
  type PullRequest,
  reopenPullRequest,
  updatePullRequest,
} from '../../adapters/github/pull-requests.ts';
import { isMadeFor, isOfAnotherRequest } from '../../domain/github/publishing/commit-message.ts';
import { requestOf } from '../../domain/github/publishing/identity.ts';
import { markedPart, type TitledText, updatedText } from '../../domain/github/publishing/pull-text.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { sha256Of } from '../../files/hash.ts';
import { pullRequestText } from '../../texts/pull-request.ts';
import type { ChangeFacts, Ground, PullOfChange } from './change.ts';
import type { PublishJob } from './job.ts';
import { stop } from './place.ts';
import { findClosed, lookAtBranch, type PlanBranch } from './plan-branch.ts';
import { explained } from './refusals.ts';

/** The branch of the plan, and its pull request as it is to be. */
export async function lookAtOwnPull(job: PublishJob): Promise<Ground> {
  const { plan, result } = job;
  const began = result.baseBranch;
  const found = await lookAtBranch({ ...job, began, hasIssue: job.askedIn !== null });
  const { base, place, clone, head, since } = found;
  const { baseSha } = result;
  if (baseSha === null || !(await clone.fetch([base.sha, baseSha])))
    return stop(publishFailed('ERR_PATCH_CONFLICT', NOT_PUSHED));
  const [{ tree: now }, { tree: then }] = [await clone.commit(base.sha), await clone.commit(baseSha)];
  return {
    ...found,
    trees: { began: then, now, name: `${base.branch} (${base.sha.slice(0, 8)})`, mayBeThere: false },
    rules: [],
    request: requestOf(plan),
    async parents(tree) {
      if (head === null || since === null) return [base.sha];
      await refuseOtherWork(job, found, tree);
      if (since.tree === tree && since.behind === 0) return null;
      // The commits of the branch stay in its history; a base that has moved is merged in.
      if (since.ahead === 0) return [base.sha];
      return since.behind === 0 ? [head] : [head, base.sha];
    },
    async findOrOpen(facts) {
      // People may have closed it since.
      const there =
        (await findPullRequest(place.upstream, place.wanted)) ??
        (await reopened(job, await findClosed(place, job.marker, job.settings.reopen)));
      if (there !== null) return { thing: there, isNew: false };
      return openPullRequest(place.upstream, {
        ...place.wanted,
        ...(await textOf(job, found, facts)),
        draft: facts.isDraft,
        maintainerCanModify: job.settings.maintainerCanModify,
      });
    },
    update: async (pull, facts) => refresh(job, pull, await textOf(job, found, facts)),
    finish: (pull, _sha, isNew) => finish(job, found, pull as PullRequest, isNew),
  };
}

const NOT_PUSHED =
  'GitHub does not have the commit that the run began with, so that its patch cannot be checked there. Push that commit, and publish again.';

/** Stops where this change must not come onto the branch as it is. */
async function refuseOtherWork(
  { branch, plan }: PublishJob,
  { base, place, since }: PlanBranch,
  tree: string,
): Promise<void> {
  const origin = since?.origins.at(-1);
  if (origin === undefined) return;
  const wrong = (reason: string) => stop(publishFailed('ERR_BRANCH_OF_OTHER_WORK', reason));
  const pull = isMadeFor(origin, base.branch) ? null : await findPullRequest(place.upstream, place.wanted);
  if (pull !== null && pull.base.ref !== base.branch)
    wrong(
      `The branch ${branch} is that of pull request #${pull.number} into ${pull.base.ref}, which work for ${base.branch} would change. Choose another branch for ${base.branch} with --branch.`,
    );
  if (since?.tree !== tree && isOfAnotherRequest(origin, requestOf(plan)))
    wrong(
      `The branch ${branch} has the work of another request (${origin.request ?? 'one that it does not name'}, run ${origin.runId}), which this run did not build on: it would be replaced. Run it again with --continue and the number of its pull request (in a workflow, continue: auto) to build on it; or merge it first, or delete the branch to keep only this work.`,
    );
}

/** Open again, or null where GitHub does not permit it: then another one is opened. */
async function reopened({ upstream, sayMade }: PublishJob, pull: PullRequest | null) {
  if (pull === null || !(await reopenPullRequest(upstream, pull))) return null;
  sayMade(`pull request #${pull.number} reopened: ${pull.html_url}`);
  return pull;
}

/** Our part of its text. */
async function textOf(job: PublishJob, { base }: PlanBranch, facts: ChangeFacts): Promise<TitledText> {
  const { merged, flags } = job.publication;
  const isByWorkflow = (await ownAccount(job.upstream.github))?.login === WORKFLOW_BOT;
  const own = pullRequestText({ ...job, ...facts, base, merged, flags, isByWorkflow });
  return markedPart(own, job.marker, sha256Of);
}

const WORKFLOW_BOT = 'github-actions[bot]';

/** Text that people wrote around patchsmith's part and a title that they changed stay. A text without that part is not changed. */
async function refresh(job: PublishJob, pull: PullOfChange, text: TitledText): Promise<boolean> {
  const { marker, publication } = job;
  const there = { title: pull.title, body: (pull.body ?? '').replaceAll('\r\n', '\n') };
  const updated = updatedText(there, text, { marker, sha256: sha256Of });
  if (updated.status !== 'ok') {
    const reason = `The text of pull request #${pull.number} is left unchanged: ${KEPT[updated.status]}.`;
    publication.warnings.push(warning('WARN_TEXT_LEFT', reason));
    return false;
  }
  const { title, body } = updated.text;
  if (there.title === title && there.body === body) return false;
  await updatePullRequest(job.upstream, pull, updated.text);
  return true;
}

const KEPT = {
  gone: "people wrote it, or removed the markers around patchsmith's part",
  full: "together with the account of this run it would exceed GitHub's limit of 65,536 characters",
} as const;

/** Labels, reviewers and the like; what could not be set is a warning, since the pull request is there. */
async function finish(
  { publication, settings }: PublishJob,
  { base, place }: PlanBranch,
  pull: PullRequest,
  isNew: boolean,
): Promise<void> {
  const { number, base: into } = pull;
  if (into.ref !== base.branch)
    publication.warnings.push(
      warning(
        'WARN_OTHER_BASE',
        `Pull request #${number} targets ${into.ref}, but the change was made for ${base.branch}; to publish it for ${into.ref}, pass --base ${into.ref}.`,
      ),
    );
  if (isNew && pull.user?.login === WORKFLOW_BOT)
    publication.warnings.push(
      warning(
        'WARN_CHECKS_NOT_STARTED',
        'A pull request opened with GITHUB_TOKEN does not start workflows: close and reopen it to run its checks, or publish with a GitHub App token.',
      ),
    );
  const problems = await setMetadata(place.upstream, pull, settings);
  const said = problems.map((one) => (typeof one === 'string' ? one : explained(one)));
  publication.warnings.push(...said.map((one) => warning('WARN_PULL_REQUEST_INCOMPLETE', one)));
}
