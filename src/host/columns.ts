/** The maximum width of output for people. */

import type { Writable } from 'node:stream';

/** The width of the terminal; no limit elsewhere: a pipe gets whole lines. */
export function columnsOf(stream: Writable): number {
  const { isTTY, columns } = stream as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns ? columns : Number.POSITIVE_INFINITY;
}
