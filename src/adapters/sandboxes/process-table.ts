/** Reads /proc: which processes there are, who started them, and whether one is still the same one. */

import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from './host-files.ts';

/** A process, told apart from a later one with the same number by its start time (clock ticks since boot). */
export interface ProcessId {
  readonly pid: number;
  readonly startTime: string;
}

/** Null when there is no such process, or only its exit status is left. */
export function identify(pid: number): ProcessId | null {
  const stat = statOf(pid);
  return stat === null || stat.ended ? null : { pid, startTime: stat.startTime };
}

function isAlive(process: ProcessId): boolean {
  return identify(process.pid)?.startTime === process.startTime;
}

/** Kills this very process, never a later one with its number. */
export function killProcess(process: ProcessId): void {
  if (isAlive(process)) killNow(process.pid);
}

/** Throws when the process is still there after `deadlineMs`: the machine is broken. */
export async function waitUntilGone(process: ProcessId, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = 1; isAlive(process); pauseMs = Math.min(pauseMs * 2, 50)) {
    if (performance.now() > deadline) throw new Error(`Process ${process.pid} survives SIGKILL.`);
    await sleep(pauseMs);
  }
}

/** A process may start another between the look and the kill; a tree that grows faster than this is given up. */
const SWEEPS = 50;

/** Kills all processes whose environment holds `entry`, and everything that descends from them. */
export async function killMarked(entry: string): Promise<void> {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const left = await processesMarked(entry);
    if (left.length === 0) return;
    for (const pid of left) killNow(pid);
    await sleep(2);
  }
}

/** Sends SIGKILL to a process, or to a group when `pid` is negative. One that is gone or not ours is left alone. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/**
 * Living processes whose environment holds `entry` (`NAME=value`), and everything that descends from them. Older ones come
 * first: killed in this order, a shell has no time to report the death of its child.
 */
export function processesMarked(entry: string): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const marked = new Set<number>();
  const children = new Map<number, number[]>();
  for (const pid of pids) {
    const stat = statOf(pid);
    if (stat === null || stat.ended) continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
    const environ = textOf(`/proc/${pid}/environ`);
    if (environ?.split('\0').includes(entry)) marked.add(pid);
  }
  // A set is iterated in order of insertion, entries added on the way included.
  for (const pid of marked) for (const child of children.get(pid) ?? []) marked.add(child);
  return [...marked].sort((a, b) => a - b);
}

/** Null when the process ends meanwhile or belongs to somebody else. */
function statOf(pid: number): { ended: boolean; parent: number; startTime: string } | null {
  const text = textOf(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The second field is the program's name in brackets and may hold anything, brackets and blanks included.
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTime = rest[17];
  if (state === undefined || parent === undefined || startTime === undefined) return null;
  return { ended: state === 'Z' || state === 'X', parent: Number(parent), startTime };
}
