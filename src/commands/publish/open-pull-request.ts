/** The pull request of a change: opened, or updated. */

import { setMetadata } from '../../adapters/github/pull-request-metadata.ts';
import {
  findPullRequest,
  openPullRequest,
  type PullRequest,
  type PullRequestText,
  turnIntoDraft,
  updatePullRequest,
} from '../../adapters/github/pull-requests.ts';
import { draftReasons, verificationOf } from '../../domain/github/publishing/policy.ts';
import { done, publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { pullRequestText } from '../../texts/pull-request.ts';
import type { Base } from './base.ts';
import { fixFor, refusalSentence } from './explain-refusal.ts';
import { named, type PublishJob } from './job.ts';
import type { Change } from './rebuild-run.ts';

/** Reasons for which a pull request has to be a draft. */
export interface DraftCauses {
  readonly unfinished: boolean;
  readonly protectedPaths: readonly string[];
}

/** Reports the pull request's number and address as soon as it exists, whatever happens to labels and reviewers. */
export async function openForReview(
  job: PublishJob,
  base: Base,
  change: Change & { sha: string },
  facts: DraftCauses,
): Promise<RunOutcome> {
  const { branch, told, settings, sayMade } = job;
  // Pull requests are found by today's names, which is what they contain.
  const upstream = named(job.upstream.github, base.repository);
  const fork = job.fork === job.upstream ? upstream : job.fork;
  const drafts = draftReasons({
    ...facts,
    setting: settings.draft,
    verification: verificationOf(job.result),
    wasDenied: job.result.deniedCount > 0,
  });
  const wanted = { base: base.branch, branch, headOwner: fork.owner, headRepo: fork.repo };
  const there = await findPullRequest(upstream, wanted);
  const isDraft = there === null ? drafts.length > 0 : await keptDraft(job, there, drafts);
  const text = pullRequestText({
    ...job,
    base,
    merged: told.merged,
    flags: change.flags,
    drafts,
    isDraft,
    unfinished: facts.unfinished,
    titlePrefix: settings.titlePrefix,
  });
  const { pull, isNew } =
    there === null
      ? await openPullRequest(upstream, { ...wanted, ...text, draft: isDraft })
      : { pull: there, isNew: false };
  const tell = (operation: 'created' | 'updated' | 'none') => {
    const { number, html_url: url } = pull;
    const draft = there === null ? pull.draft === true : isDraft;
    told.pullRequest = { number, url, operation, branch, headSha: change.sha, draft, draftReasons: drafts };
  };
  tell(isNew ? 'created' : told.commit?.operation === 'none' ? 'none' : 'updated');
  if (!isNew && (await refreshed(job, pull, text))) tell('updated');
  if (pull.base.ref !== base.branch)
    told.warnings.push(
      `Pull request #${pull.number} goes into ${pull.base.ref}, while the change was made for ${base.branch}; to publish it for that branch say --base ${pull.base.ref}.`,
    );
  if (isNew && pull.user?.login === 'github-actions[bot]') told.warnings.push(NO_WORKFLOWS);
  const operation = OPERATIONS[told.pullRequest?.operation ?? 'none'];
  sayMade(`pull request #${pull.number} ${operation}: ${pull.html_url}`);

  const problems = await setMetadata(upstream, pull, settings);
  const said = problems.map((one) =>
    typeof one === 'string' ? one : `${refusalSentence(one)} ${fixFor(one, { workflows: [] })}`.trim(),
  );
  told.warnings.push(...said);
  return said.length === 0
    ? done(`Pull request #${pull.number} ${operation}: ${pull.html_url}`)
    : publishFailed(
        `Pull request #${pull.number} is there (${pull.html_url}), but not as asked for: ${said.join('; ')}`,
      );
}

/** Whether it is a draft in the end. One that people turned into a draft stays one. */
async function keptDraft(job: PublishJob, pull: PullRequest, reasons: readonly string[]): Promise<boolean> {
  if (pull.draft === true || reasons.length === 0) return pull.draft === true;
  const why = await turnIntoDraft(job.upstream, pull);
  if (why === null) return true;
  job.told.warnings.push(
    `Pull request #${pull.number} is open for review, though it should be a draft: ${reasons.join(', and ')}. GitHub does not let it be turned into one: ${why}`,
  );
  return false;
}

const NO_WORKFLOWS =
  'A pull request opened with GITHUB_TOKEN does not start workflows: close and reopen it to run its checks, or publish with a GitHub App token.';

const OPERATIONS = { created: 'opened', updated: 'updated', none: 'is up to date' } as const;

/** A pull request that someone else opened from this branch keeps its own text. */
async function refreshed(job: PublishJob, pull: PullRequest, text: PullRequestText): Promise<boolean> {
  const body = (pull.body ?? '').replaceAll('\r\n', '\n');
  if (!body.includes(job.marker)) {
    job.told.warnings.push(
      `The text of pull request #${pull.number} is left unchanged because others have edited it.`,
    );
    return false;
  }
  if (pull.title === text.title && body === text.body) return false;
  await updatePullRequest(job.upstream, pull, text);
  return true;
}
