/** A true pipe for a command's output. */

import { closeSync, constants, open } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
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

/** Bytes of one read; the same buffer serves them all. */
const READ_BYTES = 64 * 1024;

/**
 * Node gives its children sockets, which cannot be opened by name: `echo … > /dev/stderr` would fail.
 * `path` is taken for a moment only. `onBytes` gets what is written, in a buffer that is its own only until it returns.
 */
export async function openOutputPipe(
  path: string,
  onBytes: (bytes: Uint8Array) => void,
): Promise<OutputPipe> {
  await execa('/usr/bin/mkfifo', ['-m', '600', path], { extendEnv: false, env: {} });
  try {
    // Without blocking, a reader need not wait for a writer; the writer then finds a reader and does not wait either.
    const reader = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = await openFile(path, constants.O_WRONLY);
    return {
      output: new Socket(readingInto(onBytes, reader)),
      writer,
      closeWriter: () => closeSync(writer),
    };
  } finally {
    await rm(path);
  }
}

function readingInto(
  onBytes: (bytes: Uint8Array) => void,
  fd: number,
): SocketConstructorOpts & { onread: OnReadOpts } {
  const callback = (count: number, buffer: Uint8Array) => {
    onBytes(buffer.subarray(0, count));
    return true;
  };
  const onread = { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback };
  return { fd, readable: true, writable: false, onread };
}

const openFile = promisify(open) as (path: string, flags: number) => Promise<number>;
