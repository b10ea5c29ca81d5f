/** Starts the process of a command, and connects its output. */

import type { ChildProcess } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { CommandTalk } from '../../../ports.ts';
import type { PipeSource } from './output-pipe.ts';
import { asFirstVictim } from './process-table.ts';

/** How a process ended: with an exit code or by a signal. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Where the output of a command goes. */
interface OutputPlace {
  readonly pipes: PipeSource;
  /** Takes the bytes of merged output. */
  readonly onBytes: (bytes: Uint8Array) => void;
  /** For a program that the runner talks to, whose output is not merged. */
  readonly talk: CommandTalk | undefined;
  /** The descriptor of its stderr. */
  readonly errorsFd: number;
}

/** The entries of `stdio` for stdin, stdout and `errorsFd`: of one without a conversation, nothing and a pipe for all its output. */
type OwnStdio = readonly [stdin: 'ignore' | 'pipe', stdout: number | 'pipe', errors: 'ignore' | 'pipe'];

/** Starts it with `spawn`, as the kernel's first choice when memory runs out. `ended` settles before its pipes close. */
export async function spawnCommand(
  { pipes, onBytes, talk, errorsFd }: OutputPlace,
  spawn: (...stdio: OwnStdio) => ChildProcess,
): Promise<{ child: ChildProcess; output: Readable; ended: Promise<ExitStatus> }> {
  if (talk === undefined) {
    const { output, writer, closeWriter } = await pipes.open(onBytes);
    const child = asFirstVictim(() => spawn('ignore', writer, 'ignore'));
    closeWriter();
    return { child, output, ended: exitOf(child) };
  }
  const child = asFirstVictim(() => spawn('pipe', 'pipe', 'pipe'));
  return { child, output: converse(talk, child, errorsFd), ended: exitOf(child) };
}

/** Settles when the child exits, before its pipes close; rejects when it could not be started. */
function exitOf(child: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    child.on('error', reject);
  });
}

/** Starts the conversation; returns the stream whose end is that of the program's output. */
function converse(talk: CommandTalk, { stdio }: ChildProcess, errorsFd: number): Readable {
  const [stdin, stdout, stderr] = [0, 1, errorsFd].map((fd) => stdio.at(fd)) as [Writable, Readable, Duplex];
  stdout.on('data', (chunk: Buffer) => talk.onOutput(chunk));
  stderr.on('data', (chunk: Buffer) => talk.onErrors(chunk));
  // A program that has ended reads no more, which its exit tells.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => stream.destroy());
  talk.onStart({
    write: (text) =>
      new Promise((resolve, reject) => {
        stdin.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => stdin.end(),
  });
  return stdout;
}
