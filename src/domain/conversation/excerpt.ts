/** Text of which only the ends may be known: what a command printed, or what a tool result shows after the cut. */

/** `omitted` characters are missing between `head` and `tail`; when it is 0, `tail` is empty and `head` is everything. */
export interface Excerpt {
  readonly head: string;
  readonly omitted: number;
  readonly tail: string;
}

export function whole(text: string): Excerpt {
  return { head: text, omitted: 0, tail: '' };
}

export function excerptLength(excerpt: Excerpt): number {
  return excerpt.head.length + excerpt.omitted + excerpt.tail.length;
}

/** Cuts to at most `limit` characters, half at each end; a surrogate pair is never split. */
export function cutTo(excerpt: Excerpt, limit: number): Excerpt {
  const total = excerptLength(excerpt);
  if (excerpt.omitted === 0 && total <= limit) return excerpt;
  const headLimit = Math.ceil(limit / 2);
  const head = withoutTrailingHalf(excerpt.head.slice(0, headLimit));
  const tailSource = excerpt.omitted === 0 ? excerpt.head : excerpt.tail;
  const tail = withoutLeadingHalf(limit - headLimit > 0 ? tailSource.slice(-(limit - headLimit)) : '');
  return { head, omitted: total - head.length - tail.length, tail };
}

function withoutTrailingHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

function withoutLeadingHalf(text: string): string {
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}
