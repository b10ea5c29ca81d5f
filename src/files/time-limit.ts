/**
 * Limits how long the runner's own work on files may take. The signal that ends it follows the call implicitly instead of
 * being passed around: every git process and every loop over files obeys it, including future ones.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { CutShort } from '../domain/run/cut-short.ts';

const current = new AsyncLocalStorage<AbortSignal>();

/**
 * Does the work, including everything it calls, until the signal aborts. It then rejects with `CutShort` as soon as it can.
 */
export function until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return current.run(signal, work);
}

/** The signal of the current work; null if it has no limit. */
export function timeLimit(): AbortSignal | null {
  return current.getStore() ?? null;
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

  /** Call after this much of the loop: entries examined, and bytes read. */
  async after(entries: number, bytes = 0): Promise<void> {
    this.#steps += entries + bytes / BYTES_OF_A_STEP;
    if (this.#steps < BREATH) return;
    this.#steps = 0;
    await setImmediate();
    checkTime();
  }
}
