/** The base of all value types: a parser that says what it expected. */

import * as z from 'zod';
import { shortened } from '../../domain/text/shorten.ts';
import { withoutUsers } from '../../domain/text/uri.ts';

/** A value in a form that can be shown to people: short, on one line, without terminal control characters and users of addresses. */
export function shown(given: unknown): string {
  const json = JSON.stringify(given) ?? String(given);
  return shortened(withoutUsers(json), 80).replace(
    /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Made once: there are more than a hundred settings. */
const ANYTHING = z.unknown();

/** A type of value: `parse` returns undefined for an invalid value, which is then reported with the expected form. */
export function value<Result>(expected: string, parse: (given: unknown) => Result | undefined) {
  return ANYTHING.transform((given, context): Result => {
    const result = parse(given);
    if (result !== undefined) return result;
    const message = `expected ${expected}, got ${shown(given)}${expected.startsWith('text') ? inQuotes(given) : ''}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** YAML reads some words as other values; one of them may be a command. */
function inQuotes(given: unknown): string {
  const [bare] = [given].flat().filter((one) => typeof one === 'boolean' || typeof one === 'number');
  return bare === undefined ? '' : `; for text, put it in quotes: "${bare}"`;
}

/** Lists and mappings are not text, not even with a single entry. */
export function scalarText(given: unknown): string {
  return typeof given === 'object' ? '' : String(given);
}

/** The number that a flag or a file gives; undefined for anything else. */
export function numberFrom(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined;
  return typeof given === 'string' && /^\d+(?:\.\d+)?$/.test(given.trim()) ? Number(given) : undefined;
}
