/**
 * A run and its publication as one: `patchsmith run --publish` and the action's `run-and-publish`. If the publication lacks
 * something, or GitHub would refuse it, this ends before the run spends anything.
 */

import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import { settingsOf } from '../config/schema.ts';
import type { Problem } from '../domain/errors/problem.ts';
import { jobOfRound } from '../domain/github/follow-up.ts';
import { planId } from '../domain/github/publishing/identity.ts';
import { publishable } from '../domain/github/publishing/policy.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import { publishCommand, type TypedFlags } from '../domain/journal/continuation.ts';
import type { StopSignal } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import { interrupted, publishFailed, type RunOutcome, usageError } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { jsonDocument } from '../domain/text/terminal.ts';
import type { WorkAhead } from '../engine/run-input.ts';
import { sha256Of } from '../files/hash.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import { sayEnd } from '../host/say.ts';
import type { Given } from './command.ts';
import { flagsAmong, readRunInputs, typedFor } from './inputs.ts';
import { type PublishInputs, publishAndTell, readPublishInputs } from './publish/start.ts';
import { startRun } from './run/start.ts';
import { handOver } from './work.ts';

/** A run that is to be published, with the flags of each of the two. */
export interface RunAndPublish {
  readonly context: HostContext;
  readonly run: Pick<Given, 'flags' | 'problems'>;
  readonly publish: Pick<Given, 'flags' | 'problems'>;
  /** From here on there may be something on GitHub. */
  readonly onPublishing?: () => void;
}

/** The outcome is the run's, unless its result should have been published and could not be. */
export async function runAndPublish(asked: RunAndPublish): Promise<CommandOutcome> {
  const { context, run, publish, onPublishing } = asked;
  // Mistakes in it must be found before the run costs money.
  const ready = readPublishInputs(context, { switches: new Set(['publish']), ...publish });
  if (ready.status === 'refused') {
    const ofRun = await readRunInputs(context, run.flags, run.problems);
    const problems = [...ready.problems, ...(ofRun.status === 'refused' ? ofRun.problems : [])];
    const refused = { status: 'refused' as const, problems: withoutRepeats(problems) };
    const { keepRefusal } = await import('./refused-run.ts');
    await keepRefusal(context, run.flags, refused.problems);
    return refused;
  }
  const made: { directory?: RunDirectory; result?: RunResult } = {};
  const ran = await startRun(
    {
      ...context,
      // No call is made with the write token for someone who may not start a run.
      beforeSpending: (work) => obstacleToPublishing(context, ready, work),
      whyNotFrom: ({ dirty }) => (dirty ? usageError('ERR_BASE_DIRTY', UNCOMMITTED) : null),
      watcher: {
        onStart: () => context.watcher?.onStart(),
        onDirectory(directory) {
          made.directory = directory;
          context.watcher?.onDirectory(directory);
        },
        onResult(result) {
          made.result = result;
          context.watcher?.onResult(result);
        },
      },
    },
    run,
  );
  const { directory, result } = made;
  // Without a plan nothing was asked for.
  if (ran.status === 'refused' || directory === undefined || !result?.plan) return ran;
  const isDue = 'unfinished' in publishable(result, ready.settings.publishUnfinished);
  if (context.interrupt.aborted) {
    const outcome = unpublished(
      context.interrupt.reason as Interruption,
      directory,
      typedFor('publish', publish.flags, context.redact),
    );
    return isDue && ran.outcome.name !== outcome.name ? { status: 'stopped', outcome } : ran;
  }
  onPublishing?.();
  const published = await publishAndTell(context, ready, directory.path);
  const isSame = published.name === ran.outcome.name && published.exitCode === ran.outcome.exitCode;
  // The last line has been printed already, and names the pull request or what prevented it.
  if (isSame || (isDue && published.exitCode !== 0)) return { status: 'printed', outcome: published };
  return { status: 'stopped', outcome: ran.outcome };
}

/**
 * Anything that the publication would refuse at the end is refused before it costs anything. A merge is started by the run
 * itself.
 */
const UNCOMMITTED =
  'The work tree has uncommitted changes, which a pull request would not have. Commit and push them (the file of the plan too, if it is in the work tree) or move them out of it; or run the plan without publishing it.';

/** A setting that both commands take is wrong in both. */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((one) => [one.message, one])).values()];
}

/** A signal between the two: the run is complete. */
function unpublished(
  interruption: Interruption & { signal?: StopSignal },
  { path }: RunDirectory,
  typed: TypedFlags,
): RunOutcome {
  const { signal = 'SIGTERM' } = interruption;
  return interrupted(
    signal,
    `Stopped by ${signal} after the run but before it was published. Publish it: ${publishCommand(path, typed)}`,
  );
}

const UNCOUNTED =
  'A round is counted before it begins, and a dry run changes nothing. Continue the pull request without --dry-run, or outside the workflow with --message.';

/**
 * Null if GitHub would permit the publication. A dry run changes nothing, and needs only read access. Changes nothing, except for
 * a comment on a pull request about other people's commits on its branch.
 */
export async function obstacleToPublishing(
  context: HostContext,
  inputs: PublishInputs & { status: 'ok' },
  work: WorkAhead | null,
): Promise<RunOutcome | null> {
  const { env, now } = context;
  const { settings } = inputs;
  const followUp = work?.plan.followUp?.facts ?? null;
  if (settings.dryRun)
    return followUp === null || (followUp.trigger === 'request' && jobOfRound(env) === null)
      ? null
      : publishFailed('ERR_ROUND_NOT_RECORDED', UNCOUNTED);
  // Nothing else loads the libraries that talk to GitHub.
  const { obstacleIn, openPlace, stop } = await import('./publish/place.ts');
  const { preflightPublishing } = await import('./publish/preflight.ts');
  const { readBudget } = await import('./publish/costs.ts');
  const { refuseForeign } = await import('./publish/plan-branch.ts');
  const { beginOwnRound } = await import('./publish/rounds.ts');
  const place = await openPlace({ ...context, ...inputs, say: () => {} });
  return obstacleIn(place, async () => {
    await preflightPublishing(place, followUp !== null);
    if (work === null) return;
    const marker = followUp?.marker ?? planId(work.plan, place.repository, sha256Of);
    const used = (await readBudget(place.upstream, settings, now())).whyNot(marker);
    if (used !== null) stop(used);
    if (followUp === null) await refuseForeign(place, { ...work, hasIssue: false });
    else await beginOwnRound(place, { caps: work.caps, now, runId: work.runId }, followUp);
  });
}

/**
 * `patchsmith run --publish`. With `--output json` there is one document: the run's result, with the outcome of both and the
 * publication beside (null when nothing was published). All other output on stdout is the run's.
 */
export async function startRunAndPublish(
  context: HostContext,
  { flags, problems }: Pick<Given, 'flags' | 'problems'>,
): Promise<CommandOutcome> {
  const isDocument = (flags.output ?? context.env.PATCHSMITH_OUTPUT) === 'json';
  const ofRun = flagsAmong(settingsOf('run'), flags);
  let result: RunResult | null = null;
  let publication: Publication | null = null;
  const end = await runAndPublish({
    context: {
      ...context,
      watcher: {
        onStart: () => {},
        onDirectory: () => {},
        onResult: (ended) => {
          result = ended;
        },
      },
      onPublication: (made) => {
        publication = made;
      },
    },
    run: { flags: isDocument ? { ...ofRun, output: 'none' } : ofRun, problems: [] },
    publish: { flags: { ...flagsAmong(settingsOf('publish'), flags), output: 'none' }, problems },
  });
  if (end.status === 'refused') return end;
  const outcome = end.status === 'printed' ? end.outcome : withPullRequest(end.outcome, publication);
  const unread = isDocument
    ? await handOver(context, jsonDocument(documentOf(outcome, result, publication), context.redact))
    : null;
  const last = outcome.exitCode === 0 ? (unread ?? outcome) : outcome;
  if (end.status === 'stopped' || last !== outcome) sayEnd(context, last);
  return { status: 'printed', outcome: last };
}

/** The outcome of the run, with the pull request that was opened nevertheless. */
function withPullRequest(outcome: RunOutcome, publication: Publication | null): RunOutcome {
  if (publication === null || publication.pullRequest === null) return outcome;
  return { ...outcome, reason: `${outcome.reason} ${publication.reason}` };
}

function documentOf(
  { name, exitCode, reason, errorCode }: RunOutcome,
  result: RunResult | null,
  publication: Publication | null,
): object {
  return { ...result, outcome: name, exitCode, reason, errorCode, publication };
}
