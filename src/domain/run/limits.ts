/** The limits of a run and of its commands, and the reasons it can end. */

import * as z from 'zod';
import { StopSignal } from './exit-code.ts';

/** What the settings say of commands. */
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

/** Bytes are sizes of the files in the work tree, whatever they take on disk. */
export interface ChangeLimits {
  /** Maximum number of files a run may change. */
  readonly maxChangedFiles: number;
  /** Maximum bytes of changed files that a run records, counting every version of a file. */
  readonly maxChangedBytes: number;
  /** Maximum bytes of a single one. */
  readonly maxChangedFileBytes: number;
  /** How much free disk space may shrink where the runner keeps contents. */
  readonly maxDiskBytes: number;
}

const MEBIBYTE = 1024 ** 2;

/** The change limits used when the settings give none. */
export const DEFAULT_CHANGE_LIMITS: ChangeLimits = {
  maxChangedFiles: 20_000,
  maxChangedBytes: 256 * MEBIBYTE,
  maxChangedFileBytes: 100 * MEBIBYTE,
  maxDiskBytes: DEFAULT_COMMAND_LIMITS.maxDiskBytes,
};

/** Number of entries of one folder that the runner always examines. */
const MIN_FOLDER_ENTRIES = 100_000;

/** Maximum number of entries in one folder. A run that may change more files may also have larger folders. */
export function maxFolderEntries({ maxChangedFiles }: ChangeLimits): number {
  return Math.max(MIN_FOLDER_ENTRIES, 5 * maxChangedFiles);
}

/** A limit that changes have reached, with its value and what they would have needed: files, bytes or entries. */
export const ExceededChangeLimit = z.strictObject({
  limit: z.enum(['changed_files', 'changed_bytes', 'changed_file_bytes', 'disk_bytes', 'folder_entries']),
  value: z.number(),
  used: z.number(),
  /**
   * For `folder_entries`: the folder, `''` for the root. The entries are not all counted, so `used` is one over the limit.
   */
  folder: z.string().optional(),
});
export type ExceededChangeLimit = z.infer<typeof ExceededChangeLimit>;

/** Null is "no limit". */
export const Limits = z.strictObject({
  maxIterations: z.int().positive(),
  /** For the whole run: input, output and cached tokens together. */
  maxTotalTokens: z.int().positive().nullable(),
  maxCostUsd: z.number().positive().nullable(),
  deadlineMs: z.int().positive(),
  fixRounds: z.int().nonnegative(),
  maxChangedFiles: z.int().positive(),
  /** Maximum bytes of changed files that are recorded, in total and per file. */
  maxChangedBytes: z.int().positive(),
  maxChangedFileBytes: z.int().positive(),
});
export type Limits = z.infer<typeof Limits>;

/** The version of the journal's format. Readers refuse any other. */
export const JOURNAL_VERSION = 1;

/** Why a provider could not answer, by class. */
export const ProviderFailureKind = z.enum([
  'authentication',
  'billing',
  'permission',
  'not_found',
  'invalid_request',
  'too_large',
  'rate_limit',
  'outage',
  'stream',
  'recording',
]);
export type ProviderFailureKind = z.infer<typeof ProviderFailureKind>;

/** What stops a run from outside. */
export const Interruption = z.discriminatedUnion('cause', [
  z.strictObject({ cause: z.literal('signal'), signal: StopSignal }),
  z.strictObject({ cause: z.literal('deadline') }),
]);
export type Interruption = z.infer<typeof Interruption>;

/** Why the loop ended. Numbers are in the unit of the limit: turns, tokens, USD, milliseconds, files, bytes, entries. */
export const StopReason = z.discriminatedUnion('why', [
  z.strictObject({ why: z.literal('completed'), summary: z.string() }),
  z.strictObject({ why: z.literal('verify_failed'), commands: z.array(z.string()) }),
  z.strictObject({
    why: z.literal('blocked'),
    by: z.enum(['model', 'refusal', 'stall']),
    reason: z.string(),
  }),
  z.strictObject({
    why: z.literal('limit'),
    limit: z.enum([
      ...(['iterations', 'tokens', 'cost_usd', 'output_tokens', 'context_window'] as const),
      ...ExceededChangeLimit.shape.limit.options,
    ]),
    value: z.number(),
    used: z.number(),
    /** Of tokens and cost: what the next request could have come to, so that it was not made. */
    needed: z.number().exactOptional(),
    folder: ExceededChangeLimit.shape.folder,
  }),
  z.strictObject({
    why: z.literal('deadline'),
    valueMs: z.number(),
    usedMs: z.number(),
    /** What the run was waiting for, as the end of a sentence; absent if it was nothing in particular. */
    awaited: z.string().exactOptional(),
  }),
  z.strictObject({ why: z.literal('interrupted'), signal: StopSignal }),
  /** A command before the work failed. `reason` is a sentence for people. */
  z.strictObject({ why: z.literal('unready'), reason: z.string() }),
  z.strictObject({ why: z.literal('provider'), kind: ProviderFailureKind, message: z.string() }),
]);
export type StopReason = z.infer<typeof StopReason>;
