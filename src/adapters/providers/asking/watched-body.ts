/** The body of an answer while it arrives: bounded, and watched for silence. */

import { formatNumber } from '../../../domain/text/format-number.ts';
import { MAX_CONTENT_BYTES } from './answer.ts';
import type { RequestWatchdog } from './watchdog.ts';

/** Maximum bytes of a whole stream, most of which is overhead around small pieces. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;

/** Another attempt would cost the same, and most likely end the same way. */
export class AnswerTooLarge extends Error {
  constructor(what: string, bytes: number) {
    super(
      `The model's ${what} exceeds the limit of ${formatNumber(bytes)} bytes; ask for smaller steps in the plan`,
    );
  }
}

const NEWLINE = 10;

/** Limits the total and every line of what arrives. */
export class ByteBounds {
  #bytes = 0;
  #lineBytes = 0;

  /** Returns the number of bytes so far. Throws AnswerTooLarge. */
  add(chunk: Uint8Array): number {
    this.#bytes += chunk.byteLength;
    const lineEnd = chunk.lastIndexOf(NEWLINE);
    this.#lineBytes = lineEnd === -1 ? this.#lineBytes + chunk.byteLength : chunk.byteLength - lineEnd - 1;
    if (this.#bytes > MAX_STREAM_BYTES) throw new AnswerTooLarge('stream', MAX_STREAM_BYTES);
    // A line is an event, of which memory holds several copies before it is counted; escapes can double its size.
    if (this.#lineBytes > 2 * MAX_CONTENT_BYTES) throw new AnswerTooLarge('answer', MAX_CONTENT_BYTES);
    return this.#bytes;
  }
}

/**
 * Passes a body on within its limits, and reports every chunk as a sign of life. `onBytes` is called with the number
 * of bytes so far.
 */
export function lifeSigns(
  idleTimeoutMs: number,
  watchdog: RequestWatchdog,
  onBytes: (bytes: number) => void,
): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  const silence = `nothing came for ${idleTimeoutMs / 1000} s (see --idle-timeout)`;
  const bounds = new ByteBounds();
  watchdog.expect(idleTimeoutMs, silence);
  return new TransformStream({
    transform(chunk, controller) {
      onBytes(bounds.add(chunk));
      watchdog.expect(idleTimeoutMs, silence);
      controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
    },
  });
}

/** What fetch throws while a body is being read: a lost connection, or the abort of our own watchdog. */
export function isBodyError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || (error instanceof TypeError && error.message === 'terminated');
}
