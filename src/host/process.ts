/**
 * The layer between a process and its command, shared by the entry files: it removes secrets from the environment,
 * turns signals into one abort signal, and ends any crash with an outcome. An entry file passes its process in;
 * nothing here accesses it directly.
 */

import { readFileSync } from 'node:fs';
import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { type Problem, problemLine } from '../domain/errors/problem.ts';
import { machineFault } from '../domain/errors/thrown.ts';
import { finalLine } from '../domain/report/result-lines.ts';
import { SIGNAL_EXIT_CODE, StopSignal } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import {
  deadlineExceeded,
  internalError,
  interrupted,
  type RunOutcome,
  refusedFor,
  usageError,
} from '../domain/run/outcome.ts';
import { redactorForGrowing, secretsAmong } from '../domain/secrets/redact.ts';
import { oneLine, prefixed } from '../domain/text/terminal.ts';
import type { HostContext } from './context.ts';
import { scrubEnviron } from './scrub-environ.ts';
import { openPeople, type People } from './terminal.ts';
import type { StartWatchdog, Watchdog } from './watchdog.ts';

const manifest: { version: string; bugs?: { url: string } } = packageJson;

/** The version of patchsmith, from package.json. */
export const VERSION = manifest.version;

/** Called when the process ends in a way that no command reports. */
export interface ProcessEnds {
  /** Called once, at the first signal, before anything else. */
  onInterrupt?(interruption: Interruption): void;
  /** Called before the process ends with this outcome because of a bug or a broken machine. */
  onCrash?(outcome: RunOutcome): void;
  /** Used by `guard`. Default: the main thread is not watched. */
  startWatchdog?: StartWatchdog | undefined;
}

/** The process as commands see it: its streams, its environment and how it ends. */
export interface HostProcess {
  /** Its environment is complete; the process itself no longer has the secrets. */
  readonly context: HostContext;
  /** Prints the outcome as the last line on stderr, whatever happens. */
  printLast(outcome: RunOutcome): void;
  /** Prints the problems if there are several, and returns the outcome that represents them all. */
  refusal(problems: readonly Problem[]): RunOutcome;
  /** Ends the process because of a bug or a broken machine. */
  crash(error: unknown): never;
  /** Registers what prints the document of a command that ends suddenly, where no run has printed it; null once it has ended. */
  printsSuddenly(print: ((outcome: RunOutcome) => void) | null): void;
  /** Call before anything from outside is read: signals and deadlines are then obeyed even if the main thread is stuck. */
  guard(): void;
}

/** Call first: until then, the secrets of the environment are readable in /proc. */
export function openHostProcess(host: NodeJS.Process, ends: ProcessEnds = {}): HostProcess {
  // Compiling a parser takes longer than most schemas parse in a whole run.
  z.config({ jitless: true });
  const secrets = secretsAmong({ ...host.env, ...Object.fromEntries(host.argv.entries()) });
  const people = openPeople(host);
  const redact = redactorForGrowing(secrets);
  const printable = (text: string) => oneLine(redact(text), 4_000);
  const printLast = (outcome: RunOutcome) => void people.stderr.write(`${printable(finalLine(outcome))}\n`);

  const lastWords = new LastWords();

  const endWith = (outcome: RunOutcome): never => {
    ends.onCrash?.(outcome);
    lastWords.say(outcome);
    printLast(outcome);
    host.exit(outcome.exitCode);
  };
  const crash = (error: unknown): never => {
    const fault = machineFault(error);
    if (fault === null)
      people.stderr.write(
        `${prefixed(redact(error instanceof Error ? (error.stack ?? error.message) : String(error)), '  ')}\n`,
      );
    const outcome =
      fault === null
        ? internalError('ERR_BUG', `${bugReport()}, with the lines above.`)
        : internalError(
            'ERR_MACHINE',
            `${fault}. Fix that, then repeat the command; a run that has started can be continued with patchsmith resume.`,
          );
    return endWith(outcome);
  };
  let watchdog: Watchdog | null = null;
  host.on('uncaughtException', crash);
  host.on('unhandledRejection', crash);
  // Code that needs the output checks it; a full disk or a closed pipe must not cut a run short.
  for (const stream of [host.stdout, host.stderr]) stream.on('error', () => {});

  return {
    context: {
      ...contextOf(host, people, { secrets, redact, interrupt: interruptedBySignals(host, ends, lastWords) }),
      onSuddenEnd: (keep) => lastWords.add(keep),
      askIn: (delayMs) => watchdog?.askIn(delayMs) ?? (() => {}),
    },
    printLast,
    refusal(problems) {
      if (problems.length === 1) return refusedFor(problems);
      for (const problem of problems) people.stderr.write(`  ${printable(problemLine(problem))}\n`);
      return usageError('ERR_SEVERAL_PROBLEMS', `${problems.length} problems, listed above`);
    },
    crash,
    printsSuddenly(print) {
      lastWords.otherwise = print;
    },
    guard() {
      watchdog ??= ends.startWatchdog?.((asked) => endWith(stuckWhenAsked(asked))) ?? null;
    },
  };
}

function stuckWhenAsked(asked: Interruption): RunOutcome {
  const end = 'did not react because a computation did not return, and ended at once, without a patch';
  const next = `A run that has started can be continued with patchsmith resume. ${bugReport()}.`;
  return asked.cause === 'deadline'
    ? deadlineExceeded(`The deadline passed; patchsmith ${end}. ${next}`)
    : interrupted(asked.signal, `Stopped by ${asked.signal}; patchsmith ${end}. ${next}`);
}

function contextOf(
  host: NodeJS.Process,
  people: People,
  {
    secrets,
    redact,
    interrupt,
  }: { secrets: string[]; redact: HostContext['redact']; interrupt: AbortSignal },
): HostContext {
  const { stdin, stdout } = host;
  const env = { ...host.env };
  // Commands without a sandbox can read /proc, and a child that inherits our environment by mistake must not get a key.
  const secretNames = Object.keys(env).filter((name) => secretsAmong({ [name]: env[name] }).length > 0);
  const secretsInProc = !scrubEnviron(secretNames);
  for (const name of secretNames) delete host.env[name];
  return {
    env,
    secretsInProc,
    cwd: host.cwd(),
    stdin,
    stdout,
    ...people,
    interrupt,
    now: monotonicNow,
    version: VERSION,
    hide(secret, variable) {
      secrets.push(secret);
      if (variable === undefined) return;
      scrubEnviron([variable]);
      delete host.env[variable];
    },
    redact,
  };
}

/** The first signal asks the run to end and write what it has; a second one ends the process immediately. */
function interruptedBySignals(
  host: NodeJS.Process,
  { onInterrupt }: ProcessEnds,
  lastWords: LastWords,
): AbortSignal {
  const controller = new AbortController();
  for (const signal of StopSignal.options) {
    host.on(signal, () => {
      if (controller.signal.aborted) {
        lastWords.say(
          interrupted(signal, `Stopped at once by a second signal (${signal}); no patch was made.`),
        );
        host.exit(SIGNAL_EXIT_CODE[signal]);
      }
      const reason: Interruption = { cause: 'signal', signal };
      onInterrupt?.(reason);
      controller.abort(reason);
    });
  }
  return controller.signal;
}

/** What to write before the process exits immediately. */
class LastWords {
  readonly #keepers: ((outcome: RunOutcome) => boolean)[] = [];
  /** Prints the document that no run has printed. */
  otherwise: ((outcome: RunOutcome) => void) | null = null;

  add(keep: (outcome: RunOutcome) => boolean): void {
    this.#keepers.push(keep);
  }

  /** Said once. A full disk does not stop the process from exiting. */
  say(outcome: RunOutcome): void {
    let isPrinted = false;
    for (const keep of this.#keepers.splice(0)) {
      try {
        isPrinted = keep(outcome) || isPrinted;
      } catch (error) {
        if (machineFault(error) === null) throw error;
      }
    }
    if (!isPrinted) this.otherwise?.(outcome);
    this.otherwise = null;
  }
}

function bugReport(): string {
  const where = manifest.bugs?.url ? `at ${manifest.bugs.url}` : 'to the maintainers';
  return `This is a bug in patchsmith; please report it ${where}`;
}

/**
 * Unix time in whole milliseconds: the machine's clock when the process began, plus the time that has passed since. Setting
 * the clock during a run neither ends the run nor shortens its duration.
 */
export function monotonicNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}

/** Sixteen parallel commands, each with its pipes, the journal, the model's connection and git need up to two hundred. */
const LEAST_OPEN_FILES = 256;

/** Why the process cannot work within its limit; null if it can, or if the limit is unknown. */
export function checkFdLimit(): string | null {
  const limit = /^Max open files +(\d+)/m.exec(readLimits())?.[1];
  if (limit === undefined || Number(limit) >= LEAST_OPEN_FILES) return null;
  return `A process may have only ${limit} files open here, and ${LEAST_OPEN_FILES} are needed. Raise the limit with ulimit -n.`;
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}
