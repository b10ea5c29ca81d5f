/** Records the writes to ignored paths that only their final scan shows. */

import type { CodeChange, FileState, FoundChange } from '../domain/changes/change.ts';
import { toCodeChanges } from '../domain/changes/change.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { IgnoredWrites } from '../ports/workspace.ts';

/**
 * The events for writes that are not in the history yet: one for the run's own, and one for those from outside. The last known
 * state of a path is its state before the write.
 */
export function ignoredRecorded(
  { found, leftOut }: IgnoredWrites,
  history: readonly CodeChange[],
  iteration: number,
): RunAction[] {
  const last = lastStates(history);
  const own: CodeChange[] = [];
  const outside: CodeChange[] = [];
  for (const { change, by } of found) {
    const known = last.get(change.path);
    if (known && known.blob === change.after?.blob && known.mode === change.after.mode) continue;
    const whole: FoundChange = known ? { ...change, before: known, kind: 'modify' } : change;
    if (by === 'outside') outside.push(...toCodeChanges([whole], { by: 'outside' }, iteration));
    else own.push(...toCodeChanges([whole], by.source, by.iteration));
  }
  return [...recorded(own, leftOut.own), ...recorded(outside, leftOut.outside)];
}

function recorded(changes: CodeChange[], leftOut: number): RunAction[] {
  if (changes.length === 0) return [];
  return [{ type: 'change.recorded', changes, ...(leftOut > 0 ? { leftOut } : {}) }];
}

function lastStates(history: readonly CodeChange[]): Map<string, FileState | null> {
  const last = new Map<string, FileState | null>();
  for (const { path, from, after, excluded } of history) {
    if (excluded === 'put_back') continue;
    if (from !== undefined) last.set(from, null);
    last.set(path, after);
  }
  return last;
}
