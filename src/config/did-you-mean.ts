/** For messages about names that do not exist. */

import { closest, distance } from 'fastest-levenshtein';

/** A name of earlier versions that reads as either of two settings: the nearest one would be a guess. */
const AMBIGUOUS = 'max-tokens';
const MEANINGS = [
  ['max-output-tokens', 'limits one answer'],
  ['max-total-tokens', 'the whole run'],
] as const;

/** Far more than any name that exists has; comparing takes the product of both lengths. */
const MAX_LENGTH = 100;

/**
 * The end of a message: the name among `known`, which is not empty, that takes the fewest edits to get from `name`. Where
 * that would have to change more than half of it, it is `otherwise`: another name is no help then.
 */
export function didYouMean(name: string, known: readonly string[], otherwise: string): string {
  if (flagIn(name) === AMBIGUOUS) return bothMeanings(known);
  const written = name.slice(0, MAX_LENGTH);
  const nearest = closest(written, known);
  // What all flags begin with makes none of them alike.
  const letters = Math.max(written.replace(/^-+/, '').length, nearest.replace(/^-+/, '').length);
  const isNear = 2 * distance(written, nearest) <= letters;
  return isNear ? `the nearest is ${nearest}` : otherwise;
}

/** Both as they are spelled where the name was used; as flags where that place knows neither. */
function bothMeanings(known: readonly string[]): string {
  return MEANINGS.map(([flag, meaning]) => {
    const spelled = known.find((name) => flagIn(name) === flag) ?? `--${flag}`;
    return `${spelled} ${meaning}`;
  }).join(', ');
}

/** The flag that a name stands for, whether it is typed, a variable, a key or an input. */
function flagIn(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(?:--|patchsmith_)/, '')
    .replaceAll('_', '-');
}
