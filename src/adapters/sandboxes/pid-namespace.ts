/** The processes of one sandboxed command, as the machine sees them: those of a pid namespace. */

import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf, linkOf } from './host-files.ts';
import { isAlive, killNow, killProcess, type ProcessId } from './process-table.ts';

export interface PidNamespace {
  /** Process 1 of the namespace, by its number outside. */
  readonly init: ProcessId;
  /** The number in `/proc/PID/ns/pid`; null where bubblewrap does not say it. */
  readonly inode: string | null;
}

/**
 * Kills whatever is left of a namespace. A dead init alone proves nothing: a main thread that has ended looks like a dead
 * process while its other threads run on. Throws when something is still there after `deadlineMs`: the machine is broken.
 */
export async function emptyNamespace({ init, inode }: PidNamespace, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    killProcess(init);
    const members = inode === null ? [] : membersOf(inode);
    for (const pid of members) killNow(pid);
    if (members.length === 0 && !isAlive(init)) return;
    if (performance.now() > deadline) {
      throw new Error(`Processes survive SIGKILL: ${[init.pid, ...members].join(', ')}.`);
    }
    await sleep(pauseMs);
  }
}

/** Processes whose namespace may be looked at. Whoever hides it from us cannot hide from its init's end. */
function membersOf(inode: string): number[] {
  return (entriesOf('/proc') ?? [])
    .filter(({ name }) => /^\d+$/.test(name) && linkOf(`/proc/${name}/ns/pid`) === `pid:[${inode}]`)
    .map(({ name }) => Number(name));
}
