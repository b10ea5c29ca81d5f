/**
 * stderr as people see it: whether it is a terminal, whether it has colours, and how to write to it without ever
 * waiting.
 */

import { constants, openSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import type { Terminal } from '../ports.ts';

/** stderr, and what it is. */
export interface People {
  readonly stderr: Writable;
  /** Null if no status line can be painted: there is no terminal, only a simple one, or this is a CI job. */
  readonly terminal: Terminal | null;
  readonly hasColors: boolean;
}

/** The part of a process that people see. */
interface Watched {
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** Follows NO_COLOR, FORCE_COLOR, CI and TERM; FORCE_COLOR takes precedence. */
export function openPeople({ stderr, env }: Watched): People {
  const hasColors = colorsWanted(env, stderr.isTTY === true);
  if (stderr.isTTY !== true) return { stderr, terminal: null, hasColors };
  const stream = unblocked(stderr);
  if (env.TERM === 'dumb' || isSet(env.CI)) return { stderr: stream, terminal: null, hasColors };
  return {
    stderr: stream,
    hasColors,
    terminal: {
      write: (text) => void stream.write(text),
      isBehind: () => stream.writableNeedDrain,
      size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
    },
  };
}

/** Resolves when everything written has been taken, or nothing was for `ms`. */
export async function taken(stream: Writable, ms: number): Promise<void> {
  if (stream.writableLength > 0 && !stream.destroyed) await handed(stream, '', ms);
}

/** Milliseconds without progress after which a reader counts as gone: now, and once the process has been asked to end. */
const STALLED_MS = 10_000;
const STALLED_LATE_MS = 1_000;
/** Small enough for a slow reader to be seen reading. */
const PIECE_BYTES = 16 * 1024;

/**
 * Writes the document. Resolves with null when all of it has been taken, and otherwise with the reason. `patience`: the milliseconds
 * without progress after which nothing waits for the reader any more, or the signal that shortens them.
 */
export function handed(
  stdout: Writable,
  document: string | Uint8Array,
  patience: number | Pick<AbortSignal, 'aborted'>,
): Promise<Error | null> {
  const mayStallMs = () =>
    typeof patience === 'number' ? patience : patience.aborted ? STALLED_LATE_MS : STALLED_MS;
  const bytes = Buffer.from(document);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) stdout.write(bytes.subarray(at, at + PIECE_BYTES));
  return new Promise((resolve) => {
    let left = stdout.writableLength;
    let since = performance.now();
    const end = (error: Error | null) => {
      clearInterval(timer);
      resolve(error);
    };
    const timer = setInterval(() => {
      if (stdout.writableLength !== left) since = performance.now();
      left = stdout.writableLength;
      if (performance.now() - since > mayStallMs()) end(new Error('its reader has stopped reading'));
    }, 50);
    stdout.write('', (error) => end(error ?? null));
  });
}

function colorsWanted({ NO_COLOR, CI, ...env }: NodeJS.ProcessEnv, isTTY: boolean): boolean {
  if (!isTTY && env.FORCE_COLOR === undefined) return false;
  // Node prints a warning if both are set.
  const refused = env.FORCE_COLOR === undefined && NO_COLOR !== undefined ? { NO_COLOR } : {};
  return WriteStream.prototype.getColorDepth({ ...env, ...refused, ...(isSet(CI) ? { CI } : {}) }) > 1;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}

/**
 * The same terminal, opened a second time. Node blocks on every write to a terminal: one that is stopped, as by
 * Ctrl-S, would stop the whole run, deadline included. If it cannot be opened again, it is used directly.
 */
function unblocked(stderr: NodeJS.WriteStream): Writable {
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return patient(openSync('/proc/self/fd/2', O_WRONLY | O_NONBLOCK | O_NOCTTY));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return stderr;
    throw error;
  }
}

/** Milliseconds until the next write to a terminal that accepts nothing. */
const AGAIN_MS = 20;

function patient(fd: number): Writable {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const offer = (rest: Buffer): void => {
        const written = writtenNow(fd, rest);
        if (typeof written !== 'number') done(written);
        else if (written === rest.length) done();
        else setTimeout(() => offer(rest.subarray(written)), AGAIN_MS);
      };
      offer(chunk);
    },
  });
  // A closed terminal must not cut a run short.
  return stream.on('error', () => {});
}

function writtenNow(fd: number, bytes: Buffer): number | Error {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return error.code === 'EAGAIN' ? 0 : error;
  }
}
