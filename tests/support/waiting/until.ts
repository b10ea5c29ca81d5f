import { setTimeout as wait } from 'node:timers/promises';
import { PATIENCE_MS } from './patience.ts';

/** Waits until something is so; fails loudly when it never is. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`It never came to this: ${what}`);
    await wait(10);
  }
}
