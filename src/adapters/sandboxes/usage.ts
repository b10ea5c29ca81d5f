/** How much the processes of a command take, as /proc tells it. */

import { entriesOf, textOf } from './host-files.ts';
import { identify, type ProcessId, processesMarked } from './process-table.ts';

export interface Usage {
  /** Processes and their threads. */
  readonly tasks: number;
  /** Bytes that would be free without them. */
  readonly memoryBytes: number;
}

/** Everything in the namespaces of `init`; null when it is gone. Reads that namespace's own /proc, which shows nothing else. */
export function usageInNamespace(init: ProcessId, enough: number): Usage | null {
  const folder = `/proc/${init.pid}/root/proc`;
  const pids = (entriesOf(folder) ?? []).flatMap(({ name }) => (/^\d+$/.test(name) ? [name] : []));
  const usage = sum(folder, pids, enough);
  // A later process with its number would have shown the whole machine.
  return identify(init.pid)?.startTime === init.startTime ? usage : null;
}

/** Everything that was started with `entry` in its environment. */
export function usageOfMarked(entry: string, enough: number): Usage {
  return sum('/proc', processesMarked(entry).map(String), enough);
}

/** Once there are more processes than `enough`, nobody needs to know what they take. */
function sum(folder: string, pids: readonly string[], enough: number): Usage {
  // Each is a task at least, and to read of thousands what they take would take too long.
  if (pids.length > enough) return { tasks: pids.length, memoryBytes: 0 };
  let tasks = 0;
  let own = 0;
  let shared = 0;
  for (const pid of pids) {
    const status = textOf(`${folder}/${pid}/status`) ?? '';
    const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    tasks += number('Threads');
    own += number('RssAnon') + number('VmSwap');
    // Most often the same memory in all of them.
    shared = Math.max(shared, number('RssShmem'));
  }
  return { tasks, memoryBytes: (own + shared) * 1024 };
}
