/**
 * From the end of the loop to the outcome: makes, reviews and publishes the patch, completes the result and decides the
 * outcome. Every step is tried, whether or not the earlier ones succeeded.
 */

import { access, constants } from 'node:fs/promises';
import { patchFilePublisher } from '../../adapters/storage/patch-file.ts';
import { patchOf } from '../../agent/patch-of.ts';
import { withAttempts } from '../../domain/attempts/attempts.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import type { IgnoredFiles } from '../../domain/changes/ignored-files.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { whyUnreviewed } from '../../domain/findings/review.ts';
import { isTaken } from '../../domain/journal/base.ts';
import type { Denials } from '../../domain/review/denied.ts';
import { withRefusedHosts } from '../../domain/run/fold/refused-hosts.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import { decideOutcome, type RunOutcome } from '../../domain/run/outcome.ts';
import type { RunState } from '../../domain/run/state.ts';
import { stopOfInterruption } from '../../domain/run/stop-reason.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { readAhead } from '../../git/store/blobs.ts';
import type { PatchResult, ProvenPatch, ReadBlobs } from '../../ports/workspace.ts';
import type { Ready } from '../ready.ts';
import { absolutePath, type Session } from '../session.ts';
import { attributedPart } from './attributed-part.ts';
import { commandToContinue } from './command-to-continue.ts';
import { advice, crashed } from './crash.ts';
import { nestedPart } from './nested-part.ts';
import { closingWarnings } from './result.ts';
import { type ReviewedPart, reviewedPart } from './reviewed-part.ts';
import { statePart } from './state-part.ts';
import { MAX_STATE_BYTES, statesToRead } from './states-to-read.ts';
import { doneValue, firstCrash, type StepEnd, tryStep } from './step.ts';
import { type UncommittedPart, uncommittedPart } from './uncommitted-part.ts';

/** How the loop ended. */
export interface LoopEnd {
  /** Null when it ended without a reason, which is a bug. */
  readonly stop: StopReason | null;
  readonly state: RunState;
  /** `cut_short`: time ran out before the last look at the work tree. */
  readonly driven: StepEnd<void>;
}

/** `patch` is null when none was made or when it must not be published. */
export interface Ended {
  readonly outcome: RunOutcome;
  readonly patch: ProvenPatch | null;
}

/** The results of the steps, in the order they are taken. */
interface Steps {
  readonly made: StepEnd<PatchResult>;
  /** Null without a proven patch. */
  readonly proven: ProvenPatch | null;
  readonly reviewed: StepEnd<ReviewedPart>;
  readonly kept: KeptPatch;
  readonly uncommitted: StepEnd<UncommittedPart>;
  readonly attributed: StepEnd<Awaited<ReturnType<typeof attributedPart>>>;
  readonly nested: StepEnd<Awaited<ReturnType<typeof nestedPart>>>;
  readonly ignored: StepEnd<IgnoredFiles>;
}

/** Never rejects for a failing step: the failure is in the outcome. */
export async function finish(session: Session, ready: Ready, loop: LoopEnd): Promise<Ended> {
  const { state, driven } = loop;
  if (driven.status !== 'done') await sweep(session, ready);
  const denied = allDenied(session, ready, state);
  session.record({ mcp: [...ready.servers()] });
  const spent = statePart(state);
  const { attempts = null } = session.input;
  session.record({ ...(attempts === null ? spent : withAttempts(spent, attempts)), attempts });
  session.record({ denied: [...denied.named], deniedCount: denied.count });
  session.record({ durations: { totalMs: 0, modelMs: state.modelMs } });
  const net = state.changes.net();
  const steps = await takeSteps(session, ready, { state, net });
  warnOf(session, ready, { state, steps });
  session.record(partOf(ready, { state, steps }));
  const unwritable = await whyUnwritten(ready, state, denied);
  const outcome = outcomeOf(session, ready, { loop, net, steps, denied, unwritable });
  if (loop.stop !== null) session.nextCommand = commandToContinue(session, loop.stop);
  return { outcome, patch: steps.kept.patch };
}

/** With the hosts that were refused after the last event. Those of the whole run are in the result, whoever began it. */
function allDenied(session: Session, ready: Ready, state: RunState): Denials {
  const { denied, refusedHosts } = withRefusedHosts(state, ready.refused());
  const { network } = session.result;
  if (network !== null) session.record({ network: { ...network, refused: [...refusedHosts] } });
  return denied;
}

/** Why nothing of what was to be written is there; null when something is, or nothing was to be. */
async function whyUnwritten(
  { workspace }: Ready,
  { changes, unwritten }: RunState,
  { named }: Denials,
): Promise<string | null> {
  if (!named.some(({ kind }) => kind === 'sandbox')) return null;
  if (changes.history.some(({ source }) => source.by === 'tool')) return null;
  if (unwritten !== null) return unwritten;
  // Of what commands tried to write no more is known than what they printed.
  return access(workspace.root, constants.W_OK).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** What a command created must not wait for the user's git, however the run ended. */
async function sweep(session: Session, { workspace }: Ready): Promise<void> {
  await workspace.sweep().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    session.warn(
      warning(
        'WARN_LEFT_BEHIND',
        `Git dirs and set-uid bits that commands created may be left in ${workspace.root}: ${why}`,
      ),
    );
  });
}

/**
 * The patch is saved before anything else is examined: time may run out at any moment. What comes after that does not wait for
 * each other.
 */
async function takeSteps(
  session: Session,
  ready: Ready,
  { state, net }: { state: RunState; net: readonly PathChange[] },
): Promise<Steps> {
  const { history } = state.changes;
  // Without a change nothing is looked into.
  const read = readAhead(
    ready.directory.shadowGit,
    net.length === 0 ? [] : statesToRead(history),
    MAX_STATE_BYTES,
  );
  const made = await tryStep(() => patchOf(ready.workspace, net));
  const proven = provenIn(made);
  const reviewed = await tryStep(() => reviewedPart(session, ready, { net, patch: proven, read }));
  const mayBePublished = doneValue(reviewed)?.withheld === null;
  const kept = mayBePublished && proven !== null ? await keep(session, ready, proven) : NOT_KEPT;
  const uncommitted = await tryStep(() => uncommittedPart(ready, net, kept));
  const [attributed, nested, ignored] = await Promise.all([
    tryStep(() => attributedPart(state, proven, read)),
    tryStep(() => nestedPart(ready)),
    tryStep(() => ready.workspace.ignoredWrites()),
    keepEssentials(session, ready, { history, read }),
  ]);
  return { made, proven, reviewed, kept, uncommitted, attributed, nested, ignored };
}

/** What could not be tidied takes more room, and nothing else is wrong with it. */
async function keepEssentials(
  session: Session,
  { workspace }: Ready,
  { history, read }: { history: readonly PathChange[]; read: ReadBlobs },
): Promise<void> {
  const kept = await tryStep(() => workspace.keepEssentials(history, read));
  const why = kept.status === 'crashed' ? String(kept.error) : doneValue(kept);
  if (why !== null)
    session.warn(
      warning('WARN_RUN_DIRECTORY_LARGE', `The run directory takes more room than it needs: ${why}`),
    );
}

function provenIn(made: StepEnd<PatchResult>): ProvenPatch | null {
  const result = doneValue(made);
  return result?.status === 'proven' ? result.patch : null;
}

/** What happened to a patch that may be published; `patch` is null when there is none. */
interface KeptPatch {
  readonly patch: ProvenPatch | null;
  /** It is in the run directory. */
  readonly isThere: boolean;
  /** Why it could not be written to one of its places; null when it was written to all. */
  readonly failure: string | null;
}

const NOT_KEPT: KeptPatch = { patch: null, isThere: false, failure: null };

/** Writes the patch to the run directory and, with `--patch`, to the named file: to either even if the other fails. */
async function keep(session: Session, { directory }: Ready, patch: ProvenPatch): Promise<KeptPatch> {
  const { settings, cwd } = session.input;
  const unkept = await patchFilePublisher(directory.patch).publish(patch);
  const unwritten =
    settings.patch === null
      ? null
      : await patchFilePublisher(absolutePath(cwd, settings.patch)).publish(patch);
  return { patch, isThere: unkept === null, failure: unkept ?? unwritten };
}

const NESTED_CUT_SHORT = warning(
  'WARN_LOOK_CUT_SHORT',
  'There was not enough time to look for changes in submodules and other repositories in the work tree.',
);

function warnOf(
  session: Session,
  { workspace, verifyPlace }: Ready,
  {
    state,
    steps: { kept, reviewed, attributed, nested, ignored, uncommitted },
  }: { state: RunState; steps: Steps },
): void {
  const oversize = kept.patch === null ? null : (doneValue(reviewed)?.oversize ?? null);
  const warnings: Warning[] = [
    ...(oversize === null
      ? []
      : [
          warning('WARN_TOO_LARGE_TO_PUBLISH', `${oversize} Give publish a higher limit, or split the plan.`),
        ]),
    ...(doneValue(uncommitted)?.warnings ?? []),
    ...(doneValue(attributed)?.warnings ?? []),
    ...(nested.status === 'cut_short' && isTaken(state.base) ? [NESTED_CUT_SHORT] : []),
    ...workspace.warnings(),
    ...verifyPlace.warnings(),
    ...(doneValue(nested)?.warnings ?? []),
    ...closingWarnings(state, doneValue(ignored) ?? NO_IGNORED, workspace.exposed()),
  ];
  for (const warning of warnings) session.warn(warning);
}

const NO_IGNORED: IgnoredFiles = { paths: [], count: 0 };

/** Files that one list of the result names. */
const MAX_NAMED = 1_000;

/** What the result says of the steps. */
function partOf(
  { workspace, directory }: Ready,
  { state, steps }: { state: RunState; steps: Steps },
): Parameters<Session['record']>[0] {
  const { proven, reviewed, kept, attributed, nested } = steps;
  const { flags = [], secrets = [] } = doneValue(reviewed) ?? {};
  const { paths, count } = doneValue(steps.ignored) ?? NO_IGNORED;
  return {
    treeSha: proven?.tree ?? null,
    patch:
      kept.patch !== null && kept.isThere
        ? { path: directory.patch, sha256: kept.patch.sha256, bytes: kept.patch.bytes.length }
        : null,
    uncommittedPatch: doneValue(steps.uncommitted)?.patch ?? null,
    changedFiles: proven?.files ?? [],
    provenance: doneValue(attributed)?.provenance ?? null,
    flags,
    secrets,
    ...doneValue(nested)?.part,
    ignoredFiles: [...paths],
    ignoredFileCount: count,
    hiddenFiles: state.changes.hidden().slice(0, MAX_NAMED),
    exposedFiles: workspace.exposed().slice(0, MAX_NAMED),
    removedGitDirs: [...workspace.removedGitDirs()],
  };
}

interface Decision {
  readonly loop: LoopEnd;
  readonly net: readonly PathChange[];
  readonly steps: Steps;
  readonly denied: Denials;
  readonly unwritable: string | null;
}

function outcomeOf(session: Session, ready: Ready, decision: Decision): RunOutcome {
  const { loop, steps, denied, unwritable } = decision;
  const { stop, state, driven } = loop;
  const { made, proven, reviewed, kept, uncommitted, attributed, nested, ignored } = steps;
  const crash = firstCrash([driven, made, reviewed, uncommitted, attributed, nested, ignored]);
  if (crash !== null || stop === null) return crashed(session, crash?.error ?? null);
  const unmade = whyUnmade(decision);
  const isMade = unmade === null;
  const decided = decideOutcome({
    stop: isMade ? stop : stopOfInterruption(state, session.interrupt.reason, session.limits),
    changedFiles: proven?.files.length ?? 0,
    setupChanged: ready.start.setupChanges.length,
    merges: (ready.start.followUp?.merge ?? null) !== null,
    answered: state.answer !== null,
    verified: state.reports.filter((report) => succeeded(report.end)).length,
    verifyIn: ready.start.verifyIn,
    unverified: session.result.unverified,
    preexisting: session.result.preexistingFailures.length,
    ifNoChanges: ready.start.ifNoChanges,
    denied,
    ifDenied: ready.start.ifDenied,
    unwritable,
    withheld: isMade ? (doneValue(reviewed)?.withheld ?? null) : null,
    publishFailure: isMade ? (failureIn(made) ?? kept.failure) : null,
    unmade,
    unreviewed: ready.start.review?.ifNotReviewed === 'error' ? unreviewed(session, proven) : null,
    forbiddenPaths: forbiddenPaths(ready, decision),
    hiddenPaths: [...state.hidden].sort(),
    gitDirsInDoubt: ready.workspace.gitDirsInDoubt(),
  });
  const judged = ready.judge(decided, kept.patch);
  return judged.name === 'publish_failed'
    ? { ...judged, reason: `${judged.reason} ${advice(session)}` }
    : judged;
}

function unreviewed({ result }: Session, proven: ProvenPatch | null): string | null {
  return whyUnreviewed(result.review, { changedFiles: proven?.files.length ?? 0 });
}

/** Why there is no patch although nothing is wrong with it; null unless time ran out. */
function whyUnmade({ loop: { driven, state }, net, steps: { made, reviewed } }: Decision): string | null {
  // Nothing is changed before the base is known.
  if (!isTaken(state.base)) return null;
  if (reviewed.status === 'cut_short') return 'there was not enough time to review the patch';
  if (made.status === 'cut_short') return 'there was not enough time to make the patch';
  return driven.status === 'cut_short' && net.length === 0
    ? 'there was not enough time to see what changed'
    : null;
}

/** Why the patch could not be proven; null when it was. */
function failureIn(made: StepEnd<PatchResult>): string | null {
  const result = doneValue(made);
  return result?.status === 'failed' ? result.message : null;
}

function forbiddenPaths({ permits }: Ready, { loop, net, steps: { nested } }: Decision): string[] {
  const forbidden = net.map((change) => change.path).filter((path) => !permits(path));
  const all = [...forbidden, ...(doneValue(nested)?.forbidden ?? []), ...loop.state.stuck.keys()];
  return [...new Set(all)].sort();
}
