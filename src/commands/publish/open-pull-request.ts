/** The pull request of a change: opened, or updated. */

import { ownAccount } from '../../adapters/github/access.ts';
import { setMetadata } from '../../adapters/github/pull-request-metadata.ts';
import {
  findPullRequest,
  findPulls,
  openPullRequest,
  type PullRequest,
  reopenPullRequest,
  turnIntoDraft,
  updatePullRequest,
} from '../../adapters/github/pull-requests.ts';
import { markedPart, type TitledText, updatedText } from '../../domain/github/publishing/own-part.ts';
import { draftReasons, verificationOf } from '../../domain/github/publishing/policy.ts';
import { done, policyViolation, type RunOutcome } from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { sha256Of } from '../../files/hash.ts';
import { pullRequestText } from '../../texts/pull-request.ts';
import { type Base, type PublishJob, pullPlace } from './job.ts';
import type { Change } from './rebuild-run.ts';
import { explained } from './refusals.ts';

/** Earlier findings: reasons for a draft, and a pull request to reopen. */
export interface ReviewFacts {
  readonly unfinished: boolean;
  readonly protectedPaths: readonly string[];
  /** A pull request that was closed without being merged and has to be reopened, or null. */
  readonly closed: PullRequest | null;
}

/** Reports the pull request's number and address as soon as it exists, whatever happens to labels and reviewers. */
export async function openForReview(
  job: PublishJob,
  base: Base,
  change: Change & { sha: string },
  facts: ReviewFacts,
): Promise<RunOutcome> {
  const { branch, publication, settings, sayMade } = job;
  const { upstream, wanted } = pullPlace(job, base);
  const drafts = draftsOf(job, facts);
  const there =
    (await findPullRequest(upstream, wanted)) ?? (facts.closed && (await reopen(job, facts.closed)));
  const isDraft = there === null ? drafts.length > 0 : await keptDraft(job, there, drafts);
  const text = await textOf(job, base, change, { ...facts, drafts, isDraft });
  const { thing: pull, isNew } =
    there === null
      ? await openPullRequest(upstream, {
          ...wanted,
          ...text,
          draft: isDraft,
          maintainerCanModify: settings.maintainerCanModify,
        })
      : { thing: there, isNew: false };
  const tell = (operation: 'created' | 'updated' | 'none') => {
    const { number, html_url: url } = pull;
    const draft = there === null ? pull.draft === true : isDraft;
    const place = { number, url, branch, headSha: change.sha };
    publication.pullRequest = { ...place, operation, draft, draftReasons: drafts };
  };
  tell(isNew ? 'created' : publication.commit?.operation === 'none' ? 'none' : 'updated');
  if (!isNew && (await refreshed(job, pull, text))) tell('updated');
  if (pull.base.ref !== base.branch)
    publication.warnings.push(
      warning(
        'WARN_OTHER_BASE',
        `Pull request #${pull.number} targets ${pull.base.ref}, but the change was made for ${base.branch}; to publish it for ${pull.base.ref}, pass --base ${pull.base.ref}.`,
      ),
    );
  if (isNew && pull.user?.login === WORKFLOW_BOT) publication.warnings.push(NO_WORKFLOWS);
  const operation = OPERATIONS[publication.pullRequest?.operation ?? 'none'];
  const { number, html_url: url } = pull;
  sayMade(`pull request #${number} ${operation}: ${url}`);

  await withMetadata(job, upstream, pull);
  return done(`Pull request #${number} ${operation}: ${url}`);
}

/** Why its pull request should be a draft. */
export function draftsOf(
  { settings, result }: PublishJob,
  facts: Pick<ReviewFacts, 'unfinished' | 'protectedPaths'>,
): string[] {
  const verification = verificationOf(result);
  return draftReasons({ ...facts, setting: settings.draft, verification, wasDenied: result.deniedCount > 0 });
}

/** Open again, or null where GitHub does not permit it: then another one is opened. */
async function reopen({ upstream, sayMade }: PublishJob, pull: PullRequest): Promise<PullRequest | null> {
  if (!(await reopenPullRequest(upstream, pull))) return null;
  sayMade(`pull request #${pull.number} reopened: ${pull.html_url}`);
  return pull;
}

/** The same as `draftFirst`, for the pull requests that are open for this plan, or the one that will be reopened. */
export async function draftOpenFirst(
  job: PublishJob,
  base: Base,
  { protectedPaths, closed }: Pick<ReviewFacts, 'protectedPaths' | 'closed'>,
): Promise<RunOutcome | null> {
  if (protectedPaths.length === 0) return null;
  const { upstream, wanted } = pullPlace(job, base);
  const open = await findPulls(upstream, wanted, 'open');
  return draftFirst(job, open.length === 0 && closed !== null ? [closed] : open, protectedPaths);
}

/**
 * Makes all pull requests of a branch drafts before protected files reach it, from where they could be merged at once. Null if
 * that is done or not needed; otherwise the refusal.
 */
export async function draftFirst(
  job: PublishJob,
  pulls: readonly Pick<PullRequest, 'draft' | 'number' | 'node_id'>[],
  protectedPaths: readonly string[],
): Promise<RunOutcome | null> {
  if (protectedPaths.length === 0) return null;
  for (const pull of pulls) {
    const why = pull.draft === true ? null : await turnIntoDraft(job.upstream, pull);
    if (why !== null)
      return policyViolation(
        'ERR_PROTECTED_PATH',
        `The patch changes protected files, which are only published in a draft: ${listed(protectedPaths, 10, 'file')}. Pull request #${pull.number} is not a draft, and GitHub refused to convert it: ${why} Nothing was pushed. Convert it to a draft yourself, or accept the files with --accept-protected GLOB.`,
      );
  }
  return null;
}

/** Our part of its text. */
async function textOf(
  job: PublishJob,
  base: Base,
  { flags }: Change,
  {
    drafts,
    isDraft,
    unfinished,
  }: ReviewFacts & { readonly drafts: readonly string[]; readonly isDraft: boolean },
): Promise<TitledText> {
  const { publication, upstream, settings } = job;
  const { reportUrl, titlePrefix, title, bodyHeader, bodyFooter } = settings;
  const own = pullRequestText({
    isByWorkflow: (await ownAccount(upstream.github))?.login === WORKFLOW_BOT,
    ...job,
    base,
    merged: publication.merged,
    ...{ flags, drafts, isDraft, unfinished },
    ...{ reportUrl, titlePrefix, title, bodyHeader, bodyFooter },
  });
  return markedPart(own, job.marker, sha256Of);
}

/** Labels, reviewers and the like; what could not be set is a warning, since the pull request is there. */
async function withMetadata(
  { publication, settings }: PublishJob,
  upstream: PublishJob['upstream'],
  pull: PullRequest,
): Promise<void> {
  const problems = await setMetadata(upstream, pull, settings);
  const said = problems.map((one) => (typeof one === 'string' ? one : explained(one)));
  publication.warnings.push(...said.map((one) => warning('WARN_PULL_REQUEST_INCOMPLETE', one)));
}

/** Whether it ends as a draft. One that people turned into a draft stays one. */
export async function keptDraft(
  job: PublishJob,
  pull: Pick<PullRequest, 'draft' | 'number' | 'node_id'>,
  reasons: readonly string[],
): Promise<boolean> {
  if (pull.draft === true || reasons.length === 0) return pull.draft === true;
  const why = await turnIntoDraft(job.upstream, pull);
  if (why === null) return true;
  job.publication.warnings.push(
    warning(
      'WARN_NOT_A_DRAFT',
      `Pull request #${pull.number} is open for review, though it should be a draft: ${reasons.join(', and ')}. GitHub refused to convert it: ${why}`,
    ),
  );
  return false;
}

const WORKFLOW_BOT = 'github-actions[bot]';

const NO_WORKFLOWS = warning(
  'WARN_CHECKS_NOT_STARTED',
  'A pull request opened with GITHUB_TOKEN does not start workflows: close and reopen it to run its checks, or publish with a GitHub App token.',
);

const OPERATIONS = {
  created: 'opened',
  updated: 'updated',
  closed: 'closed',
  none: 'is up to date',
} as const;

/**
 * Text that people wrote around patchsmith's part and a title that they changed stay. A text without that part is not changed.
 */
async function refreshed(job: PublishJob, pull: PullRequest, text: TitledText): Promise<boolean> {
  const { marker, publication } = job;
  const there = { title: pull.title, body: (pull.body ?? '').replaceAll('\r\n', '\n') };
  const updated = updatedText(there, text, { marker, sha256: sha256Of });
  if (updated.status !== 'ok') {
    publication.warnings.push(
      warning(
        'WARN_TEXT_LEFT',
        `The text of pull request #${pull.number} is left unchanged: ${KEPT[updated.status]}.`,
      ),
    );
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
