/** A count with its noun. */

import { formatNumber } from './format-number.ts';

/** `1 file`, `2 files`, `10,000 files`: the noun takes an s unless there is exactly one. */
export function pluralize(n: number, noun: string): string {
  return `${formatNumber(n)} ${noun}${n === 1 ? '' : 's'}`;
}
