/** What commands may use of this machine, and what enforces it. */

import { release, totalmem } from 'node:os';
import { constrainedMemory, getuid } from 'node:process';
import {
  type CommandLimits,
  DEFAULT_COMMAND_LIMITS,
  type EnforcedLimits,
} from '../../../domain/run/command-limits.ts';

const MAX_OPEN_FILES = 4096;

/** `contained`: the commands of one sandbox are alone in their user namespace. */
export function enforcedLimits(
  { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes }: CommandLimits = DEFAULT_COMMAND_LIMITS,
  contained: boolean,
): EnforcedLimits {
  const kernelCounts = contained && countsInNamespace(release()) && getuid?.() !== 0;
  return {
    processes: { limit: maxProcesses, keptBy: kernelCounts ? 'kernel' : 'watch' },
    memoryBytes: { limit: maxMemoryBytes ?? Math.floor(memoryOfMachine() * 0.75), keptBy: 'watch' },
    fileBytes: { limit: maxFileBytes, keptBy: 'kernel' },
    openFiles: { limit: MAX_OPEN_FILES, keptBy: 'kernel' },
    diskBytes: { limit: maxDiskBytes, keptBy: 'watch' },
  };
}

/**
 * Shell text that sets the limits the kernel can enforce; whatever a command starts inherits them and cannot raise them.
 * Bourne shells count file sizes in blocks of 512 bytes. A limit that is already lower is kept.
 */
export function limitingScript({ processes, fileBytes, openFiles }: EnforcedLimits): string {
  const count = processes.limit;
  return [
    'ulimit -c 0',
    `ulimit -f ${Math.max(1, Math.floor(fileBytes.limit / 512))}`,
    `ulimit -n ${openFiles.limit}`,
    // Outside a user namespace the kernel would count every process of the user, including a browser's hundred threads.
    ...(processes.keptBy === 'kernel' ? [`ulimit -u ${count} || ulimit -p ${count}`] : []),
  ]
    .map((line) => `{ ${line}; } 2> /dev/null`)
    .join('; ');
}

/** Since Linux 5.14 RLIMIT_NPROC counts per user namespace. It has never limited the machine's root. */
function countsInNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major * 1000 + minor >= 5014;
}

/** In bytes; a container's limit if that is less than what the machine has. */
function memoryOfMachine(): number {
  const allowed = constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}
