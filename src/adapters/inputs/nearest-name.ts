/** For messages about names that do not exist. */

import { closest } from 'fastest-levenshtein';

/** Far more than any name that exists has; comparing takes the product of both lengths. */
const MAX_LENGTH = 100;

/** The name among `known`, which is not empty, that takes the fewest edits to get from `name`. */
export function nearestName(name: string, known: readonly string[]): string {
  return closest(name.slice(0, MAX_LENGTH), known);
}
