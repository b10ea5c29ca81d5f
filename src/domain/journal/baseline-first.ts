/** A run's events as if its baseline had been known at once, for readers that start with it. */

import type { BaseRevision, RunEvents } from '../run/events.ts';
import { isTaken } from './base.ts';

/** Null for a run that ended before its baseline had been taken. */
export function baselineFirst([start, ...rest]: RunEvents): { base: BaseRevision; events: RunEvents } | null {
  if (isTaken(start.base)) return { base: start.base, events: [start, ...rest] };
  const taken = rest.find((event) => event.type === 'baseline.taken');
  if (taken === undefined) return null;
  const { base } = taken;
  const others = rest.filter((event) => event !== taken && event.type !== 'baseline.noted');
  return { base, events: [{ ...start, base }, ...others] };
}
