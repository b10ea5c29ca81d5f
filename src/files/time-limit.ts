/**
 * How long the runner's own work over files may go on. The signal that ends it goes with the call, and not from hand to
 * hand: every git process and every loop over files obeys it, those that are written tomorrow included.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { CutShort } from '../domain/run/cut-short.ts';

const current = new AsyncLocalStorage<AbortSignal>();

/** Does the work, and all that it calls, until the signal aborts. It then rejects with `CutShort` as soon as it can. */
export function until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return current.run(signal, work);
}

/** The signal of the work that is being done; null where nothing limits it. */
export function timeLimit(): AbortSignal | null {
  return current.getStore() ?? null;
}

/** Throws `CutShort` when the time is over. */
export function checkTime(): void {
  if (timeLimit()?.aborted) throw new CutShort();
}

/** Bytes that are read and hashed in about the time in which one entry of a folder is looked at. */
const BYTES_OF_A_STEP = 64 * 1024;

/** Steps between two breaths: some milliseconds. */
const BREATH = 200;

/** Makes room in a long loop for signals, timers and the network, and ends the loop when its time is over. */
export class Breath {
  #steps = 0;

  /** After this much of the loop: entries that were looked at, and bytes that were read. */
  async after(entries: number, bytes = 0): Promise<void> {
    this.#steps += entries + bytes / BYTES_OF_A_STEP;
    if (this.#steps < BREATH) return;
    this.#steps = 0;
    await setImmediate();
    checkTime();
  }
}
