/** What commands that carry out no plan share: their settings, the run they are about, how they print, and that a signal ends them. */

import { resolve } from 'node:path';
import { findLastRun, openRunDirectory } from '../adapters/storage/find-run.ts';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import { withoutKey } from '../config/provider-keys.ts';
import type { Settings } from '../config/schema.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { CutShort } from '../domain/errors/thrown.ts';
import type { StopSignal } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import {
  deadlineExceeded,
  internalError,
  interrupted,
  type RunOutcome,
  usageError,
} from '../domain/run/outcome.ts';
import { jsonDocument } from '../domain/text/terminal.ts';
import { sentence } from '../domain/text/words.ts';
import { until } from '../files/time-limit.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import { openInterrupt } from '../host/deadline.ts';
import type { ProcessParts } from '../host/process-parts.ts';
import { sayEnd, sayTo } from '../host/say.ts';
import { handed } from '../host/terminal.ts';
import type { Given } from './command.ts';
import { readSettings } from './inputs.ts';

/** The process as a command prints to it; keys are not in its environment. */
export interface OverRuns extends HostContext {
  /** JSON, for machines. */
  readonly json: boolean;
  /** Prints the document on stdout. Resolves with an outcome where it could not be written. */
  print(document: string): Promise<RunOutcome | null>;
  /** Prints one line for people. */
  say(line: string): void;
}

/** `OverRuns` for the flags of a command line. */
export function overRuns(
  context: HostContext,
  { flags, switches }: Pick<Given, 'flags' | 'switches'>,
): OverRuns {
  return {
    ...context,
    env: withoutKey(context.env),
    json: switches.has('json') || flags.output === 'json',
    print: (document) => handOver(context, document),
    say: sayTo(context),
  };
}

/** What a command works with. */
export interface Work extends OverRuns, Pick<Given, 'operands' | 'switches'> {
  readonly settings: Settings;
}

/**
 * Starts a command that needs valid settings and ends at a signal, and prints how it has ended. `context` still has the keys, which
 * `work` has not.
 */
export function working(
  carryOut: (work: Work, context: HostContext) => Promise<RunOutcome>,
): (context: HostContext, given: Given) => Promise<CommandOutcome> {
  return async (context, given) => {
    const read = readSettings(context, given.flags, given.problems);
    if (read.status === 'refused') return read;
    const { operands, switches } = given;
    const work = { ...overRuns(context, given), operands, switches, settings: read.settings };
    const done = await untilAborted(context.interrupt, () => carryOut(work, context));
    return sayEnd(context, 'status' in done ? done.outcome : done);
  };
}

/** The folder of the run that the first operand names, else of the last one, or the outcome of a command that finds none. */
export async function runOf(
  work: Work,
  find = openRunDirectory,
): Promise<{ status: 'ok'; directory: RunDirectory } | { status: 'failed'; outcome: RunOutcome }> {
  const named = await namedRun(work, work.operands[0], work.settings);
  const found = named.status === 'ok' ? await find(named.run, work) : named;
  if (found.status === 'ok') return found;
  const message = found.status === 'failed' ? found.message : (found.problems[0]?.message ?? '');
  return { status: 'failed', outcome: usageError('ERR_RUN_NOT_FOUND', message) };
}

/** Stands for the last run; never the id of a run. */
export const LAST = 'last';

/** `run` is the run to find: an id, or the folder of the last run. */
type NamedRun = { status: 'ok'; run: string } | { status: 'refused'; problems: Problem[] };

/**
 * The run that is named, else the last one of the checkout, which is then said. `asked` is the operand; `repo` a checkout to use
 * instead of the one around the current folder.
 */
export async function namedRun(
  context: HostContext,
  asked: string | undefined,
  { repo = null, quiet = false }: { repo?: string | null; quiet?: boolean } = {},
): Promise<NamedRun> {
  const { cwd, env } = context;
  if (asked !== undefined && asked !== LAST) return { status: 'ok', run: asked };
  const found = await findLastRun({ cwd: repo === null ? cwd : resolve(cwd, repo), env: withoutKey(env) });
  if (found.status === 'failed')
    return { status: 'refused', problems: [problem('ERR_RUN_NOT_FOUND', found.message)] };
  const { path } = found.directory;
  if (!quiet) sayTo(context)(`last run: ${path}`);
  return { status: 'ok', run: path };
}

/** Writes the one document of a command to stdout. Resolves with null, or with the outcome of a command that could not do that. */
export async function handOver(
  { stdout, interrupt }: Pick<HostContext, 'stdout' | 'interrupt'>,
  document: string,
): Promise<RunOutcome | null> {
  const failure = await handed(stdout, document, interrupt);
  const why = sentence(`The document cannot be written to stdout: ${failure?.message}`);
  return failure && internalError('ERR_OUTPUT_UNWRITTEN', why);
}

/** Prints it as JSON or as text. A person who leaves early has seen enough; a machine has half a document, and gets an outcome. */
export async function printEither(
  { json, redact, print }: Pick<OverRuns, 'json' | 'redact' | 'print'>,
  document: object,
  text: () => string,
): Promise<RunOutcome | null> {
  const unread = await print(json ? jsonDocument(document, redact) : text());
  return json ? unread : null;
}

/** Stopped by a signal or its deadline before it had done anything. */
export type StoppedEarly = { readonly status: 'stopped'; readonly outcome: RunOutcome };

/** Reading before a run begins, which a signal ends, and so does the deadline of the run. */
export async function readUntil<T>(
  parts: Pick<ProcessParts, 'interrupt' | 'askIn'>,
  deadlineMs: number,
  read: () => Promise<T>,
): Promise<T | StoppedEarly> {
  const { signal, stopClock } = openInterrupt(parts, deadlineMs);
  return untilAborted(signal, read).finally(stopClock);
}

async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | StoppedEarly> {
  try {
    return await until(signal, work);
  } catch (error) {
    if (!(error instanceof CutShort)) throw error;
    return { status: 'stopped', outcome: outcomeOf(signal.reason) };
  }
}

function outcomeOf(interruption: Interruption & { signal?: StopSignal }): RunOutcome {
  if (interruption.cause === 'deadline')
    return deadlineExceeded('The time is up (--deadline), and the run directory was not read completely.');
  const { signal = 'SIGTERM' } = interruption;
  return interrupted(signal, `Stopped by ${signal}. Run it again.`);
}
