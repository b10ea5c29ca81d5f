/** For messages about unknown names. */

import { closest, distance } from 'fastest-levenshtein';

/** A name that could mean either of two settings: the nearest one would be a guess. */
const AMBIGUOUS = 'max-tokens';
const MEANINGS = [
  ['max-output-tokens', 'limits one answer'],
  ['max-total-tokens', 'the whole run'],
] as const;

/** Far longer than any real name; comparing takes time proportional to the product of both lengths. */
const MAX_LENGTH = 100;

/**
 * The end of a message: the entry of `known`, which is not empty, that takes the fewest edits to get from `name`. If more
 * than half of it would have to change, `otherwise`: another name is no help then.
 */
export function didYouMean(name: string, known: readonly string[], otherwise: string): string {
  if (flagIn(name) === AMBIGUOUS) return bothMeanings(known);
  const written = name.slice(0, MAX_LENGTH);
  // People leave out a unit: --max-cost is --max-cost-usd, however many edits that takes.
  const longer = known.filter((one) => one.startsWith(written));
  if (longer.length === 1) return `the nearest is ${longer[0]}`;
  const nearest = closest(written, known);
  // The dashes that all flags begin with do not make them similar.
  const letters = Math.max(written.replace(/^-+/, '').length, nearest.replace(/^-+/, '').length);
  const isNear = 2 * distance(written, nearest) <= letters;
  return isNear ? `the nearest is ${nearest}` : otherwise;
}

/** Both in the spelling of the place where the name was used; as flags if neither is known there. */
function bothMeanings(known: readonly string[]): string {
  return MEANINGS.map(([flag, meaning]) => {
    const spelled = known.find((name) => flagIn(name) === flag) ?? `--${flag}`;
    return `${spelled} ${meaning}`;
  }).join(', ');
}

/** The flag for a name, whether it was given as a flag, a variable, a key or an input. */
function flagIn(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(?:--|patchsmith_)/, '')
    .replaceAll('_', '-');
}
