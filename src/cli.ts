#!/usr/bin/env node
/** The command line: argv in, exit code out. What it shares with the action stands in host/process.ts. */

import { resultLine, resultText } from './adapters/storage/run-directory.ts';
import { readArguments } from './commands/arguments.ts';
import type { Command } from './commands/command.ts';
import { COMMANDS } from './commands/registry.ts';
import { internalError, type RunOutcome } from './domain/run/outcome.ts';
import { refusedResult } from './engine/finish/result.ts';
import { checkFdLimit } from './host/fd-limit.ts';
import { openHostProcess, VERSION } from './host/process.ts';

const { edge, printLast, refusal, crash } = openHostProcess(process);

await main(process.argv.slice(2)).then((exitCode) => process.exit(exitCode), crash);

async function main(argv: readonly string[]): Promise<number> {
  const asked = await readArguments(argv, COMMANDS, process.stdout.columns ?? 100);
  switch (asked.ask) {
    case 'help':
      process.stdout.write(`${asked.text}\n`);
      return 0;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case 'mistake':
      return refuse(asked.problems);
    case 'command': {
      const output = asked.given.flags.output ?? edge.env.PATCHSMITH_OUTPUT;
      const obstacle = checkFdLimit();
      const { command } = asked;
      if (obstacle !== null) return tell(internalError(obstacle), { output, command });
      const end = await command.start(edge, asked.given);
      return end.status === 'told' ? end.outcome.exitCode : refuse(end.problems, { output, command });
    }
  }
}

/** The command that was asked for, and its output on stdout, as far as they are known by now. */
interface Asked {
  readonly output?: unknown;
  readonly command?: Command;
}

function refuse(problems: readonly string[], asked: Asked = {}): number {
  const outcome = refusal(problems);
  const more = problems.length === 1 ? '' : '; patchsmith --help lists the commands';
  // The machine reads one document: there the problems are the reason.
  return tell({ ...outcome, reason: `${outcome.reason}${more}` }, asked, problems.join('; '));
}

/** The outcome of a command that has done nothing. */
function tell(outcome: RunOutcome, { output, command }: Asked, reason = outcome.reason): number {
  const textOf = output === 'json' ? resultText : output === 'jsonl' ? resultLine : null;
  const document = command?.nothingDone ?? refusedResult;
  if (textOf) process.stdout.write(textOf(document({ ...outcome, reason }, VERSION), edge.redact));
  return conclude(outcome);
}

function conclude(outcome: RunOutcome): number {
  printLast(outcome);
  return outcome.exitCode;
}
