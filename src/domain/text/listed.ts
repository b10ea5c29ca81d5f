/** Lists in a sentence that name only as many items as are helpful. */

import { formatNumber } from './format-number.ts';
import { pluralize } from './pluralize.ts';

/** The first `most` names and the number of the rest: `a, b and 3 more`, or with a noun `a, b and 3 more files`. */
export function listed(names: readonly string[], most: number, noun?: string): string {
  const shown = names.slice(0, most).join(', ');
  const left = names.length - most;
  if (left <= 0) return shown;
  return `${shown} and ${noun === undefined ? `${formatNumber(left)} more` : pluralize(left, `more ${noun}`)}`;
}
