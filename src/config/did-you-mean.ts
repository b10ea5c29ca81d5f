/** For messages about names that do not exist. */

import { closest, distance } from 'fastest-levenshtein';

/** Far more than any name that exists has; comparing takes the product of both lengths. */
const MAX_LENGTH = 100;

/**
 * The end of a message: the name among `known`, which is not empty, that takes the fewest edits to get from `name`. Where
 * that would have to change more than half of it, it is `otherwise`: another name is no help then.
 */
export function didYouMean(name: string, known: readonly string[], otherwise: string): string {
  const written = name.slice(0, MAX_LENGTH);
  const nearest = closest(written, known);
  // What all flags begin with makes none of them alike.
  const letters = Math.max(written.replace(/^-+/, '').length, nearest.replace(/^-+/, '').length);
  const isNear = 2 * distance(written, nearest) <= letters;
  return isNear ? `the nearest is ${nearest}` : otherwise;
}
