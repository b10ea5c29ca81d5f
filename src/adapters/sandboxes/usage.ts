/** How much the processes of a command take, as /proc tells it. */

import { entriesOf, textOf } from './host-files.ts';
import { descendantsOf, type ProcessId, processesMarked } from './process-table.ts';

export interface Usage {
  /** Processes and their threads. */
  readonly tasks: number;
  /** Bytes of memory that is theirs alone. */
  readonly ownBytes: number;
  /** Bytes of files in memory (tmpfs, memfd, shared memory) that they have mapped. */
  readonly mappedBytes: number;
}

/**
 * Everything in the pid namespace of `init`, whatever it does to hide: all of it descends from the init. Null when that is
 * gone. Stops at `enough` processes.
 */
export function usageInNamespace(init: ProcessId, enough: number): Usage | null {
  const pids = descendantsOf(init);
  return pids.length === 0 ? null : sum(pids, enough);
}

/** Everything that was started with `entry` in its environment. */
export function usageOfMarked(entry: string, enough: number): Usage {
  return sum(processesMarked(entry), enough);
}

/** Once there are more processes than `enough`, what they take does not matter. */
function sum(pids: readonly number[], enough: number): Usage {
  // Each is a task at least, and to read of thousands what they take would take too long.
  if (pids.length > enough) return { tasks: pids.length, ownBytes: 0, mappedBytes: 0 };
  let tasks = 0;
  let ownKb = 0;
  let mappedKb = 0;
  for (const pid of pids) {
    const status = statusOf(pid);
    tasks += figureIn(status, 'Threads');
    ownKb += figureIn(status, 'RssAnon') + figureIn(status, 'VmSwap');
    // Most often the same memory in all of them.
    mappedKb = Math.max(mappedKb, figureIn(status, 'RssShmem'));
  }
  return { tasks, ownBytes: ownKb * 1024, mappedBytes: mappedKb * 1024 };
}

/** A main thread that has ended shows no memory any more, which its other threads still hold. */
function statusOf(pid: number): string {
  const status = textOf(`/proc/${pid}/status`) ?? '';
  if (status.includes('RssAnon') || figureIn(status, 'Threads') < 2) return status;
  return `${statusOfThread(pid)}\n${status}`;
}

/** That of the first thread that shows memory. */
function statusOfThread(pid: number): string {
  for (const { name } of entriesOf(`/proc/${pid}/task`) ?? []) {
    const status = textOf(`/proc/${pid}/task/${name}/status`) ?? '';
    if (status.includes('RssAnon')) return status;
  }
  return '';
}

function figureIn(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}
