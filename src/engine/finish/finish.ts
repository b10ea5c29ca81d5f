/**
 * From the end of the loop to the outcome: makes, reviews and publishes the patch, completes the result and decides the
 * outcome. Every step is tried, whether or not the earlier ones succeeded.
 */

import { access, constants } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { PathChange } from '../../domain/changes/change.ts';
import { isGitDirName, isWithin } from '../../domain/changes/path.ts';
import { whyUnreviewed } from '../../domain/findings/review.ts';
import { decideOutcome } from '../../domain/run/decide-outcome.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { RunState } from '../../domain/run/state.ts';
import { stopOfInterruption } from '../../domain/run/stop-reason.ts';
import { hasCode } from '../../files/failures.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import { changedLinks } from '../open/sandbox-settings.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';
import { advice, commandToContinue, crashed, type StepEnd } from './crash.ts';
import { knownPart } from './result.ts';
import { type Steps, takeSteps } from './steps.ts';

/** How the loop ended. */
export interface LoopEnd {
  /** Null when it ended without a reason, which is a bug. */
  readonly stop: StopReason | null;
  readonly state: RunState;
  /** `cut_short`: time ran out before the final scan of the work tree. */
  readonly driven: StepEnd<void>;
}

/** `patch` is null when none was made or when it must not be published. */
export interface Ended {
  readonly outcome: RunOutcome;
  readonly patch: ProvenPatch | null;
}

/** Never rejects for a failing step: the failure is in the outcome. */
export async function finish(session: Session, ready: Ready, loop: LoopEnd): Promise<Ended> {
  const { state, driven } = loop;
  if (driven.status !== 'done') await sweep(session, ready);
  session.record({ mcp: [...ready.servers()], ...knownPart(session, state, changedLinks(session)) });
  const net = state.changes.net();
  const steps = await takeSteps(session, ready, { state, net });
  const outcome = await finalOutcome(session, ready, { loop, net, steps });
  if (loop.stop !== null) session.nextCommand = commandToContinue(session, loop.stop);
  return { outcome, patch: steps.kept.patch };
}

/** However the run ended, git dirs that commands created must not stay there for the user's git to run. */
async function sweep(session: Session, { workspace }: Ready): Promise<void> {
  await workspace.sweep().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    session.warn(
      'WARN_LEFT_BEHIND',
      `Git dirs that commands created may be left in ${workspace.root}: ${why}`,
    );
  });
}

/** The facts that decide the outcome. */
interface Decision {
  readonly loop: LoopEnd;
  readonly net: readonly PathChange[];
  readonly steps: Steps;
}

/** A crash of any step is a separate outcome. */
async function finalOutcome(session: Session, ready: Ready, decision: Decision): Promise<RunOutcome> {
  const { loop, steps } = decision;
  const { stop, state, driven } = loop;
  const { made, reviewed, kept } = steps;
  const crash = driven.status === 'crashed' ? driven : steps.crash;
  if (crash !== null || stop === null) return crashed(session, crash?.error ?? null);
  const { start, workspace } = ready;
  const { result, input } = session;
  const { review, testProof } = result;
  const unmade = whyUnmade(decision);
  const isMade = unmade === null;
  const isReviewRequired = start.review?.ifNotReviewed === 'error';
  const isProofRequired = input.settings.ifNotProven === 'error' && testProof?.status === 'not_proven';
  const decided = decideOutcome({
    ...start,
    ...result,
    stop: isMade ? stop : stopOfInterruption(state, session.interrupt.reason, session.limits),
    unwritable: await whyUnwritten(ready, state, result.denied),
    withheld: isMade ? (reviewed?.withheld ?? null) : null,
    publishFailure: isMade ? ((made?.status === 'failed' ? made.message : null) ?? kept.failure) : null,
    unmade,
    unreviewed: isReviewRequired ? whyUnreviewed(review, { changedFiles: result.changedFiles.length }) : null,
    notProven: isProofRequired ? testProof.why : null,
    forbiddenPaths: forbiddenPaths(ready, decision),
    hiddenPaths: [...state.hidden].sort(),
    gitDirsInDoubt: workspace.notes().gitDirsInDoubt,
  });
  const judged = ready.judge(decided, kept.patch);
  return judged.name === 'publish_failed'
    ? { ...judged, reason: `${judged.reason} ${advice(session)}` }
    : judged;
}

/** Why there is no patch although nothing is wrong with it; null unless time ran out. */
function whyUnmade({ loop: { driven }, net, steps: { made, reviewed } }: Decision): string | null {
  if (reviewed === null) return 'there was not enough time to review the patch';
  if (made === null) return 'there was not enough time to make the patch';
  return driven.status === 'cut_short' && net.length === 0
    ? 'there was not enough time to see what changed'
    : null;
}

function forbiddenPaths({ permits }: Ready, { loop, net, steps: { nested } }: Decision): string[] {
  const forbidden = net.map((change) => change.path).filter((path) => !permits(path));
  const all = [...forbidden, ...(nested?.forbidden ?? []), ...loop.state.stuck.keys()];
  return [...new Set(all)].sort();
}

/** Why none of the expected files was written; null if one was, or none was expected. */
async function whyUnwritten(
  { workspace: { root } }: Ready,
  { changes, unwritten, unwritable }: RunState,
  named: RunResult['denied'],
): Promise<string | null> {
  const denied = [...named.filter(({ kind }) => kind === 'sandbox'), ...unwritable];
  if (denied.length === 0 || changes.history.some(({ source }) => source.by === 'tool')) return null;
  if (unwritten !== null) return unwritten;
  // All that is known about failed writes of commands is their output.
  for (const { what, why } of denied) {
    const place = resolve(root, what);
    const isOfTheWork = isWithin(place, root) && !relative(root, place).split('/').some(isGitDirName);
    if (isOfTheWork && (await whyNotWritable(place)) !== null) return why;
  }
  return whyNotWritable(root);
}

/** Of a path, or of the nearest folder above it that exists. */
async function whyNotWritable(path: string): Promise<string | null> {
  try {
    await access(path, constants.W_OK);
    return null;
  } catch (error) {
    if (hasCode(error, 'ENOENT') && path !== '/') return whyNotWritable(dirname(path));
    return error instanceof Error ? error.message : String(error);
  }
}
