#!/usr/bin/env node
/** The edge of the process: argv, environment, signals, streams and exit codes. Nothing else reads or ends them. */

import packageJson from '../package.json' with { type: 'json' };
import { wipeInitialValues } from './adapters/inputs/initial-environment.ts';
import { tooFewOpenFiles } from './adapters/inputs/open-files.ts';
import { steadyNow } from './adapters/inputs/steady-clock.ts';
import { resultLine, resultText } from './adapters/storage/run-directory.ts';
import { readArguments } from './cli/arguments.ts';
import { COMMANDS } from './cli/commands.ts';
import type { Edge } from './cli/edge.ts';
import type { Interruption } from './domain/limits.ts';
import { machineFault } from './domain/machine-fault.ts';
import { internalError, type RunOutcome, usageError } from './domain/outcome.ts';
import { redactorFor, secretsAmong } from './domain/redact.ts';
import { oneLine, prefixed } from './domain/terminal-text.ts';
import { finalLine, refusedResult } from './run/report.ts';

const manifest: { version: string; bugs?: { url: string } } = packageJson;
const secrets = secretsAmong(process.env);

process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
// Who needs what was written asks for it; a full disk or a reader that has gone away must not cut a run short.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

await main(process.argv.slice(2)).then((exitCode) => process.exit(exitCode), crash);

async function main(argv: readonly string[]): Promise<number> {
  const edge = edgeOfProcess(interruptedBySignals());
  const asked = await readArguments(argv, COMMANDS, process.stdout.columns ?? 100);
  switch (asked.ask) {
    case 'help':
      process.stdout.write(`${asked.text}\n`);
      return 0;
    case 'version':
      process.stdout.write(`${manifest.version}\n`);
      return 0;
    case 'mistake':
      return refuse(asked.problems);
    case 'command': {
      const output = asked.given.flags.output ?? edge.env.PATCHSMITH_OUTPUT;
      const obstacle = tooFewOpenFiles();
      if (obstacle !== null) return tell(internalError(obstacle), output);
      const end = await asked.command.start(edge, asked.given);
      return end.status === 'told' ? end.outcome.exitCode : refuse(end.problems, output);
    }
  }
}

function edgeOfProcess(interrupt: AbortSignal): Edge {
  const { stdin, stdout, stderr } = process;
  const env = { ...process.env };
  // Commands without a sandbox can read /proc, and a child that is given our environment by mistake gets no key with it.
  const secretNames = Object.keys(env).filter((name) => secretsAmong({ [name]: env[name] }).length > 0);
  const secretsInProc = !wipeInitialValues(secretNames);
  for (const name of secretNames) delete process.env[name];
  return {
    env,
    secretsInProc,
    cwd: process.cwd(),
    stdin,
    stdout,
    stderr,
    interrupt,
    now: steadyNow,
    version: manifest.version,
    hide: (secret) => secrets.push(secret),
    redact: (text) => redactorFor(secrets)(text),
  };
}

/** The first signal asks the run to end and write what it has; a second one ends the process on the spot. */
function interruptedBySignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
      const reason: Interruption = { cause: 'signal', signal };
      controller.abort(reason);
    });
  }
  return controller.signal;
}

/** `output` is what was asked for on stdout, as far as it is known by now. */
function refuse(problems: readonly string[], output?: unknown): number {
  const [only, ...more] = problems;
  const isOne = only !== undefined && more.length === 0;
  if (!isOne) for (const problem of problems) process.stderr.write(`  ${printable(problem)}\n`);
  const summary = `${problems.length} things are wrong, listed above; patchsmith --help shows what there is`;
  // The machine reads one document: there the problems are the reason.
  return tell(usageError(isOne ? only : summary), output, problems.join('; '));
}

/** The outcome of a command that has done nothing. */
function tell(outcome: RunOutcome, output: unknown, reason = outcome.reason): number {
  const textOf = output === 'json' ? resultText : output === 'jsonl' ? resultLine : null;
  const told = refusedResult({ ...outcome, reason }, manifest.version);
  if (textOf) process.stdout.write(textOf(told, redactorFor(secrets)));
  return conclude(outcome);
}

function crash(error: unknown): never {
  const fault = machineFault(error);
  if (fault !== null)
    process.exit(
      conclude(internalError(`${fault}. A run that has begun can be carried on with patchsmith resume.`)),
    );
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const where = manifest.bugs?.url ? `at ${manifest.bugs.url}` : 'to the maintainers';
  process.stderr.write(`${prefixed(redactorFor(secrets)(stack), '  ')}\n`);
  process.exit(
    conclude(internalError(`This is a bug of patchsmith; please report it ${where}, with the lines above.`)),
  );
}

/** The last line on stderr is the outcome, whatever happens. */
function conclude(outcome: RunOutcome): number {
  process.stderr.write(`${printable(finalLine(outcome))}\n`);
  return outcome.exitCode;
}

/** A problem can quote a hostile file. */
function printable(text: string): string {
  return oneLine(redactorFor(secrets)(text), 4_000);
}
