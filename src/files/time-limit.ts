/** Limits how long the runner's own work on files may take: every git process and every loop over files obeys it. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { CutShort } from '../domain/errors/thrown.ts';

/**
 * Aborts after `delayMs` with a `TimeoutError`; does not keep the process alive. Replaces `AbortSignal.timeout`: Node.js 20
 * holds that one weakly, and so does a signal that `AbortSignal.any` derives from it, so garbage collection could remove it
 * early (https://github.com/nodejs/node/issues/57736).
 */
export function timeoutSignal(delayMs: number): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'));
  setTimeout(abort, delayMs).unref();
  return controller.signal;
}

/** The limit of a call and of everything that it calls; null for none. */
const current = new AsyncLocalStorage<{ readonly signal: AbortSignal | null }>();

/** A run that has the process to itself, with the limit of its current work, or null. */
let alone: { signal: AbortSignal | null } | null = null;

/** Does the work, including everything it calls, until the signal aborts. It then rejects with `CutShort` as soon as it can. */
export function until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return current.run({ signal }, work);
}

/** The same for the parts of one run, which follow each other. */
export type Until = typeof until;

/**
 * Carries out a run. If it is alone in the process, it sets the limit for the whole process, including background work: up to
 * Node 22, every promise is slower once limits follow calls.
 */
export function inParts<T>(run: (until: Until) => Promise<T>): Promise<T> {
  if (alone !== null || current.getStore() !== undefined) return besideOthers(() => run(until));
  const own: { signal: AbortSignal | null } = { signal: null };
  alone = own;
  const untilAlone: Until = (signal, work) => {
    own.signal = signal;
    return work().finally(() => {
      own.signal = null;
    });
  };
  return run(untilAlone).finally(() => {
    alone = null;
  });
}

/** Does work that may run beside other work in this process: neither's limits apply to the other. */
export function besideOthers<T>(work: () => Promise<T>): Promise<T> {
  return current.run(NONE, work);
}

/** The signal of the current work; null if it has no limit. */
export function timeLimit(): AbortSignal | null {
  const { signal } = current.getStore() ?? alone ?? NONE;
  return signal;
}

const NONE = { signal: null };

/** The result of a computation with code or an expression of others. Only a `vm` timeout can end a match in progress. */
export function withinMs<T>(timeout: number, compute: () => T): T | 'too long' {
  try {
    return runInNewContext('compute()', { compute }, { timeout });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'too long';
    throw error;
  }
}

/** Throws `CutShort` when the time is over. */
export function checkTime(): void {
  if (timeLimit()?.aborted) throw new CutShort();
}

/** Number of bytes that can be read and hashed in the time it takes to examine one entry of a folder. */
const BYTES_OF_A_STEP = 64 * 1024;

/** Steps between two pauses: some milliseconds. */
const BREATH = 200;

/** Lets a long loop make room for signals, timers and the network, and ends it when its time is over. */
export class Breath {
  #steps = 0;

  /** Call with the progress of the loop: entries examined, and bytes read. Null if no pause is due, as in most cases. */
  after(entries: number, bytes = 0): Promise<void> | null {
    this.#steps += entries + bytes / BYTES_OF_A_STEP;
    if (this.#steps < BREATH) return null;
    this.#steps = 0;
    return setImmediate().then(checkTime);
  }
}
