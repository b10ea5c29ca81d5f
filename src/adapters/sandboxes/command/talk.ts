/** Connects the runner with a program that it talks to. */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { CommandTalk } from '../../../ports.ts';

/** The streams of a child without merged output. */
export interface TalkStreams {
  readonly stdin: Writable | Duplex;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Starts the conversation; returns the stream whose end is that of the program's output. */
export function converse(talk: CommandTalk, { stdin, stdout, stderr }: TalkStreams): Readable {
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
