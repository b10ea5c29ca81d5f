/** Builds `result.json` step by step, so that everything known so far can be written at any moment. */

import { withAttemptHosts, withAttempts } from '../../domain/attempts/attempts.ts';
import { unverifiedPaths } from '../../domain/changes/change.ts';
import { type IgnoredFiles, inFewWords } from '../../domain/changes/ignored-files.ts';
import type { ChangeLedger } from '../../domain/changes/ledger.ts';
import { reviewPart } from '../../domain/findings/review.ts';
import { type Denial, withDenials } from '../../domain/review/denied.ts';
import type { BaseRevision, RunStarted } from '../../domain/run/events.ts';
import { withLostRequest } from '../../domain/run/fold/advance.ts';
import { withAskedHosts } from '../../domain/run/fold/turn.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type RunState, usesOf } from '../../domain/run/state.ts';
import { flakyAmong, judgeReports } from '../../domain/run/verify-baseline.ts';
import { listed } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import type { EgressRecord } from '../open/egress-record.ts';
import type { RunInput } from '../run-input.ts';

/** The part that is known before the first command runs. */
export function openedPart(
  start: Pick<
    RunStarted,
    | 'plan'
    | 'followUp'
    | 'paths'
    | 'workingDirectory'
    | 'principles'
    | 'provider'
    | 'model'
    | 'base'
    | 'sandbox'
  >,
): Partial<RunResult> {
  const { plan, followUp, paths, workingDirectory, principles, provider, model, base, sandbox } = start;
  return {
    plan,
    followUp,
    ...{ paths, workingDirectory },
    principles,
    provider,
    model,
    baseSha: base.commit,
    baseBranch: base.branch,
    ...baselinePart(base),
    sandbox,
  };
}

/** The part that is fixed when the run starts. */
export function startedPart(start: RunStarted): Partial<RunResult> {
  const { setup, verifyIn, verifyBaseline, replayOf = null } = start;
  return { ...openedPart(start), setup, verifyIn, verifyBaseline, replayOf };
}

/** The part that is known when the baseline is. */
export function baselinePart({ tree, dirty }: BaseRevision): Partial<RunResult> {
  return { baseTree: tree, baseDirty: dirty };
}

/** Warnings about changes that are not in the patch, or should not be in it. */
export function closingWarnings(
  { putBack, stuck, hidden, changes }: RunState,
  ignored: IgnoredFiles,
  exposed: readonly string[],
): Warning[] {
  const unexplained = changes.unexplained().map(({ path, by }) => `${path} (${by})`);
  return [
    ...naming(
      'WARN_PUT_BACK',
      [...putBack.keys()].sort(),
      (paths) => `Commands changed paths that must not change; reverted: ${paths}.`,
    ),
    ...[...stuck]
      .slice(0, MAX_NAMED)
      .map(([path, why]) =>
        warning('WARN_NOT_PUT_BACK', `${path} must not change and cannot be reverted: ${why}`),
      ),
    ...naming(
      'WARN_MAY_HAVE_CHANGED',
      [...hidden].sort(),
      (paths) => `Could not be examined, so they may have changed: ${paths}.`,
    ),
    ...naming(
      'WARN_MADE_BY_OTHERS',
      unexplained,
      (paths) => `Not in the patch, because no tool call made them: ${paths}.`,
    ),
    ...naming(
      'WARN_HIDDEN_SINCE',
      changes.hidden(),
      (paths) => `Made by the run, and since hidden by ignore rules: ${paths}.`,
    ),
    ...naming(
      'WARN_TAKEN_WHOLE',
      takenWhole(changes),
      (paths) =>
        `In the patch with all their contents, because git ignored them when the run started: ${paths}.`,
    ),
    ...naming(
      'WARN_NO_LONGER_IGNORED',
      exposed,
      (paths) =>
        `No longer ignored, and not in the patch, because the run did not change them: ${paths}. Check them before you add files to git.`,
    ),
    ...(ignored.count > 0
      ? [
          warning(
            'WARN_IGNORED_CHANGES',
            `Not in the patch, because ignore rules or git leave them out: ${ignored.count} ${ignored.count === 1 ? 'file or folder' : 'files and folders'} (${listed(inFewWords(ignored.paths), MAX_NAMED)}).`,
          ),
        ]
      : []),
  ];
}

/** A warning that names some paths, or none. */
function naming(
  code: Parameters<typeof warning>[0],
  paths: readonly string[],
  say: (paths: string) => string,
): Warning[] {
  return paths.length === 0 ? [] : [warning(code, say(listed(paths, MAX_NAMED)))];
}

/** Files that are in the patch as a whole: they may have had unknown contents before the run. */
function takenWhole(changes: ChangeLedger): string[] {
  const unknown = new Set(
    changes.history.flatMap(({ path, ignored }) => (ignored === 'until_now' ? [path] : [])),
  );
  return changes.net().flatMap(({ path }) => (unknown.has(path) ? [path] : []));
}

/** Maximum number of names in one sentence. */
const MAX_NAMED = 5;

/** A run about which something is known besides its events. */
interface KnownRun {
  readonly input: Pick<RunInput, 'attempts'>;
  readonly asked: Pick<EgressRecord, 'pending'>;
  readonly result: Pick<RunResult, 'network'>;
}

/**
 * What follows from the events so far, at the end of a run or when its process ends at once, with the spending of other attempts, the
 * hosts that were asked for after the last event, and what commands changed outside through `links`.
 */
export function knownPart({ input, asked, result }: KnownRun, state: RunState, links: readonly Denial[]) {
  const { attempts = null } = input;
  const spent = statePart(state);
  const { denied: before, hosts } = withAskedHosts(state, asked.pending);
  const denied = withDenials(before, links);
  return {
    ...(attempts === null ? spent : withAttempts(spent, attempts)),
    attempts,
    denied: [...denied.named],
    deniedCount: denied.count,
    network: {
      allowed: result.network?.allowed ?? null,
      hosts: attempts === null ? [...hosts] : withAttemptHosts(hosts, attempts),
    },
    durations: { totalMs: 0, modelMs: state.modelMs },
  } satisfies Partial<RunResult>;
}

/** The part known from the events so far. A request without an end is estimated. */
function statePart(now: RunState) {
  const state = withLostRequest(now);
  return {
    superseded: [...state.superseded],
    iterations: state.iterations,
    compactions: state.compaction.done.map((one) => ({ ...one, costUsd: one.costUsd ?? 'unknown' })),
    failedCompactions: state.compaction.failures,
    models: usesOf(state),
    review: reviewPart(state.review, state.changes.net()),
    tokens: state.usage,
    costUsd: state.costUsd ?? 'unknown',
    estimated: state.isEstimated,
    unexplained: state.changes.unexplained(),
    putBack: [...state.putBack]
      .map(([path, by]) => ({ path, by }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    verify: [...state.reports],
    verifyRounds: state.rounds.map(({ tree, reports }) => ({ tree, reports: [...reports] })),
    flaky: flakyAmong(state.rounds, state.verifyBaseline),
    unverified: unverifiedPaths(state.verified, state.changes.net()),
    preexistingFailures: judgeReports(state.reports, state.verifyBaseline).preexisting.map(
      ({ command }) => command,
    ),
    // Also of work that failed a verify command or was still being looked at.
    summary: 'summary' in state.phase ? state.phase.summary : '',
    answer: state.phase.at === 'ended' && state.phase.how === 'done' ? state.answer : null,
  } satisfies Partial<RunResult>;
}
