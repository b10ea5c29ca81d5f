/** A true pipe for a command's output. */

import { closeSync, constants, open } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { execa } from 'execa';

export interface OutputPipe {
  readonly output: Readable;
  /** The descriptor to be handed to the child. */
  readonly writer: number;
  /** To be called as soon as the child has the descriptor, or the output never ends. */
  closeWriter(): void;
}

/**
 * Node gives its children sockets, which cannot be opened by name: `echo … > /dev/stderr` would fail.
 * `path` is taken for a moment only.
 */
export async function openOutputPipe(path: string): Promise<OutputPipe> {
  await execa('/usr/bin/mkfifo', ['-m', '600', path], { extendEnv: false, env: {} });
  try {
    // Without blocking, a reader need not wait for a writer; the writer then finds a reader and does not wait either.
    const reader = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = await openFile(path, constants.O_WRONLY);
    return {
      output: new Socket({ fd: reader, readable: true, writable: false }),
      writer,
      closeWriter: () => closeSync(writer),
    };
  } finally {
    await rm(path);
  }
}

const openFile = promisify(open) as (path: string, flags: number) => Promise<number>;
