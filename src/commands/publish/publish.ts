/**
 * `patchsmith publish`: takes a finished run to GitHub, without a model or a checkout, and without executing anything from
 * the repository. Every step finds what an earlier publication of the same plan has made.
 */

import { openGitHub } from '../../adapters/github/client.ts';
import { dryRun } from '../../adapters/github/dry-run.ts';
import { UnreadableFolder } from '../../adapters/github/objects.ts';
import { GitHubRefused } from '../../adapters/github/request.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { writeDocument } from '../../adapters/storage/write-document.ts';
import type { Settings } from '../../config/resolve.ts';
import { publishable } from '../../domain/github/publishing/policy.ts';
import { conclude, nothingPublished, type Publication } from '../../domain/github/publishing/publication.ts';
import type { Interruption } from '../../domain/run/limits.ts';
import {
  deadlineExceeded,
  interrupted,
  publishFailed,
  type RunOutcome,
  usageError,
} from '../../domain/run/outcome.ts';
import { RunResult } from '../../domain/run/result.ts';
import { type Redact, redactedJson, redactedStrings } from '../../domain/secrets/redact.ts';
import type { FindKnown } from '../../domain/secrets/secret-scan.ts';
import { sentence } from '../../domain/text/sentence.ts';
import { inertJson } from '../../domain/text/terminal.ts';
import { makeTemporaryFolder } from '../../files/temporary.ts';
import { timeoutSignal } from '../../host/timeout-signal.ts';
import { readBase } from './base.ts';
import { commentOnIssue } from './comment-on-issue.ts';
import { commitRun } from './commit-run.ts';
import { explainRefusal, workflowsAmong } from './explain-refusal.ts';
import { jobOf, type PublishJob } from './job.ts';
import { openForReview } from './open-pull-request.ts';
import { checkPolicy } from './policy-check.ts';
import { type CheckedRun, readRun } from './read-run.ts';
import { rebuildRun } from './rebuild-run.ts';

/** Which run to publish, where to, and as whom. */
export interface PublishRequest {
  /** A run directory or the id of a run. */
  readonly run: string;
  readonly settings: Settings;
  /** OWNER/NAME. */
  readonly repository: string;
  readonly token: string;
  readonly version: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupt: AbortSignal;
  readonly redact: Redact;
  /** Finds the secrets of this process, including the token. */
  readonly findKnown: FindKnown;
  /** Length of a second, in milliseconds, in the pauses before retries. Default: 1,000. */
  readonly secondMs?: number;
  /** Prints one line for people. */
  readonly say: (line: string) => void;
}

/** What was made is reported whatever happened after it. */
export async function publishRun(input: PublishRequest): Promise<Publication> {
  const told = nothingYet(input);
  const read = await readRun(input.run, input);
  if (read.status === 'failed') return conclude(told, usageError(read.message));
  const { run } = read;
  told.runId = run.result.runId;
  if (run.result.plan === null)
    return conclude(told, usageError(`The run ended before it had a plan: ${run.result.reason}`));
  const result = RunResult.parse(redactedStrings(recounted(run), input.redact));
  const folder = makeTemporaryFolder(input.env);
  try {
    const signal = AbortSignal.any([input.interrupt, timeoutSignal(input.settings.deadlineMs)]);
    const fetch = await fetchByEnvironment(input.env);
    const client = openGitHub({ ...input, apiUrl: input.settings.githubApiUrl, signal, fetch });
    const github = input.settings.dryRun ? dryRun(client, (line) => input.say(`would ${line}`)) : client;
    const { plan } = run.result;
    const job = jobOf({ ...input, run, result, plan, github, signal, scratch: folder.path, told });
    const end = await ended(job, () => publish(job));
    const unheard = await ended(job, () => commentOnIssue(job, end));
    conclude(told, bothOf(told, end, unheard));
    if (input.settings.dryRun && told.outcome === 'done') told.reason = DRY_RUN;
  } finally {
    folder.remove();
  }
  const document = `${inertJson(redactedJson(told, input.redact, 2))}\n`;
  const unwritten = writeDocument(run.directory.publication, document);
  if (unwritten !== null) told.warnings.push(unwritten);
  return told;
}

/** A failed comment turns success into failure but does not hide that there is a pull request. */
function bothOf({ pullRequest }: Publication, end: RunOutcome, unheard: RunOutcome | null): RunOutcome {
  if (end.exitCode !== 0 || unheard === null) return end;
  if (pullRequest === null) return unheard;
  return { ...unheard, reason: `Pull request #${pullRequest.number} is there. ${unheard.reason}` };
}

const DRY_RUN = 'Nothing was changed (--dry-run). The calls that would be made are listed above.';

const UNCOMMITTED =
  'The run began with uncommitted changes, on which its patch builds and which a pull request would not have. Commit and push them, and run the plan again; or apply uncommitted.patch and changes.patch of the run directory to a branch of your own.';

/** The line counts in the result are not trusted. */
function recounted({ result, patch }: CheckedRun): RunResult {
  const counts = new Map(
    patch?.files.map(({ path, additions, deletions }) => [path, { additions, deletions }]),
  );
  return {
    ...result,
    changedFiles: result.changedFiles.map((file) => ({ ...file, ...counts.get(file.path) })),
  };
}

/** The steps in order: each can be the last one. */
async function publish(job: PublishJob): Promise<RunOutcome> {
  const verdict = publishable(job.run.result, job.settings.publishUnfinished);
  if (verdict.status !== 'publish') return verdict.outcome;
  if (job.run.result.baseDirty === true) return usageError(UNCOMMITTED);
  const { patch } = job.run;
  if (patch === null) return usageError('The run has no patch.');
  const judged = checkPolicy(job, patch);
  if (judged.status === 'refused') return judged.outcome;

  const base = await readBase(job);
  if (base.status === 'refused') return base.outcome;
  const rebuilt = await rebuildRun(job, base.base, patch);
  if (rebuilt.status === 'refused') return rebuilt.outcome;
  const commit = await commitRun(job, base.base, rebuilt.change);
  if (commit.status === 'refused') return commit.outcome;
  return openForReview(
    job,
    base.base,
    { ...rebuilt.change, sha: commit.sha },
    {
      unfinished: verdict.unfinished,
      protectedPaths: judged.protectedPaths,
    },
  );
}

/** Null if there is nothing worth reporting. The only place where a refusal by GitHub is caught. */
async function ended<End extends RunOutcome | null>(
  job: PublishJob,
  work: () => Promise<End>,
): Promise<End | RunOutcome> {
  try {
    return await work();
  } catch (error) {
    if (job.signal.aborted) return stopped(job);
    const { patch } = job.run.directory;
    if (error instanceof UnreadableFolder)
      return publishFailed(`${sentence(error.message)} The patch is kept in ${patch}.`);
    if (!(error instanceof GitHubRefused)) throw error;
    return explainRefusal(error.refusal, {
      workflows: workflowsAmong(job.result.changedFiles),
      patchFile: patch,
    });
  }
}

function stopped({ signal, settings }: PublishJob): RunOutcome {
  const { cause, ...reason } = signal.reason as Interruption;
  if (cause === 'signal' && 'signal' in reason)
    return interrupted(reason.signal, `Stopped by ${reason.signal}. Publish again to carry on.`);
  return deadlineExceeded(
    `The deadline of ${settings.deadlineMs / 1_000} s passed (--deadline). Publish again to carry on.`,
  );
}

function nothingYet({ version, repository, settings }: PublishRequest): Publication {
  return { ...nothingPublished(version), repository, dryRun: settings.dryRun };
}
