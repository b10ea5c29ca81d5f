/** The command line: argv in, exit code out. host/process.ts has the parts that it shares with the action. */

import { resolve } from 'node:path';
import { resultLine } from '../adapters/storage/run-directory.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { internalError, type RunOutcome, refusedFor } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { jsonDocument } from '../domain/text/terminal.ts';
import { refusedResult } from '../engine/finish/empty-result.ts';
import { standingIn } from '../git/checkout-layout.ts';
import type { HostContext } from '../host/context.ts';
import { checkFdLimit, type HostProcess, openHostProcess, VERSION } from '../host/process.ts';
import { taken } from '../host/terminal.ts';
import type { StartWatchdog } from '../host/watchdog.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './registry.ts';

/**
 * Carries out what the arguments of a process ask for, and returns the exit code that it has to end with. `secondMs` says how
 * long the seconds between two requests to GitHub last.
 */
export async function runCommandLine(
  host: NodeJS.Process,
  { startWatchdog, ...pace }: Pick<HostContext, 'secondMs'> & { startWatchdog?: StartWatchdog } = {},
): Promise<number> {
  const opened = openHostProcess(host, { startWatchdog });
  const paced = { ...opened, context: { ...opened.context, ...pace } };
  const exitCode = await carryOut(host, paced).catch(opened.crash);
  // A reader that is slow gets the last lines too; one that has stopped reading does not keep the process.
  await taken(opened.context.stderr, LAST_LINES_MS);
  return exitCode;
}

/** Milliseconds that the end of the process waits for a reader of stderr. */
const LAST_LINES_MS = 1_000;

async function carryOut(
  host: NodeJS.Process,
  { context, printLast, refusal, guard, printsSuddenly }: HostProcess,
): Promise<number> {
  const [, , first, ...words] = host.argv;
  if (first === '--complete') {
    const { completionsOf } = await import('./completion/completion.ts');
    host.stdout.write(completionsOf(words, COMMANDS, context.env));
    return 0;
  }
  const asked = await readArguments(host.argv.slice(2), widthOf(host));
  switch (asked.ask) {
    case 'help':
      host.stdout.write(`${asked.text}\n`);
      return 0;
    case 'no command':
      host.stderr.write(`${asked.text}\n\n`);
      return refuse([problem('ERR_NO_COMMAND', 'no command given')]);
    case 'version':
      host.stdout.write(`${VERSION}\n`);
      return 0;
    case 'mistake':
      return refuse(asked.problems);
    case 'command': {
      const { flags, switches } = asked.given;
      const output = switches.has('json') ? 'json' : (flags.output ?? context.env.PATCHSMITH_OUTPUT);
      const obstacle = checkFdLimit();
      const { command } = asked;
      if (obstacle !== null) return tell(internalError('ERR_FEW_DESCRIPTORS', obstacle), { output, command });
      guard();
      printsSuddenly((outcome) => {
        const reason = `${outcome.reason} What was done before that is not in this document.`;
        printDocument({ ...outcome, reason }, { output, command }, { costUsd: 'unknown' });
      });
      const folder = await standingIn(resolve(context.cwd, String(flags.repo ?? '')));
      const end = await command.start({ ...context, folder }, asked.given);
      printsSuddenly(null);
      if (end.status === 'refused') return refuse(end.problems, { output, command });
      return end.status === 'printed' ? end.outcome.exitCode : tell(end.outcome, { output, command });
    }
  }

  function refuse(problems: readonly Problem[], given: AskedCommand = {}): number {
    const outcome = refusal(problems);
    const more = problems.length === 1 ? '' : '; patchsmith --help lists the commands';
    // The machine reads one document: there the problems are the reason.
    return tell({ ...outcome, reason: `${outcome.reason}${more}` }, given, refusedFor(problems).reason);
  }

  /** The outcome of a command that has done nothing. */
  function tell(outcome: RunOutcome, asked: AskedCommand, reason = outcome.reason): number {
    printDocument({ ...outcome, reason }, asked);
    printLast(outcome);
    return outcome.exitCode;
  }

  /** `unknown`: what the result of a run does not know. */
  function printDocument(
    outcome: RunOutcome,
    { output, command }: AskedCommand,
    unknown: Partial<RunResult> = {},
  ): void {
    const textOf = output === 'json' ? jsonDocument : output === 'jsonl' ? resultLine : null;
    const document = command?.nothingDone?.(outcome, VERSION) ?? {
      ...refusedResult(outcome, VERSION),
      ...unknown,
    };
    if (textOf) host.stdout.write(textOf(document, context.redact));
  }
}

/** The width of the terminal, also where stdout is a pipe; 80 without one. */
function widthOf({ stdout, stderr, env }: NodeJS.Process): number {
  const fromEnvironment = /^[1-9]\d{0,3}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
  return stdout.columns ?? stderr.columns ?? fromEnvironment ?? 80;
}

/** The command that was asked for, and its output on stdout, as far as they are known by now. */
interface AskedCommand {
  readonly output?: unknown;
  readonly command?: Command;
}
