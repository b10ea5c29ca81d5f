/** The processes of the machine: those of a test are told by an argument that nobody else has. */

import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** The living processes, but for this one, whose command line holds `text`. */
export const processesWith = (text: string): number[] => [...commandLinesWith(text).keys()];

/** Their command lines, by their numbers. */
export function commandLinesWith(text: string): Map<number, string> {
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return new Map(
    others
      .map((pid) => [Number(pid), readIfThere(`/proc/${pid}/cmdline`)] as const)
      .filter(([, line]) => line.includes(text)),
  );
}

/**
 * Processes that have a mount of this folder of their own, as those of a sandbox have. Every thread is looked at: one whose
 * main thread has ended shows as a zombie without mounts.
 */
export function processesSeeing(folder: string): string[] {
  const threads = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => entriesIfThere(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`));
  return threads.filter((thread) => readIfThere(`${thread}/mountinfo`).includes(` ${folder} `));
}

/** A program with exactly this argument is running. */
export const isRunning = (argument: string): boolean => processesWith(`\0${argument}\0`).length > 0;

/** Empty for a file of a process that has ended, or that may not be looked at. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (GONE.includes(codeOf(error))) return '';
    throw error;
  }
}

function entriesIfThere(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (GONE.includes(codeOf(error))) return [];
    throw error;
  }
}

/** EINVAL is what /proc answers about a process that has only its exit status left. */
const GONE = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL'];

/** Signals a process that may have ended meanwhile. Throws for 0 and less, which would signal the tests themselves. */
export function killIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid <= 0) throw new Error(`${pid} is not a process`);
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** A number of seconds to sleep that no other process of the machine sleeps. */
export const oddSeconds = (): string => String(randomInt(1e9, 2e9));

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
