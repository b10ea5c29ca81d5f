/** How much the processes of a command use, according to /proc. */

import { entriesOf, readText } from '../host-files.ts';
import { descendantsOf, type ProcessId } from './process-table.ts';

/** What a command's processes use of the machine at one moment. */
export interface ResourceUsage {
  /** Number of processes and their threads. */
  readonly tasks: number;
  /** Bytes of memory that belong to them alone. */
  readonly ownBytes: number;
}

/** Of a process and everything that descends from it; null if it is gone. Above `enough` processes, their memory is not looked at. */
export function usageOf(process: ProcessId, enough: number): ResourceUsage | null {
  const pids = descendantsOf(process);
  if (pids.length === 0) return null;
  // Each is at least one task, and reading the usage of thousands would take too long.
  if (pids.length > enough) return { tasks: pids.length, ownBytes: 0 };
  let tasks = 0;
  let ownKb = 0;
  for (const pid of pids) {
    const status = statusOf(`/proc/${pid}`);
    tasks += figureIn(status, 'Threads');
    ownKb += figureIn(status, 'RssAnon') + figureIn(status, 'VmSwap');
  }
  return { tasks, ownBytes: ownKb * 1024 };
}

/** A main thread that has ended no longer shows the memory that its other threads still hold. */
function statusOf(process: string): string {
  const status = readText(`${process}/status`) ?? '';
  if (status.includes('RssAnon') || figureIn(status, 'Threads') < 2) return status;
  return `${statusOfThread(process)}\n${status}`;
}

/** The status of the first thread that shows memory. */
function statusOfThread(process: string): string {
  for (const { name } of entriesOf(`${process}/task`) ?? []) {
    const status = readText(`${process}/task/${name}/status`) ?? '';
    if (status.includes('RssAnon')) return status;
  }
  return '';
}

function figureIn(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}
