/** What commands may take of the machine. */

import * as z from 'zod';

/** What the settings say. */
export interface CommandLimits {
  /** Processes and threads of one command. */
  readonly maxProcesses: number;
  /** Memory of all commands that run at a time; null for three quarters of the machine's. */
  readonly maxMemoryBytes: number | null;
  /** One file that a command writes. */
  readonly maxFileBytes: number;
  /** What free space may shrink by during the run, on the disks that commands write to. */
  readonly maxDiskBytes: number;
}

const GIBIBYTE = 1024 ** 3;

/** The limits of commands where the settings name none. */
export const DEFAULT_COMMAND_LIMITS: CommandLimits = {
  maxProcesses: 1024,
  maxMemoryBytes: null,
  maxFileBytes: GIBIBYTE,
  maxDiskBytes: 10 * GIBIBYTE,
};

/**
 * `kernel`: nothing gets past it. `watch`: the runner looks four times a second and kills the command that is over it, so
 * that for a moment there can be more.
 */
const Limit = z.strictObject({ limit: z.int().nonnegative(), keptBy: z.enum(['kernel', 'watch']) });

/** What is enforced, as the result tells it. */
export const EnforcedLimits = z.strictObject({
  processes: Limit.describe('Processes and threads of one command'),
  memoryBytes: Limit.describe('All commands that run at a time, together'),
  fileBytes: Limit.describe('One file that a command writes'),
  openFiles: Limit.describe('Open files of one process'),
  diskBytes: Limit.describe('What free space may shrink by during the run'),
});
export type EnforcedLimits = z.infer<typeof EnforcedLimits>;
