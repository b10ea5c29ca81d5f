/** What commands may use of this machine, and what enforces it. */

import { release, totalmem } from 'node:os';
import { constrainedMemory, getuid } from 'node:process';
import {
  type CommandLimits,
  DEFAULT_COMMAND_LIMITS,
  type EnforcedLimits,
} from '../../../domain/run/limits.ts';

const MAX_OPEN_FILES = 4096;

/**
 * `contained`: the commands of one sandbox are alone in their user namespace. `numbered`: their pid namespace has no more process
 * numbers than `processNumbers` says.
 */
export function enforcedLimits(
  { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes }: CommandLimits = DEFAULT_COMMAND_LIMITS,
  contained: boolean,
  numbered = false,
): EnforcedLimits {
  const kernelCounts = numbered || (contained && isSince(5014) && getuid?.() !== 0);
  return {
    processes: { limit: maxProcesses, keptBy: kernelCounts ? 'kernel' : 'watch' },
    memoryBytes: { limit: maxMemoryBytes ?? Math.floor(memoryOfMachine() * 0.75), keptBy: 'watch' },
    fileBytes: { limit: maxFileBytes, keptBy: 'kernel' },
    openFiles: { limit: MAX_OPEN_FILES, keptBy: 'kernel' },
    diskBytes: { limit: maxDiskBytes, keptBy: 'watch' },
  };
}

/** The same limits as numbers, in bytes for files; null for what is watched. */
export function kernelLimits({ processes, fileBytes, openFiles }: EnforcedLimits) {
  return {
    fileBytes: Math.max(512, fileBytes.limit),
    openFiles: openFiles.limit,
    processes: processes.keptBy === 'kernel' ? processes.limit + HEADROOM : null,
  };
}

/**
 * The kernel's bound is this much above the limit, so that the watch finds and ends a command that exceeds the limit: at the
 * bound, a fork bomb would only keep trying. It is also the number of process ids that the kernel assigns only once
 * (RESERVED_PIDS in kernel/pid.c).
 */
const HEADROOM = 300;
/** PID_MAX_LIMIT of include/linux/threads.h. */
const MOST_NUMBERS = 4 * 1024 * 1024;

/**
 * How many process numbers the pid namespace of one command has, which binds root as well. Null before Linux 6.14, where pid_max is
 * that of the whole machine and must never be written.
 */
export function processNumbers({ processes }: EnforcedLimits, kernel = release()): number | null {
  return isSince(6014, kernel) ? Math.min(processes.limit + HEADROOM, MOST_NUMBERS) : null;
}

/** Since Linux 5.14 RLIMIT_NPROC counts per user namespace. It has never limited the machine's root. `version`: 5014 is 5.14. */
function isSince(version: number, kernel = release()): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major * 1000 + minor >= version;
}

/** In bytes; a container's limit if that is less than what the machine has. */
function memoryOfMachine(): number {
  const allowed = constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}
