/**
 * Several attempts at one task: each is a run of its own, on a copy of the work tree and with its share of the caps. The best one
 * by facts is brought into the work tree; the others stay below the run directory.
 *
 * The first one begins alone, so that problems with plan, key or sandbox are reported once, and the others find its prompt in the
 * provider's cache.
 */

import { join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { COPY } from '../../adapters/storage/dead-run.ts';
import { copyWorkTree, trackedBelow } from '../../adapters/workspace/work-tree-copy.ts';
import { type AttemptSpending, withAttemptHosts, withAttempts } from '../../domain/attempts/attempts.ts';
import { chosenAmong } from '../../domain/attempts/rank.ts';
import { inFewWords } from '../../domain/changes/ignored-files.ts';
import { noUsage } from '../../domain/conversation/conversation.ts';
import {
  deadlineExceeded,
  interrupted,
  type RunOutcome,
  refused,
  type Stopped,
  stopped,
} from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import { collect } from '../../files/regular-file.ts';
import { openInterrupt, raceAbort } from '../../host/deadline.ts';
import { continuing, crashed } from '../finish/crash.ts';
import { endRun } from '../finish/end.ts';
import { takeCheckout } from '../fresh/spec.ts';
import { interruptedOutcome } from '../ready.ts';
import type { RunInput } from '../run-input.ts';
import { Session } from '../session.ts';
import { bringIn, type Chosen } from './bring-in.ts';
import { type AttemptsPlace, type Made, makeAttempt } from './make-attempt.ts';

/** Never rejects because of anything that can happen to a run: that is in the outcome. */
export async function runAttempts(input: RunInput): Promise<RunOutcome> {
  // The attempts write lines side by side, and a view would be painted over them.
  const session = new Session({ ...input, terminal: null });
  const end = await attempted(session).catch((error: unknown) => stopped(crashed(session, error)));
  if (end.status === 'stopped') return endRun(session, { outcome: end.outcome, patch: null });
  session.end();
  try {
    const outcome = await bringIn(session, end);
    // From here on, this session must not write anything about the run.
    session.decide(outcome);
    session.letGo();
    return outcome;
  } catch (error) {
    return endRun(session, { outcome: crashed(session, error), patch: null });
  }
}

async function attempted(session: Session): Promise<Chosen | Stopped> {
  await session.progress.start();
  const { input, limits, startedAt } = session;
  const place = await takeCheckout(session);
  if (place.status === 'stopped') return place;
  const stdin = await planOnStdin(session);
  if (stdin === null) return stopped(interruptedOutcome(session));
  const shareMs = Math.floor(limits.deadlineMs * SHARE_OF_TIME - (input.now() - startedAt));
  const { signal: interrupt, stopClock } = openInterrupt(input, Math.max(1, shareMs));
  try {
    const copies = await copyTree(session, place, interrupt);
    if (copies.status === 'stopped') return copies;
    const shared = { ...input, ...once(input), interrupt };
    const made = await makeAll(session, place, {
      roots: copies.roots,
      open: () => ({ ...shared, stdin: Readable.from([Buffer.from(stdin)]) }),
    });
    return choose(session, place, made);
  } finally {
    stopClock();
  }
}

/** A plan on stdin can be read once. Empty without one, null where the run was stopped meanwhile. */
async function planOnStdin({ input: { settings, stdin }, interrupt }: Session): Promise<Uint8Array | null> {
  if (settings.plan !== '-') return Buffer.alloc(0);
  const read = await raceAbort(interrupt, collect(addAbortSignal(interrupt, stdin), MOST_BYTES));
  if (read === null) return null;
  return read.status === 'ok' ? read.bytes : Buffer.alloc(MOST_BYTES);
}

/** More than a plan may have, so that its reader refuses a truncated one. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The check before a run may spend anything is made only once. */
function once({ beforeSpending }: RunInput): Pick<RunInput, 'beforeSpending'> {
  if (beforeSpending === undefined) return {};
  let asked: ReturnType<typeof beforeSpending> | null = null;
  return { beforeSpending: (work) => (asked ??= beforeSpending(work)) };
}

/** The last tenth of the time is kept for bringing the chosen one into the work tree. */
const SHARE_OF_TIME = 0.9;

/** All of them before anything is spent, so that they are alike. */
async function copyTree(
  session: Session,
  { checkout, directory }: AttemptsPlace,
  signal: AbortSignal,
): Promise<{ status: 'ok'; roots: string[] } | Stopped> {
  const roots: string[] = [];
  for (let number = 1; number <= session.input.settings.attempts; number += 1) {
    const to = join(directory.scratch, `${COPY}${number}`);
    const label = `copying the work tree for attempt ${number}`;
    const copying = () => copyWorkTree({ from: checkout.root, to, signal });
    const copied = await session.progress.during({ label }, copying);
    if (copied.status === 'failed')
      return refused('ERR_ATTEMPT_COPY', `The work tree cannot be copied: ${copied.message}`);
    if (copied.status === 'interrupted') return stopped(copyingEnded(session));
    if (copied.left.length > 0 && number === 1) {
      const lost = await trackedBelow(checkout.root, copied.left, session.input.env);
      if (lost.length > 0)
        return refused(
          'ERR_ATTEMPT_COPY',
          `The work tree cannot be copied: this repository tracks files in folders that are repositories themselves: ${listed(lost, 5)}. Move their .git away.`,
        );
      session.warn(
        'WARN_REPOSITORIES_NOT_COPIED',
        `Other repositories and submodules are empty folders in the copies: ${listed(copied.left, 5)}.`,
      );
    }
    roots.push(to);
  }
  return { status: 'ok', roots };
}

function copyingEnded({ input: { interrupt }, limits }: Session): RunOutcome {
  const when = 'while the work tree was copied for the attempts';
  return interrupt.aborted
    ? interrupted(interrupt.reason.signal, `Stopped by ${interrupt.reason.signal} ${when}.`)
    : deadlineExceeded(
        `The deadline of ${limits.deadlineMs / 1000} s passed ${when}. Raise it with --deadline.`,
      );
}

async function makeAll(
  { runId }: Session,
  place: AttemptsPlace,
  { roots, open }: { roots: readonly string[]; open: () => RunInput },
): Promise<[Made, ...Made[]]> {
  let onAnswer = (): void => undefined;
  const answered = new Promise<null>((resolve) => {
    onAnswer = () => resolve(null);
  });
  const make = (root: string, at: number) =>
    makeAttempt(open(), { number: at + 1, asked: roots.length, runId, place, root, onAnswer });
  const [own = '', ...others] = roots;
  const first = make(own, 0);
  if ((await Promise.race([answered, first])) !== null) return [await first];
  return Promise.all([first, ...others.map((root, at) => make(root, at + 1))]);
}

/** Nothing is brought in after a signal, or from attempts that have not begun. */
function choose(
  session: Session,
  { checkout, directory }: AttemptsPlace,
  made: readonly [Made, ...Made[]],
): Chosen | Stopped {
  const { settings, interrupt } = session.input;
  const { attempts: asked } = settings;
  const list = made.map(({ attempt }) => attempt);
  const first = made[0].result;
  /** Records the part of the first one's result that is said of the run, and what all have spent. */
  const none = (said: Partial<RunResult>, why: string) => {
    const attempts = { asked, chosen: null, why, list };
    const network = first.network && { ...first.network, hosts: withAttemptHosts([], attempts) };
    session.record({ ...said, ...withAttempts(UNSPENT, attempts), attempts, network });
  };
  for (const { number, outcome, files, lines, path } of list)
    session.progress.note(
      `attempt ${number}: ${outcome}, ${pluralize(lines, 'line')} in ${pluralize(files, 'file')} (${path})`,
    );
  if (interrupt.aborted) {
    const { signal } = interrupt.reason;
    const { plan, followUp, principles, paths, provider, model } = first;
    const { baseSha, baseBranch, baseTree, baseDirty, sandbox } = first;
    const task = { plan, followUp, principles, paths, provider, model };
    none(
      { ...task, baseSha, baseBranch, baseTree, baseDirty, sandbox },
      'a signal came before one was chosen',
    );
    const kept = whatIsKept(made, (path) => continuing(session, path, { repo: checkout.root }));
    return stopped(interrupted(signal, `Stopped by ${signal}; ${kept}.`));
  }
  const { best, why } = chosenAmong(made, ({ attempt }) => attempt);
  if (!best.hasBegun) {
    const { runId: _, status: __, ...others } = best.result;
    none(others, 'the first one ended before its work started');
    return stopped(best.outcome);
  }
  const { number } = best.attempt;
  session.progress.note(`attempt ${number} of ${asked} chosen: ${why}`);
  const { verify, verifyIn, ignoredFiles } = best.result;
  // Whatever its verify commands have run of that is not there any more.
  if (verify.length > 0 && verifyIn === 'worktree' && ignoredFiles.length > 0)
    session.warn(
      'WARN_VERIFIED_IN_COPY',
      `The verify commands ran in the copy of attempt ${number}, next to changed ignored files, which stayed behind: ${listed(inFewWords(ignoredFiles), 5)}. Run them again here, or use --verify-in checkout.`,
    );
  const named = list.map((one) => (one === best.attempt ? { ...one, path: directory.path } : one));
  const attempts = { asked, chosen: number, why, list: named };
  return { status: 'chosen', checkout, directory, best, attempts };
}

const UNSPENT: AttemptSpending = { tokens: noUsage, costUsd: 0, estimated: false, models: [] };

/** The middle of a sentence. */
function whatIsKept(made: readonly Made[], commandFor: (path: string) => string): string {
  const begun = made.flatMap(({ hasBegun, attempt }) => (hasBegun ? [attempt] : []));
  if (begun.length === 0) return 'no attempt had begun';
  const kept = begun.map(({ outcome, path }) => `${path} (${outcome})`);
  const cut = begun.find(({ outcome }) => outcome === 'interrupted');
  const next = cut === undefined ? '' : `; continue one with: ${commandFor(cut.path)}`;
  return `nothing was applied to the work tree, and the attempts are kept: ${listed(kept, 10)}${next}`;
}
