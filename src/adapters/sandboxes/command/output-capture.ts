/** Keeps both ends of a byte stream of any length as text, in bounded memory. */

import { StringDecoder } from 'node:string_decoder';
import { type Excerpt, whole } from '../../../domain/conversation/excerpt.ts';
import { firstUnits, lastUnits } from '../../../domain/text/shorten.ts';

/** How many characters (UTF-16 code units) of each end are kept. */
export interface CaptureLimits {
  readonly head: number;
  readonly tail: number;
}

const LIMITS: CaptureLimits = { head: 256 * 1024, tail: 256 * 1024 };

/** Decodes UTF-8 across chunk borders; bytes that are not UTF-8 become U+FFFD. A chunk may be reused after `write`. */
export class OutputCapture {
  readonly #limits: CaptureLimits;
  readonly #decoder = new StringDecoder('utf8');
  #head = '';
  #headIsFull = false;
  /** What follows the head, or more of its end than is kept. */
  #tail = '';
  #total = 0;

  constructor(limits: CaptureLimits = LIMITS) {
    this.#limits = limits;
  }

  write(chunk: Uint8Array): void {
    this.#add(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)));
  }

  /** The captured output. Call it once, at the end: an incomplete character becomes U+FFFD. */
  excerpt(): Excerpt {
    this.#add(this.#decoder.end());
    const [head, tail] = [this.#head, lastUnits(this.#tail, this.#limits.tail)];
    const omitted = this.#total - head.length - tail.length;
    return omitted === 0 ? whole(head + tail) : { head, omitted, tail };
  }

  #add(text: string): void {
    this.#total += text.length;
    const room = this.#headIsFull ? 0 : this.#limits.head - this.#head.length;
    const isShort = !this.#headIsFull && text.length <= room;
    const part = isShort ? text : firstUnits(text, room);
    this.#head += part;
    if (isShort) return;
    this.#headIsFull = true;
    this.#tail += text.slice(part.length);
    // One more, which shows a pair of surrogates that is cut.
    const most = this.#limits.tail + 1;
    if (this.#tail.length > 2 * most) this.#tail = this.#tail.slice(-most);
  }
}
