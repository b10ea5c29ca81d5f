/** How wide what people read may be. */

import type { Writable } from 'node:stream';

/** The width of the terminal that this is; no limit elsewhere: a pipe gets whole lines. */
export function columnsOf(stream: Writable): number {
  const { isTTY, columns } = stream as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns ? columns : Number.POSITIVE_INFINITY;
}
