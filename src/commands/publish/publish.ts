/**
 * `patchsmith publish`: takes a finished run to GitHub, without a model or a checkout, and without executing anything from
 * the repository. Every step finds what an earlier publication of the same plan has made.
 */

import { askedIn } from '../../domain/github/publishing/identity.ts';
import { overCaps, publishable } from '../../domain/github/publishing/policy.ts';
import { conclude, type PublicationSoFar } from '../../domain/github/publishing/publication.ts';
import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { RunResult } from '../../domain/run/result.ts';
import { type Redact, redactedStrings } from '../../domain/secrets/redact.ts';
import type { FindKnown } from '../../domain/secrets/secret-scan.ts';
import { jsonDocument } from '../../domain/text/terminal.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { refusedResult } from '../../engine/finish/empty-result.ts';
import { makeTemporaryFolder, writeDocument } from '../../files/replace-file.ts';
import { publishChange } from './change.ts';
import { commentOnIssue, explainedOnIssue, labelIssue, readIssueOfWork } from './issue/issue-of-work.ts';
import { jobOf, type PublishJob } from './job.ts';
import { lookAtOwnPull } from './own-pull.ts';
import { ended, obstacleIn, openPlace, type PlaceGiven, stop } from './place.ts';
import { settleStale } from './plan-branch.ts';
import { readRun } from './read-run.ts';
import { workflowsAmong } from './refusals.ts';

/** Which run to publish, where to, and as whom. */
export interface PublishRequest extends PlaceGiven {
  /** A run directory or the id of a run. */
  readonly run: string;
  readonly cwd: string;
  readonly redact: Redact;
  /** Finds the secrets of this process, including the token. */
  readonly findKnown: FindKnown;
}

/** Everything published is reported, whatever happened later. */
export async function publishRun(input: PublishRequest): Promise<PublicationSoFar> {
  const opened = await openPlace(input);
  const { publication, settings } = opened;
  const { env } = opened;
  const read = await readRun(input.run, { cwd: input.cwd, env });
  if (read.status === 'failed') {
    const end = usageError('ERR_RUN_UNTRUSTED', read.message);
    const { directory } = read;
    // Its path on this machine means nothing to readers of the issue.
    const reason = directory === null ? NO_RESULT : read.message.replaceAll(`${directory.path}/`, '');
    const refused = refusedResult({ ...end, reason }, input.version);
    const result = { ...refused, runId: directory === null ? '' : 'unknown' };
    return explainedOnIssue(opened, { end, result });
  }
  const { run } = read;
  publication.runId = run.result.runId;
  const result = RunResult.parse(redactedStrings(run.result, input.redact));
  const { plan } = run.result;
  const workflows = workflowsAmong(result.changedFiles);
  const place = { ...opened, workflows, patchFile: run.directory.patch };
  if (plan === null) return explainedOnIssue(place, { end: endBeforePlan(result), result });
  const folder = makeTemporaryFolder(env);
  try {
    const issue = await ended(place, () => readIssueOfWork(place));
    if (issue !== null && 'name' in issue) return conclude(publication, issue);
    const { findKnown, redact } = input;
    const job = jobOf({ ...place, run, result, plan, findKnown, redact, scratch: folder.path }, issue);
    const end = withPatchNamed(job, await ended(job, () => publish(job)));
    const unheard = await obstacleIn(job, () => commentOnIssue(job, end));
    const both = bothOf(publication, end, unheard);
    await labelIssue(job, both.exitCode === 0 ? 'done' : 'failed');
    conclude(publication, both);
    if (settings.dryRun && publication.outcome === 'done') publication.reason = DRY_RUN;
  } finally {
    folder.remove();
  }
  const document = jsonDocument(publication, input.redact);
  const unwritten = writeDocument(run.directory.publication, document);
  if (unwritten !== null) publication.warnings.push(warning('WARN_DOCUMENT_UNWRITTEN', unwritten));
  return publication;
}

/** What could not be published is there for another try, or for people. */
function withPatchNamed({ run: { patch, directory } }: PublishJob, end: RunOutcome): RunOutcome {
  if (end.name !== 'publish_failed' || patch === null) return end;
  return { ...end, reason: `${end.reason} The patch is kept in ${directory.patch}.` };
}

/** The publication ends as such a run has ended, so that both jobs of a workflow agree. */
function endBeforePlan(result: RunResult): RunOutcome {
  const end = publishable(result, false);
  const reason = `The run ended before it had a plan: ${result.reason}`;
  return 'name' in end ? { ...end, reason } : usageError('ERR_NOTHING_TO_PUBLISH', reason);
}

/** A failed comment turns success into failure but does not hide that there is a pull request. */
function bothOf({ pullRequest }: PublicationSoFar, end: RunOutcome, unheard: RunOutcome | null): RunOutcome {
  if (end.exitCode !== 0 || unheard === null) return end;
  if (pullRequest === null) return unheard;
  return { ...unheard, reason: `Pull request #${pullRequest.number} is on GitHub. ${unheard.reason}` };
}

const NO_RESULT =
  'The job that should have carried out the plan left no readable result: it failed before starting, or was cut off.';

const DRY_RUN = 'Nothing was changed (--dry-run). The calls that would be made are listed above.';

const UNCOMMITTED =
  'The run began with uncommitted changes, on which its patch builds and which a pull request would not have. Commit and push them, and run the plan again; or apply uncommitted.patch and changes.patch of the run directory to a branch of your own.';

/** By what the run has made, and what for. */
async function publish(job: PublishJob): Promise<RunOutcome> {
  const { settings, result, run } = job;
  refuseOtherIssue(job);
  if (settings.publishAs !== 'pull-request') {
    const { publishAnswer } = await import('./publish-answer.ts');
    return publishAnswer(job);
  }
  const { patch } = run;
  const { followUp } = result;
  const merges = (followUp?.merge ?? null) !== null;
  const verdict = publishable(run.result, settings.publishUnfinished);
  // A follow-up without changes leaves the work that it went on with as it is.
  if ('name' in verdict)
    return verdict.name === 'no_change' && followUp === null ? settleStale(job, verdict) : verdict;
  // A merge is no commit yet, and is made again.
  if (run.result.baseDirty === true && !merges) return usageError('ERR_BASE_DIRTY', UNCOMMITTED);
  if (patch === null) return usageError('ERR_NOTHING_TO_PUBLISH', 'The run has no patch.');
  const { maxPatchFiles: maxFiles, maxPatchBytes: maxBytes } = settings;
  const size = { files: run.result.changedFiles.length, bytes: patch.length };
  const over = overCaps(size, { maxFiles, maxBytes });
  if (over !== null) return over;
  const { unfinished } = verdict;
  if (followUp === null) return publishChange(job, unfinished, () => lookAtOwnPull(job));
  const { lookAtContinuedPull } = await import('./continued-pull.ts');
  return publishChange(job, unfinished, () => lookAtContinuedPull(job, followUp));
}

/** The workflow knows which issue it works for; a run that names another one is not the run it asked for. */
function refuseOtherIssue({ plan, result, askedIn: issue, settings, upstream }: PublishJob): void {
  if (settings.issue === null || issue === null) return;
  if (result.followUp?.pullRequest === issue.number) return;
  const ofRun = askedIn(plan, `${upstream.owner}/${upstream.repo}`);
  if (ofRun === null || (ofRun.isHere && ofRun.number === issue.number)) return;
  stop(
    usageError(
      'ERR_OTHER_ISSUE',
      `The run says that its task came from ${ofRun.url}, and --issue that it is #${issue.number}. Publish it without --issue, or check which run this is.`,
    ),
  );
}
