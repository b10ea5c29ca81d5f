/** Keeps both ends of a byte stream of any length as text, in bounded memory. */

import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { type Excerpt, whole } from '../../../domain/conversation/excerpt.ts';
import { firstUnits, lastUnits } from '../../../domain/text/shorten.ts';

/** How many characters (UTF-16 code units) of each end are kept. */
export interface CaptureLimits {
  readonly head: number;
  readonly tail: number;
}

const LIMITS: CaptureLimits = { head: 256 * 1024, tail: 256 * 1024 };
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/** Decodes UTF-8 across chunk borders; bytes that are not UTF-8 become U+FFFD. A chunk may be reused after `write`. */
export class OutputCapture {
  readonly #limits: CaptureLimits;
  readonly #decoder = new StringDecoder('utf8');
  /** Created only when needed: most output is short, and a buffer for every command burdens the garbage collector. */
  #tail: ByteRing | null = null;
  #head = '';
  #headIsFull = false;
  /** The decoder may be waiting for the rest of a character. */
  #isMidCharacter = false;
  #total = 0;

  constructor(limits: CaptureLimits = LIMITS) {
    this.#limits = limits;
  }

  write(chunk: Uint8Array): void {
    if (this.#headIsFull && !this.#isMidCharacter && isAscii(chunk)) {
      // Most of a flood ends up here; no string is created that would have to be garbage-collected.
      this.#total += chunk.length;
      this.#keepInTail(chunk);
      return;
    }
    this.#add(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)));
    const last = chunk.at(-1);
    if (last !== undefined) this.#isMidCharacter = last >= 0x80;
  }

  /** The captured output. Call it once, at the end: an incomplete character becomes U+FFFD. */
  excerpt(): Excerpt {
    this.#add(this.#decoder.end());
    const tail = this.#tail?.text() ?? '';
    if (this.#head.length + tail.length === this.#total && tail.length <= this.#limits.tail) {
      return whole(this.#head + tail);
    }
    const kept = lastUnits(tail, this.#limits.tail);
    return { head: this.#head, omitted: this.#total - this.#head.length - kept.length, tail: kept };
  }

  #add(text: string): void {
    this.#total += text.length;
    const rest = this.#headIsFull ? text : this.#fillHead(text);
    if (rest.length > 0) this.#keepInTail(Buffer.from(rest));
  }

  #keepInTail(bytes: Uint8Array): void {
    // One extra character, since the beginning of the first may be lost.
    this.#tail ??= new ByteRing((this.#limits.tail + 2) * BYTES_PER_UNIT);
    this.#tail.push(bytes);
  }

  /** Returns what does not fit into the head. */
  #fillHead(text: string): string {
    const room = this.#limits.head - this.#head.length;
    if (text.length <= room) {
      this.#head += text;
      return '';
    }
    const part = firstUnits(text, room);
    this.#head += part;
    this.#headIsFull = true;
    return text.slice(part.length);
  }
}

/** The last bytes of a stream of valid UTF-8, in a buffer that never grows. */
class ByteRing {
  readonly #bytes: Buffer;
  #written = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#bytes.length));
    this.#written += bytes.length - kept.length;
    for (let from = 0; from < kept.length; ) {
      const at = this.#written % this.#bytes.length;
      const part = kept.subarray(from, from + this.#bytes.length - at);
      this.#bytes.set(part, at);
      this.#written += part.length;
      from += part.length;
    }
  }

  /** The contents of the ring, without a partial character at the start. */
  text(): string {
    if (this.#written <= this.#bytes.length) return this.#bytes.toString('utf8', 0, this.#written);
    const at = this.#written % this.#bytes.length;
    const bytes = Buffer.concat([this.#bytes.subarray(at), this.#bytes.subarray(0, at)]);
    let start = 0;
    while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.toString('utf8', start);
  }
}
