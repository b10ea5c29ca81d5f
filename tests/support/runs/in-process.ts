/** Commands in the process of the test: what the command line does with its words, without starting it. */

import { Readable, Writable } from 'node:stream';
import { readArguments } from '../../../src/commands/arguments.ts';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { redactorFor, secretsAmong } from '../../../src/domain/secrets/redact.ts';
import type { HostContext } from '../../../src/host/context.ts';

export interface CommandEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Carries out a command with what is given of its environment. Throws what would be a crash of the process, and for a line
 * that names no command or refuses to begin: those are the process's own to tell.
 */
export async function runHere(
  words: readonly string[],
  given: { cwd: string; env: Readonly<Record<string, string>> } & Pick<HostContext, 'secondMs'>,
): Promise<CommandEnd> {
  const asked = await readArguments(words, COMMANDS, 100);
  if (asked.ask !== 'command') throw new Error(`This is no command: ${words.join(' ')}`);
  const stdout = sink();
  const stderr = sink();
  const secrets = secretsAmong(given.env);
  const end = await asked.command.start(
    {
      ...given,
      env: { PATH: process.env.PATH, HOME: given.cwd, ...given.env },
      secretsInProc: false,
      stdin: Readable.from([]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      interrupt: new AbortController().signal,
      now: Date.now,
      version: '0.0.0',
      hide: (secret) => secrets.push(secret),
      redact: (text) => redactorFor(secrets)(text),
    },
    asked.given,
  );
  if (end.status === 'refused') throw new Error(end.problems.join('; '));
  return { exitCode: end.outcome.exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

function sink() {
  const pieces: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      pieces.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => pieces.join('') };
}
