/** Reads /proc: which processes exist, who started them, and whether one is still the same. */

import { readdirSync } from 'node:fs';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf, readText } from '../host-files.ts';

/** A process, told apart from a later one with the same number by its start time (clock ticks since boot). */
export interface ProcessId {
  readonly pid: number;
  readonly startTime: string;
}

/** Null if there is no such process, or it is a zombie. */
export function identify(pid: number): ProcessId | null {
  const stat = statOf(`${pid}`);
  return stat === null || (stat.ended && !hasLivingThread(pid)) ? null : { pid, startTime: stat.startTime };
}

/** Whether any thread of exactly this process runs. */
export function isAlive(process: ProcessId): boolean {
  return identify(process.pid)?.startTime === process.startTime;
}

/** A process appears as a zombie once its main thread has ended, even if others go on. */
function hasLivingThread(pid: number): boolean {
  const threads = entriesOf(`/proc/${pid}/task`) ?? [];
  return threads.some(({ name }) => statOf(`${pid}/task/${name}`)?.ended === false);
}

/** Kills exactly this process, never a later one with its number. One that is gone or not ours is left alone. */
export function killProcess(process: ProcessId): void {
  if (!isAlive(process)) return;
  try {
    kill(process.pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/**
 * Works even if nothing reaps it, as in a container without an init. Throws if the process still exists after `deadlineMs`:
 * the machine is broken.
 */
export async function waitUntilGone(process: ProcessId, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = 1; isAlive(process); pauseMs = Math.min(pauseMs * 2, 50)) {
    if (performance.now() > deadline) throw new Error(`Process ${process.pid} survives SIGKILL.`);
    await sleep(pauseMs);
  }
}

/** The process and all its descendants, zombies included; empty if it is gone. */
export function descendantsOf(process: ProcessId): number[] {
  if (!isAlive(process)) return [];
  const children = new Map<number, number[]>();
  for (const pid of allProcesses()) {
    const parent = statOf(`${pid}`)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  // A set is iterated in order of insertion, entries added on the way included.
  const family = new Set([process.pid]);
  for (const pid of family) for (const child of children.get(pid) ?? []) family.add(child);
  return [...family];
}

/**
 * Kills the descendants of a process, and not the process. Numbers are reused quickly while a fork bomb runs, so each is
 * compared by its start time once more.
 */
export function killDescendants(process: ProcessId): void {
  const found = descendantsOf(process)
    .filter((pid) => pid !== process.pid)
    .map((pid) => ({ pid, stat: statOf(`${pid}`) }));
  // A number that was reused in the meantime has another parent, which is not one of these.
  const family = new Set([process.pid, ...found.map(({ pid }) => pid)]);
  for (const { pid, stat } of found)
    if (stat !== null && family.has(stat.parent)) killProcess({ pid, startTime: stat.startTime });
}

function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** `place` is below /proc. Null if the process or thread ends in the meantime or belongs to someone else. */
function statOf(place: string): { ended: boolean; parent: number; startTime: string } | null {
  const text = readText(`/proc/${place}/stat`);
  if (text === null) return null;
  // The second field is the program's name in brackets and may contain anything, including brackets and blanks.
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTime = rest[17];
  if (state === undefined || parent === undefined || startTime === undefined) return null;
  return { ended: state === 'Z' || state === 'X', parent: Number(parent), startTime };
}
