/** Text of which only the two ends may be known: the output of a command, or a truncated tool result. */

import { firstUnits, lastUnits } from '../text/shorten.ts';

/** `omitted` characters are missing between `head` and `tail`; when it is 0, `tail` is empty and `head` is everything. */
export interface Excerpt {
  readonly head: string;
  readonly omitted: number;
  readonly tail: string;
}

/** An excerpt that leaves nothing out. */
export function whole(text: string): Excerpt {
  return { head: text, omitted: 0, tail: '' };
}

/** Number of characters of the text from which an excerpt was taken. */
export function excerptLength(excerpt: Excerpt): number {
  return excerpt.head.length + excerpt.omitted + excerpt.tail.length;
}

/** Cuts to at most `limit` characters, half at each end; a surrogate pair is never split. */
export function cutTo(excerpt: Excerpt, limit: number): Excerpt {
  const total = excerptLength(excerpt);
  if (excerpt.omitted === 0 && total <= limit) return excerpt;
  const headLimit = Math.ceil(limit / 2);
  const head = firstUnits(excerpt.head, headLimit);
  const tailSource = excerpt.omitted === 0 ? excerpt.head : excerpt.tail;
  const tail = lastUnits(tailSource, limit - headLimit);
  return { head, omitted: total - head.length - tail.length, tail };
}

/** The lines of a text without colours; those that the gap cuts into are left out. */
export function excerptLines({ head, omitted, tail }: Excerpt): string[] {
  return omitted === 0 ? linesOf(head) : [...linesOf(head).slice(0, -1), ...linesOf(tail).slice(1)];
}

function linesOf(text: string): string[] {
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').split(/\r\n|\n|\r/);
}
