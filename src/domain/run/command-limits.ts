/** What commands may use of the machine. */

import * as z from 'zod';

/** What the settings say. */
export interface CommandLimits {
  /** Maximum number of processes and threads of one command. */
  readonly maxProcesses: number;
  /** Maximum memory of all commands running at the same time; null for three quarters of the machine's. */
  readonly maxMemoryBytes: number | null;
  /** Maximum size of one file that a command writes. */
  readonly maxFileBytes: number;
  /** How much free space may shrink during the run on the disks that commands write to. */
  readonly maxDiskBytes: number;
}

const GIBIBYTE = 1024 ** 3;

/** The command limits used when the settings give none. */
export const DEFAULT_COMMAND_LIMITS: CommandLimits = {
  maxProcesses: 1024,
  maxMemoryBytes: null,
  maxFileBytes: GIBIBYTE,
  maxDiskBytes: 10 * GIBIBYTE,
};

/**
 * `kernel`: cannot be exceeded, except for the number of processes, where the kernel's bound is 300 higher; a command over the
 * limit is then killed. `watch`: the runner checks four times a second and kills a command that is over the limit, so it can be
 * exceeded for a moment.
 */
const Limit = z.strictObject({ limit: z.int().nonnegative(), keptBy: z.enum(['kernel', 'watch']) });

/** What is enforced, as reported in the result. */
export const EnforcedLimits = z.strictObject({
  processes: Limit.describe('Processes and threads of one command'),
  memoryBytes: Limit.describe('All commands that run at a time, together'),
  fileBytes: Limit.describe('One file that a command writes'),
  openFiles: Limit.describe('Open files of one process'),
  diskBytes: Limit.describe('What free space may shrink by during the run'),
});
export type EnforcedLimits = z.infer<typeof EnforcedLimits>;
