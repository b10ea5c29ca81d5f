/** Real pipes for the output of commands. */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** A pipe for a command's output. It outlives neither the command nor the runner. */
export interface OutputPipe {
  readonly output: Readable;
  /** The descriptor to pass to the child. */
  readonly writer: number;
  /** Call as soon as the child has the descriptor, or the output never ends. */
  closeWriter(): void;
}

/** Where commands get their pipes from. */
export type PipeSource = Pick<OutputPipes, 'open' | 'close'>;

/** Bytes per read; all reads share one buffer. */
const READ_BYTES = 64 * 1024;

/** Number of pipes created at a time: a process for each would cost as much as a small command. */
const BATCH = 16;

interface Ends {
  readonly reader: number;
  readonly writer: number;
}

/**
 * Node gives its children sockets, which cannot be opened by name: `echo … > /dev/stderr` would fail. The pipes have names
 * in `folder` only for a moment.
 */
export class OutputPipes {
  readonly #folder: string;
  readonly #ready: Ends[] = [];
  /** Pending while pipes are being created, so that commands that start together share a batch. */
  #making: Promise<void> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** An unused pipe. `onBytes` receives the written bytes, in a buffer that is reused once it returns. */
  async open(onBytes: (bytes: Uint8Array) => void): Promise<OutputPipe> {
    while (this.#ready.length === 0) {
      this.#making ??= this.#make().finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
    const { reader, writer } = this.#ready.pop() as Ends;
    return {
      output: new Socket(readingInto(onBytes, reader)),
      writer,
      closeWriter: () => closeSync(writer),
    };
  }

  /** Closes the pipes that were not used. */
  close(): void {
    for (const { reader, writer } of this.#ready.splice(0)) {
      closeSync(reader);
      closeSync(writer);
    }
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () =>
      join(this.#folder, `pipe-${randomBytes(8).toString('hex')}`),
    );
    await promisify(execFile)('/usr/bin/mkfifo', ['-m', '600', ...paths], { env: {} });
    for (const path of paths) {
      // Opened non-blocking, a reader need not wait for a writer; the writer then finds a reader and does not wait either.
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      // A writer that could also read is never ended by SIGPIPE. bubblewrap, if its runner died, would leave its other half waiting.
      const writer = openSync(path, constants.O_RDWR);
      unlinkSync(path);
      this.#ready.push({ reader, writer });
    }
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
