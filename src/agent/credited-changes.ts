/** Credits what a capture found to its author: a file that a rule hid was written before the capture that shows it. */

import {
  type ChangeSource,
  type CodeChange,
  type PathChange,
  toCodeChanges,
  type Writer,
} from '../domain/changes/change.ts';
import { changesRecorded } from '../domain/journal/change-events.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { Workspace } from '../ports/workspace.ts';

/**
 * The events that record these changes as made by `source`, except for files that have just come into view and that something
 * else wrote. Changes from outside come first, as when they are found before a call.
 */
export function creditedChanges(
  { writerOf }: Pick<Workspace, 'writerOf'>,
  found: readonly PathChange[],
  source: ChangeSource,
  iteration: number,
): RunAction[] {
  const outside: PathChange[] = [];
  const own: PathChange[] = [];
  const earlier: CodeChange[] = [];
  for (const change of found) {
    const writer = writerOf(change.path);
    if (writer === null || isSame(writer, { source, iteration })) own.push(change);
    else if (writer === 'outside') outside.push(change);
    else earlier.push(...toCodeChanges([change], writer.source, writer.iteration));
  }
  const changes = [...earlier, ...toCodeChanges(own, source, iteration)];
  return [
    ...changesRecorded(outside, { by: 'outside' }, iteration),
    ...(changes.length > 0 ? [{ type: 'change.recorded' as const, changes }] : []),
  ];
}

/** Its own new files stay together, since a renamed one is two changes. */
function isSame(a: Writer | 'outside', b: Writer): boolean {
  return a !== 'outside' && JSON.stringify(a) === JSON.stringify(b);
}
