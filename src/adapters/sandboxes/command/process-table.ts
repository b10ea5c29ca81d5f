/** Reads /proc: which processes exist, who started them, and whether one is still the same. */

import { readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf, orMissing, readText } from '../host-files.ts';

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

/** Kills exactly this process, never a later one with its number. */
export function killProcess(process: ProcessId): void {
  if (isAlive(process)) killNow(process.pid);
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

/** A process may start another between the scan and the signal; we give up on a tree that grows faster than this. */
const SWEEPS = 50;

/**
 * Kills all processes whose environment contains `entry`, and all their descendants. They are stopped first: only scans
 * limited to new processes are fast enough to catch up with a tree that keeps growing.
 */
export async function killMarked(entry: string): Promise<void> {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const family = new Family(entry);
    let found = family.newMembers();
    if (found.length === 0) return;
    for (let look = 0; look < SWEEPS && found.length > 0; look++) {
      for (const pid of found) signalNow(pid, 'SIGSTOP');
      found = family.newMembers();
    }
    for (const pid of family.members()) killNow(pid);
    await sleep(2);
  }
}

/** Sends SIGKILL to a process, or to a group when `pid` is negative. One that is gone or not ours is left alone. */
export function killNow(pid: number): void {
  signalNow(pid, 'SIGKILL');
}

/**
 * Starts a process that, with all its descendants, is the kernel's first choice when memory runs out. A child inherits its
 * parent's score, and setting it later would miss what the child has already started: so for this moment we take on the
 * score ourselves.
 */
export function asFirstVictim<T>(start: () => T): T {
  const ours = readText(OOM_SCORE);
  if (ours === null) return start();
  orMissing(() => writeFileSync(OOM_SCORE, '1000'));
  try {
    return start();
  } finally {
    orMissing(() => writeFileSync(OOM_SCORE, ours));
  }
}

const OOM_SCORE = '/proc/self/oom_score_adj';

function signalNow(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Living processes whose environment contains `entry` (`NAME=value`), and all their descendants. */
export function processesMarked(entry: string): number[] {
  return new Family(entry).newMembers();
}

class Family {
  readonly #entry: string;
  readonly #known = new Set<number>();
  readonly #members = new Set<number>();

  constructor(entry: string) {
    this.#entry = entry;
  }

  /** Oldest first: killed in this order, a shell has no time to report the death of its child. */
  members(): number[] {
    return [...this.#members].sort((a, b) => a - b);
  }

  /** Members that appeared since the last call; those already seen are not examined again. */
  newMembers(): number[] {
    const children = new Map<number, number[]>();
    const found = new Set<number>();
    for (const pid of allProcesses()) {
      if (this.#known.has(pid)) continue;
      const stat = statOf(`${pid}`);
      if (stat === null || (stat.ended && !hasLivingThread(pid))) continue;
      this.#known.add(pid);
      children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
      // Reading an environment waits for the locks of that process' memory, which a fork bomb holds for a long time.
      if (this.#members.has(stat.parent) || this.#isMarked(pid)) found.add(pid);
    }
    // A set is iterated in order of insertion, entries added on the way included.
    for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
    for (const pid of found) this.#members.add(pid);
    return [...found].sort((a, b) => a - b);
  }

  #isMarked(pid: number): boolean {
    return readText(`/proc/${pid}/environ`)?.split('\0').includes(this.#entry) ?? false;
  }
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
