/**
 * The library: what `patchsmith run` does, for your own program. It takes the settings by the names of the flags,
 * reads the environment and the project file like the command line, and ends with the same result.
 */

import { Readable, Writable } from 'node:stream';
import { PROVIDERS } from './adapters/providers/registry.ts';
import { readRunInputs } from './commands/inputs.ts';
import type { Environment } from './domain/environment.ts';
import type { RunEvent } from './domain/run/events.ts';
import type { Interruption } from './domain/run/limits.ts';
import { refusedFor, usageError } from './domain/run/outcome.ts';
import type { RunResult } from './domain/run/result.ts';
import { runTask } from './engine/attempts/run-task.ts';
import { refusedResult } from './engine/finish/empty-result.ts';
import { ownProvider, ownTool, whyNotTools, whyTakenByServer } from './engine/own-parts.ts';
import type { RunInput } from './engine/run-input.ts';
import { besideOthers } from './files/time-limit.ts';
import type { HostContext } from './host/context.ts';
import { monotonicNow, VERSION } from './host/process.ts';
import type { LlmProvider, Tool } from './ports.ts';

export type { RunEvent } from './domain/run/events.ts';
export type { RunResult } from './domain/run/result.ts';
export type { Workspace } from './ports/workspace.ts';
export type {
  LlmProvider,
  Sandbox,
  SeenFiles,
  Tool,
  ToolContext,
  ToolResult,
  TurnRequest,
} from './ports.ts';
export { failedCall, said } from './tools/result.ts';

/** The value of a setting, as for a flag or in the project file. */
export type SettingValue = string | number | boolean | readonly string[];

/** What a run has to do, and with which settings. */
export interface RunOptions {
  /**
   * Settings by the names of their flags, in camel case: `{ message: 'Fix the typo', maxCostUsd: 2, allow: ['src/**'] }`.
   * docs/settings.md lists them. Those that only print something (`quiet`, `verbose`, `output`) have no effect.
   */
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** Absolute path of the folder to which paths are relative. Default: the process's current folder. */
  readonly cwd?: string;
  /** Environment variables, such as the key of the provider. Default: those of the process, which keeps them. */
  readonly env?: Environment;
  /** Ends the run as SIGTERM does: what was done so far is in the result. */
  readonly signal?: AbortSignal;
  /**
   * Your own tools, which the model gets in addition to the built-in ones. Such a run cannot be resumed or replayed.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each tool has an input of its own, which its schema has checked
  readonly tools?: readonly Tool<any>[];
  /** Answers instead of a model. Such a run needs no key, and cannot be resumed. */
  readonly provider?: LlmProvider;
  /** Gets the lines that the command line prints on stderr. Default: they are dropped. */
  readonly progress?: (text: string) => void;
}

/** A run in progress: its events as they happen, for one reader, and its result. */
export interface Run extends AsyncIterable<RunEvent> {
  /** Never rejects because of settings, plan or machine: the outcome reports such problems. */
  readonly result: Promise<RunResult>;
}

/** Returns the same tool. Its purpose is typing: the parameter of `execute` gets its type from the schema. */
export function defineTool<Input>(tool: Tool<Input>): Tool<Input> {
  return tool;
}

/**
 * Carries out a plan. Starts at once; `result` resolves whether or not anyone reads the events. Secrets are redacted
 * in both.
 */
export function run(options: RunOptions): Run {
  // Keeps events until they are read.
  const events = new Readable({ objectMode: true, read() {} });
  const result = besideOthers(() => carryOut(options, (event) => events.push(event))).finally(() =>
    events.push(null),
  );
  // A rejection must not end a program that reads only the events.
  result.catch(() => undefined);
  // A reader that stops may go on later.
  return { result, [Symbol.asyncIterator]: () => events.iterator({ destroyOnReturn: false }) };
}

async function carryOut(options: RunOptions, onEvent: (event: RunEvent) => void): Promise<RunResult> {
  const { settings, tools = [], provider } = options;
  let result: RunResult | null = null;
  const own = whyNotTools(tools);
  if (own !== null) return refusedResult(usageError('ERR_LIBRARY_TOOL', own), VERSION);
  const context = contextOf(options, (ended) => {
    result = ended;
  });
  const flags = Object.fromEntries(Object.entries(settings).map(([name, value]) => [kebab(name), value]));
  const inputs = await readRunInputs(
    context,
    provider === undefined ? flags : { ...flags, ...IN_PLACE_OF_A_MODEL },
    [],
  );
  if (inputs.status === 'refused') return refusedResult(refusedFor(inputs.problems), VERSION);
  const { input } = inputs;
  const taken = whyTakenByServer(tools, Object.keys(input.servers ?? {}));
  if (taken !== null) return refusedResult(usageError('ERR_LIBRARY_TOOL', taken), VERSION);
  if (input.settings.attempts > 1 && tools.length > 0)
    return refusedResult(usageError('ERR_SETTINGS_CONFLICT', OUTSIDE_OF_COPIES), VERSION);
  const outcome = await runTask({
    ...input,
    settings: { ...input.settings, output: 'none', quiet: options.progress === undefined },
    onEvent,
    ...(tools.length === 0 ? {} : { ownTools: tools.map(ownTool) }),
    ...(provider === undefined ? {} : onlyProvider(provider)),
  });
  return result ?? refusedResult(outcome, VERSION);
}

const OUTSIDE_OF_COPIES =
  'attempts and tools: a tool of the program acts outside of the copies, once for each attempt';

/** A run with another model needs no key: it is opened like one that plays a recording. */
const IN_PLACE_OF_A_MODEL = { provider: 'replay', recording: '-' };

function onlyProvider(provider: LlmProvider): Pick<RunInput, 'providers'> {
  const { replay } = PROVIDERS;
  if (replay === undefined) throw new Error('There is no entry for recordings.');
  return { providers: { ...PROVIDERS, replay: { ...replay, create: async () => ownProvider(provider) } } };
}

function contextOf(options: RunOptions, onResult: (result: RunResult) => void): HostContext {
  const { cwd = process.cwd(), env = process.env, signal, progress = () => {} } = options;
  const interrupt = new AbortController();
  const stop = () => interrupt.abort({ cause: 'signal', signal: 'SIGTERM' } satisfies Interruption);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    env: { ...env },
    // The program's own environment stays as it is.
    secretsInProc: true,
    cwd,
    stdin: Readable.from([]),
    stdout: writing(() => {}),
    stderr: writing(progress),
    interrupt: interrupt.signal,
    now: monotonicNow,
    version: VERSION,
    hide() {},
    redact: (text) => text,
    watcher: { onStart() {}, onDirectory() {}, onResult },
  };
}

function writing(take: (text: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk.toString('utf8'));
      done();
    },
  });
}

/** `maxCostUsd` as the flag has it: `max-cost-usd`. */
function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
