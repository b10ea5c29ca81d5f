/** Waiting with an end. */

import { setTimeout as sleep } from 'node:timers/promises';

/** What the promise gives, or null after `limitMs`. No timer is left behind. */
export async function orNullAfter<T>(limitMs: number, promise: Promise<T>): Promise<T | null> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, sleep(limitMs, null, { signal: settled.signal })]);
  } finally {
    settled.abort();
  }
}
