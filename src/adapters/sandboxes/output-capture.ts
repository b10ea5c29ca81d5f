/** Keeps both ends of a byte stream of any length as text, in bounded memory. */

import { StringDecoder } from 'node:string_decoder';
import { type Excerpt, whole } from '../../domain/excerpt.ts';

/** How many characters (UTF-16 code units) of each end are kept. */
export interface CaptureLimits {
  readonly head: number;
  readonly tail: number;
}

const LIMITS: CaptureLimits = { head: 256 * 1024, tail: 256 * 1024 };

/** Small writes are joined up to this many characters, so that a stream of single bytes makes few pieces. */
const PIECE = 64 * 1024;

/** Decodes UTF-8 across chunk borders; bytes that are not UTF-8 become U+FFFD. */
export class OutputCapture {
  readonly #limits: CaptureLimits;
  readonly #decoder = new StringDecoder('utf8');
  #head = '';
  #headIsFull = false;
  #tail: string[] = [];
  #tailLength = 0;
  #total = 0;

  constructor(limits: CaptureLimits = LIMITS) {
    this.#limits = limits;
  }

  write(chunk: Buffer): void {
    this.#add(this.#decoder.write(chunk));
  }

  /** What was captured so far. Call it once, at the end: an unfinished character is closed as U+FFFD. */
  excerpt(): Excerpt {
    this.#add(this.#decoder.end());
    const tail = this.#tail.join('');
    if (this.#head.length + tail.length === this.#total && tail.length <= this.#limits.tail) {
      return whole(this.#head + tail);
    }
    const kept = withoutLeadingHalf(tail.slice(Math.max(0, tail.length - this.#limits.tail)));
    return { head: this.#head, omitted: this.#total - this.#head.length - kept.length, tail: kept };
  }

  #add(text: string): void {
    this.#total += text.length;
    const rest = this.#headIsFull ? text : this.#fillHead(text);
    if (rest.length === 0) return;
    const last = this.#tail.at(-1);
    if (last !== undefined && last.length + rest.length <= PIECE)
      this.#tail[this.#tail.length - 1] = last + rest;
    else this.#tail.push(rest);
    this.#tailLength += rest.length;
    this.#dropFromTail();
  }

  /** Returns what the head has no room for. */
  #fillHead(text: string): string {
    const room = this.#limits.head - this.#head.length;
    if (text.length <= room) {
      this.#head += text;
      return '';
    }
    const part = withoutTrailingHalf(text.slice(0, room));
    this.#head += part;
    this.#headIsFull = true;
    return text.slice(part.length);
  }

  #dropFromTail(): void {
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      if (this.#tailLength - first.length < this.#limits.tail) return;
      this.#tail.shift();
      this.#tailLength -= first.length;
    }
  }
}

function withoutTrailingHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

function withoutLeadingHalf(text: string): string {
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}
