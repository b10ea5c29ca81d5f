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
import {
  deadlineExceeded,
  interrupted,
  type RunOutcome,
  refused,
  type Stopped,
  stopped,
} from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/words.ts';
import { collect } from '../../files/regular-file.ts';
import { openInterrupt, raceAbort } from '../../host/deadline.ts';
import { crashed } from '../finish/crash.ts';
import { endRun } from '../finish/end.ts';
import { takeCheckout } from '../fresh/spec.ts';
import { interruptedOutcome } from '../ready.ts';
import type { RunInput } from '../run-input.ts';
import { Session } from '../session.ts';
import { bringIn, type Chosen } from './bring-in.ts';
import { choose } from './choose.ts';
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
