/**
 * `patchsmith prepare`: before a run is paid for, checks that GitHub would permit its publication, and says on the issue that
 * work begins, or why it does not.
 */

import { posix } from 'node:path';
import { readGitHubEvent } from '../../../adapters/github/event-file.ts';
import type { OnGitHub } from '../../../adapters/github/request.ts';
import { putComment } from '../../../adapters/github/sticky-comment.ts';
import { withoutKeyAndTokens } from '../../../config/provider-keys.ts';
import type { Settings } from '../../../config/schema.ts';
import {
  conclude,
  nothingPublished,
  type PublicationSoFar,
} from '../../../domain/github/publishing/publication.ts';
import { done, type RunOutcome } from '../../../domain/run/outcome.ts';
import type { PlanSource } from '../../../domain/run/plan.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { refusedResult } from '../../../engine/finish/result.ts';
import type { CommandOutcome, HostContext } from '../../../host/context.ts';
import { sayEnd, sayTo } from '../../../host/say.ts';
import { acknowledgement } from '../../../texts/issue-comment.ts';
import type { Given } from '../../command.ts';
import { ended, openFor } from '../ended.ts';
import { type BranchWork, foreignObstacle, type WorkQuestion } from '../foreign-branch.ts';
import { type IssueOfWork, repositoryNamed, runUrlOf } from '../job.ts';
import { preflightPublishing } from '../preflight.ts';
import { type PublishInputs, readPublishInputs } from '../start.ts';
import { type CommentJob, commentOnIssue } from './comment-on-issue.ts';
import { labelIssue, readIssueOfWork } from './issue-of-work.ts';

/** Starts `patchsmith prepare` with the given flags and variables. */
export async function startPrepare(context: HostContext, given: Given): Promise<CommandOutcome> {
  const inputs = readPublishInputs(context, given);
  if (inputs.status === 'refused') return inputs;
  context.hide(inputs.token);
  const say = sayTo(context, MAX_LINE);
  const publication = nothingPublished(context.version);
  const outcome = await prepare(context, inputs, { publication, say });
  conclude(publication, outcome);
  context.onPublication?.(publication);
  for (const warning of publication.warnings) say(`warning: ${warning}`);
  return sayEnd(context, outcome);
}

/** A dry run prints request bodies in full. */
const MAX_LINE = 200_000;

async function prepare(
  context: HostContext,
  { settings, repository, token }: PublishInputs & { status: 'ok' },
  { publication, say }: { publication: PublicationSoFar; say: (line: string) => void },
): Promise<RunOutcome> {
  const { version, interrupt } = context;
  const env = withoutKeyAndTokens(context.env);
  const { github, signal } = await openFor({ ...context, settings, token, version, env, interrupt, say });
  const place = { settings, signal, result: { changedFiles: [] }, patchFile: null };
  const read = await ended(place, () => readIssueOfWork(github, repository, settings));
  if ('name' in read) return read;
  if (read.status === 'refused') return read.outcome;
  // The question whether it may write is a write itself, if one without an effect.
  const continues = await ended(place, () =>
    continuesIn(context, repositoryNamed(github, repository), settings),
  );
  if (typeof continues !== 'boolean') return continues;
  const permitted = settings.dryRun
    ? null
    : await preflightPublishing({ github, repository, settings, continues });
  const works = settings.dryRun || continues ? [] : worksOf(context, settings, read.found);
  const question = {
    github,
    repository,
    settings,
    token,
    version,
    env,
    signal,
    isStep: context.isStep === true,
  };
  const { obstacle, ready } =
    permitted === null ? await obstacleAmong(question, works) : { obstacle: permitted, ready: [] };
  if (read.found === null) {
    context.onPrepared?.(ready);
    return obstacle ?? PERMITTED;
  }
  const { askedIn, marker } = read.found;
  const job: CommentJob = {
    settings,
    signal,
    publication,
    askedIn,
    result: { ...refusedResult(obstacle ?? PERMITTED, version), runId: 'none yet' },
    upstream: repositoryNamed(github, repository),
    issueMarker: marker,
    patchFile: null,
    runUrl: runUrlOf(settings.githubServerUrl, env),
    isStep: context.isStep === true,
    sayMade: settings.dryRun ? () => {} : say,
  };
  const unheard = await ended(place, () =>
    obstacle === null ? acknowledge(job, askedIn.number) : commentOnIssue(job, obstacle),
  );
  if (unheard !== null) publication.warnings.push(warning('WARN_NO_COMMENT', unheard.reason));
  await labelIssue(job, obstacle === null ? 'running' : 'failed');
  return obstacle ?? PERMITTED;
}

/** A plan to carry out. `file` is as given; null for an issue's plan. */
type PlannedWork = BranchWork & { readonly file: string | null };

/** That of the issue, or of each plan file; none where the plan is not known here. */
function worksOf(
  { env }: HostContext,
  { plan }: Pick<Settings, 'plan'>,
  found: IssueOfWork | null,
): PlannedWork[] {
  const [, base = null] = /^refs\/heads\/(.+)$/.exec(env.GITHUB_REF ?? '') ?? [];
  const workFrom = (source: PlanSource, file: string | null) => ({
    plan: { source, title: '', sha256: '' },
    base,
    hasIssue: found !== null,
    file,
  });
  if (found === null)
    return planFiles(plan).map((file) => workFrom({ kind: 'file', path: posix.normalize(file) }, file));
  const { repository, number, url, isPullRequest } = found.askedIn;
  return isPullRequest ? [] : [workFrom({ kind: 'issue', repository, number, url, author: '' }, null)];
}

/** One a line, as a workflow with a matrix of plans names them. */
function planFiles(plan: string | null): string[] {
  const lines = (plan ?? '').split('\n').map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== '' && line !== '-'))];
}

/** The first obstacle, or all of them in one; `ready` are the plan files without one. */
async function obstacleAmong(
  question: WorkQuestion,
  works: readonly PlannedWork[],
): Promise<{ obstacle: RunOutcome | null; ready: string[] }> {
  const refusals: RunOutcome[] = [];
  const ready: string[] = [];
  for (const work of works) {
    const obstacle = await foreignObstacle(question, work);
    if (obstacle !== null) refusals.push(obstacle);
    else if (work.file !== null) ready.push(work.file);
  }
  const [first = null] = refusals;
  const others = refusals.length > 0 && ready.length > 0 ? ['The other plans may be carried out.'] : [];
  const reason = [...refusals.map((refusal) => refusal.reason), ...others].join(' ');
  return { obstacle: first && { ...first, reason }, ready };
}

/** Whether there is a pull request that the run will continue. */
async function continuesIn(
  { env }: HostContext,
  where: OnGitHub,
  { continued }: Pick<Settings, 'continued'>,
): Promise<boolean> {
  if (continued !== 'auto') return continued !== 'never';
  const read = await readGitHubEvent(env);
  const { pullOfEvent } = await import('../../../engine/continued/find.ts');
  const pull = read.status === 'ok' ? await pullOfEvent(where, read.event) : null;
  return pull !== null && typeof pull !== 'string';
}

const PERMITTED = done('GitHub permits the publication; the run can start.');

/** The comment that the outcome will replace. */
async function acknowledge(job: CommentJob, issue: number): Promise<null> {
  const { settings, upstream, issueMarker: marker, runUrl, publication, sayMade, signal } = job;
  if (settings.comment === 'never' || signal.aborted) return null;
  publication.comment = await putComment(upstream, {
    issue,
    marker,
    body: acknowledgement({ runUrl, marker }),
  });
  sayMade(`comment on #${issue} ${publication.comment.operation}`);
  return null;
}
