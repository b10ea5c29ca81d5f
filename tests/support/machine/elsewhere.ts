/**
 * Programs that a small process starts for this one. To start a program Linux copies the tables of all memory that the starting
 * process holds, which takes the processor longer in a big test process than most of git's commands.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A program that runs to its end. */
export interface Errand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** On its stdin; default: nothing. */
  readonly input?: string | Uint8Array;
}

/** `exitCode` is null when the program was killed or could not be started. */
export interface ErrandEnd {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

let starter: ChildProcess | undefined;
let asked = 0;
const waiting = new Map<number, { done: (end: ErrandEnd) => void; failed: (error: Error) => void }>();

/** Runs a program and resolves however it ends. */
export async function runElsewhere(errand: Errand): Promise<ErrandEnd> {
  starter ??= started();
  asked += 1;
  const id = asked;
  const ended = new Promise<ErrandEnd>((done, failed) => waiting.set(id, { done, failed }));
  starter.channel?.ref();
  starter.send({ id, ...errand });
  return ended;
}

/** The same, for bytes on stdout. Throws unless the program ends with 0. */
export async function outputElsewhere(errand: Errand): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await runElsewhere(errand);
  if (exitCode !== 0)
    throw new Error(`${errand.program} ${errand.args.join(' ')} failed (${exitCode}): ${stderr}`);
  return stdout;
}

/** It ends with this process, and keeps it from ending only while something is asked of it. */
function started(): ChildProcess {
  const child = fork(new URL('starter.mjs', import.meta.url), [], {
    execArgv: [],
    serialization: 'advanced',
  });
  child.on('message', (said) => {
    const { id, stdout, ...end } = said as { id: number } & ErrandEnd;
    waiting.get(id)?.done({ ...end, stdout: Buffer.from(stdout) });
    waiting.delete(id);
    if (waiting.size === 0) child.channel?.unref();
  });
  once(child, 'exit').then(() => {
    starter = undefined;
    for (const { failed } of waiting.values()) failed(new Error('What starts programs has ended'));
    waiting.clear();
  });
  child.unref();
  child.channel?.unref();
  return child;
}
