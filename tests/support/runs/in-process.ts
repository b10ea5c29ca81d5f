/** Commands in the process of the test: what the command line does with its words, without starting it. */

import { Readable, Writable } from 'node:stream';
import { readArguments } from '../../../src/commands/arguments.ts';
import { runCommandLine } from '../../../src/commands/command-line.ts';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { problemLine } from '../../../src/domain/errors/problem.ts';
import { redactorForGrowing, secretsAmong } from '../../../src/domain/secrets/redact.ts';
import type { HostContext } from '../../../src/host/context.ts';
import { holdingEvents } from './valid-events.ts';

export interface CommandEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Carries out a command with what is given of its environment. Throws what would be a crash of the process, and for a line
 * that names no command or refuses to begin: those are the process's own to tell.
 */
export function runHere(words: readonly string[], given: Here): Promise<CommandEnd> {
  const env = { PATH: process.env.PATH ?? '', HOME: given.cwd, ...given.env };
  return holdingEvents({ args: words, cwd: given.cwd, env }, () => carryOut(words, { ...given, env }));
}

async function carryOut(words: readonly string[], { onStderr, ...given }: Here): Promise<CommandEnd> {
  const asked = await readArguments(words, COMMANDS, 100);
  if (asked.ask !== 'command') throw new Error(`This is no command: ${words.join(' ')}`);
  const stdout = sink();
  const stderr = sink(onStderr);
  const secrets = secretsAmong(given.env);
  const end = await asked.command.start(
    {
      interrupt: new AbortController().signal,
      ...given,
      secretsInProc: false,
      stdin: Readable.from([]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      now: Date.now,
      version: '0.0.0',
      hide: (secret) => secrets.push(secret),
      redact: redactorForGrowing(secrets),
    },
    asked.given,
  );
  if (end.status === 'refused') throw new Error(end.problems.map(problemLine).join('; '));
  return { exitCode: end.outcome.exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

interface Here extends Pick<HostContext, 'secondMs'> {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly interrupt?: AbortSignal;
  /** Called with what is written to stderr, at the moment it is. */
  readonly onStderr?: (text: string) => void;
}

/** Carries out a command line to its end, all that the built command does but for being a process. */
export function cliHere(
  args: readonly string[],
  given: { cwd: string; env: Readonly<Record<string, string | undefined>>; input?: string },
): Promise<CommandEnd> {
  return holdingEvents({ ...given, args }, async () => {
    const host = fakeProcess({ ...given, args });
    const exitCode = await exitCodeOf(() => runCommandLine(host.process));
    return { exitCode, stdout: host.stdout(), stderr: host.stderr() };
  });
}

/** A process with these arguments, which ends with an exception where a real one would end: `exitCodeOf` catches it. */
export function fakeProcess(given: {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  args: readonly string[];
  /** On its stdin; default: nothing. */
  input?: string;
}): { process: NodeJS.Process; stdout: () => string; stderr: () => string } {
  const stdout = sink();
  const stderr = sink();
  const env = Object.entries(given.env).filter(([, value]) => value !== undefined);
  const fake = {
    argv: [process.execPath, 'entry.js', ...given.args],
    env: Object.fromEntries(env),
    cwd: () => given.cwd,
    stdin: Readable.from(given.input === undefined ? [] : [Buffer.from(given.input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    on: () => fake,
    exit(code: number) {
      throw new Exit(code);
    },
  };
  return { process: fake as unknown as NodeJS.Process, stdout: stdout.text, stderr: stderr.text };
}

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`The process ends with exit code ${code}`);
    this.code = code;
  }
}

/** What a program in a fake process comes to. */
export async function exitCodeOf(program: () => Promise<number>): Promise<number> {
  try {
    return await program();
  } catch (error) {
    if (error instanceof Exit) return error.code;
    throw error;
  }
}

function sink(onText: (text: string) => void = () => {}) {
  const pieces: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      pieces.push(String(chunk));
      onText(String(chunk));
      done();
    },
  });
  return { stream, text: () => pieces.join('') };
}
