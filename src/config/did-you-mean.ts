/** For messages about unknown names. */

import { closest, distance } from 'fastest-levenshtein';

/** Far longer than any real name; comparing takes time proportional to the product of both lengths. */
const MAX_LENGTH = 100;

/**
 * The end of a message: the entry of `known`, which is not empty, that has all words of `name` or their beginnings, or takes the fewest edits to get from
 * it. If more than half of it would have to change, `otherwise`: another name is no help then.
 */
export function didYouMean(name: string, known: readonly string[], otherwise: string): string {
  const written = name.slice(0, MAX_LENGTH);
  // People leave out words and ends: --max-cost is --max-cost-usd, however many edits that takes.
  const words = wordsOf(written);
  const [longer, other, ...more] = known.filter((one) =>
    words.every((word) => wordsOf(one).some((its) => its.startsWith(word))),
  );
  if (longer !== undefined && more.length === 0)
    return other === undefined ? `the nearest is ${longer}` : `the nearest are ${longer} and ${other}`;
  const nearest = closest(written, known);
  // The dashes that all flags begin with do not make them similar.
  const letters = Math.max(written.replace(/^-+/, '').length, nearest.replace(/^-+/, '').length);
  const isNear = 2 * distance(written, nearest) <= letters;
  return isNear ? `the nearest is ${nearest}` : otherwise;
}

/** Of a flag, a variable, a key or an input. */
function wordsOf(name: string): string[] {
  return name.toLowerCase().split(/[-_]+/).filter(Boolean);
}
