/** The outcomes of tool calls. */

import * as z from 'zod';
import { Image } from '../images/image.ts';
import { oneLine } from '../text/terminal.ts';

/**
 * Why a call failed. The model reads the message; the reason is for the journal and the report. `interrupted`: the run was
 * stopped or killed during the call. `server`: the server of the tool answered with an error, or is gone.
 */
export const FailureReason = z.enum([
  'unknown_tool',
  'invalid_input',
  'cut_off',
  'too_many_calls',
  'budget',
  'path_refused',
  'not_found',
  'not_text',
  'too_large',
  'no_match',
  'conflict',
  'exit_code',
  'timeout',
  'interrupted',
  'policy',
  'server',
  'crashed',
]);
export type FailureReason = z.infer<typeof FailureReason>;

/** A limit for which the runner kills a command: number of tasks, memory of all commands, or free space on a disk. */
export const ExceededLimit = z.enum(['processes', 'memory', 'disk']);
export type ExceededLimit = z.infer<typeof ExceededLimit>;

/** How a command ended. Exactly one of `exitCode` and `signal` is set, unless the runner killed it. */
export const CommandEnd = z.strictObject({
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  /** The run was stopped while the command ran. */
  interrupted: z.boolean(),
  /** The runner killed the command because it exceeded this limit on the machine's resources. */
  exceeded: ExceededLimit.optional(),
  durationMs: z.number().nonnegative(),
});
export type CommandEnd = z.infer<typeof CommandEnd>;

/** Lines of a command's whole output, including truncated parts, that say what was denied to it; absent if there are none. */
const Signs = z.array(z.string()).min(1).optional();

/** The result of a call as the model sees it. `text` is already truncated and never empty; `command` says how a command ended. */
export const ToolOutcome = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('ok'),
    text: z.string().min(1),
    command: CommandEnd.optional(),
    signs: Signs,
    /** What the model is shown besides the text, if anything. */
    images: z.array(Image).min(1).optional(),
  }),
  z.strictObject({
    status: z.literal('failed'),
    reason: FailureReason,
    text: z.string().min(1),
    command: CommandEnd.optional(),
    signs: Signs,
  }),
  z.strictObject({
    status: z.literal('finished'),
    verdict: z.enum(['done', 'blocked']),
    summary: z.string(),
    /** The requested answer, which matches the run's schema. Absent without a schema, and from a model that is blocked. */
    answer: z.json().optional(),
    text: z.string().min(1),
  }),
]);
export type ToolOutcome = z.infer<typeof ToolOutcome>;

/** True for a call that the end of the run cut short or prevented. */
export function wasInterrupted(outcome: ToolOutcome): boolean {
  if (outcome.status === 'finished') return false;
  const isSaid = outcome.status === 'failed' && outcome.reason === 'interrupted';
  return isSaid || outcome.command?.interrupted === true;
}

/**
 * Calls of one turn run in lanes: adjacent calls of the same lane run together, a change of lane is a barrier. Writes share
 * a lane only while their paths differ; `finish` is always alone.
 */
export type Lane = 'read' | 'write' | 'command' | 'finish';

/** The tools that patchsmith brings along, in the order in which the model is shown them, each with its lane. */
export const BUILT_IN_TOOLS = {
  read_file: 'read',
  write_file: 'write',
  edit_file: 'write',
  list_files: 'read',
  search: 'read',
  run_command: 'command',
  web_fetch: 'read',
  finish: 'finish',
} as const satisfies Readonly<Record<string, Lane>>;

/** Their names. */
export type BuiltInTool = keyof typeof BUILT_IN_TOOLS;

/** Those of them that a run can do without; only `finish` is always there. */
export const OPTIONAL_TOOLS: readonly string[] = Object.keys(BUILT_IN_TOOLS).filter(
  (name) => name !== 'finish',
);

/** The lane of a built-in tool; null for a tool of a server or of a program, which may do anything. */
export function laneOf(tool: string): Lane | null {
  return Object.hasOwn(BUILT_IN_TOOLS, tool) ? BUILT_IN_TOOLS[tool as BuiltInTool] : null;
}

/** Whether a command ended by itself with exit code 0. */
export function succeeded(end: CommandEnd): boolean {
  return end.exitCode === 0 && !end.timedOut && !end.interrupted;
}

/** How a command ended, without its duration, so that the model gets the same text in every run. */
export function describeEnd(end: CommandEnd): string {
  if (end.interrupted) return 'interrupted';
  if (end.timedOut) return 'timed out and was killed';
  if (end.exceeded !== undefined) return `killed: ${EXCEEDED[end.exceeded]}`;
  if (end.signal !== null) return `killed by ${end.signal}`;
  return `exit code ${end.exitCode ?? 'unknown'}`;
}

const EXCEEDED: Readonly<Record<ExceededLimit, string>> = {
  processes: 'more processes than --max-processes allows',
  memory: 'more memory than --max-memory allows, or than the machine has',
  disk: 'more disk space than --max-disk allows, or than there is',
};

/** The same for people: `exit code 1 after 0.3 s`. */
export function describeEndAndTime(end: CommandEnd): string {
  return `${describeEnd(end)} after ${(end.durationMs / 1000).toFixed(1)} s`;
}

/** Such as `read_file src/a.ts` or `run_command npm test`: the tool and what it applies to. */
export function describeCall(tool: string, input: unknown): string {
  if (typeof input !== 'object' || input === null) return oneLine(tool);
  const about = Object.entries(input).find(([key]) =>
    ['path', 'command', 'pattern', 'status'].includes(key),
  )?.[1];
  return oneLine(typeof about === 'string' && about !== '' ? `${tool} ${about}` : tool, 160);
}
