/** Starts the process of a command, and connects its output. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { CommandTalk } from '../../../ports.ts';
import { OutputCapture } from './output-capture.ts';
import type { PipeSource } from './output-pipe.ts';

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

/** A command that has been started. */
export interface StartedCommand {
  /** What contains it. Its stderr is a pipe. */
  readonly child: ChildProcess;
  readonly output: Readable;
  /** Settles when `child` has exited, before its pipes close; rejects when it could not be started. */
  readonly ended: Promise<ExitStatus>;
  /** What `child` has said on its own stderr, once it has ended. Call it once. */
  said(): Promise<string>;
}

/** How long what it says may take after its end. */
const WORDS_MS = 2_000;
const WORDS_LIMITS = { head: 4_000, tail: 0 };

/** Starts it with `spawn`. */
export async function spawnCommand(
  { pipes, onBytes, talk, errorsFd }: OutputPlace,
  spawn: (...stdio: OwnStdio) => ChildProcess,
): Promise<StartedCommand> {
  if (talk === undefined) {
    const { output, writer, closeWriter } = await pipes.open(onBytes);
    const child = await existing(() => spawn('ignore', writer, 'ignore')).finally(closeWriter);
    return { child, output, ended: exitOf(child), said: wordsOf(child) };
  }
  const child = await existing(() => spawn('pipe', 'pipe', 'pipe'));
  return { child, output: converse(talk, child, errorsFd), ended: exitOf(child), said: wordsOf(child) };
}

/** Rejects where there is no process, and so no streams, as when descriptors run out. */
async function existing(spawn: () => ChildProcess): Promise<ChildProcess> {
  const child = spawn();
  if (child.pid !== undefined) return child;
  const [error] = await once(child, 'error');
  throw error;
}

function wordsOf(child: ChildProcess): StartedCommand['said'] {
  const words = child.stdio[2] as Readable;
  const capture = new OutputCapture(WORDS_LIMITS);
  words.on('data', (chunk: Buffer) => capture.write(chunk));
  return async () => {
    if (!words.closed) await withTimeout(WORDS_MS, once(words, 'close'));
    return capture.excerpt().head;
  };
}

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

/** The promise's value, or null after `limitMs`. No timer is left behind. */
export async function withTimeout<T>(limitMs: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, limitMs, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
