/** Lists of texts and of names, also as text with commas or line breaks between them. */

import * as z from 'zod';
import { shown, value } from './value.ts';

/** The entries of a list, or the lines of a text; undefined for anything else. */
function entriesIn(given: unknown): string[] | undefined {
  const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
}

/** One text, or a list of at least `min`. A variable holds one per line. Each entry is then validated by `ofEach`. */
export function texts<Text extends string>(ofEach: z.ZodType<Text, string>, min: 0 | 1 = 1) {
  return value('text or a list of texts', entriesIn)
    .register(z.globalRegistry, {
      anyOf: [
        { type: 'string', ...(min > 0 ? { pattern: '\\S' } : {}) },
        { type: 'array', items: { type: 'string', minLength: 1 }, minItems: min },
      ],
    })
    .pipe(z.array(ofEach).min(min, 'expected at least one entry'));
}

/**
 * One name, or a list of at least one, with commas or line breaks between them. For names that can have neither in them:
 * labels, logins, slugs.
 */
export function names<Name extends string>(ofEach: z.ZodType<Name, string>) {
  return value(LISTED_NAMES, (given) =>
    entriesIn(given)?.flatMap((item) => {
      const parts = item.split(/[,\n]/).filter((part) => part.trim() !== '');
      // A blank entry is a mistake, a comma at the end is not.
      return parts.length === 0 ? [''] : parts;
    }),
  ).pipe(z.array(ofEach).min(1, 'expected at least one entry'));
}

const LISTED_NAMES = 'names with commas between them, or a list of names';

/** Several of some names, also with commas between them. */
export function namesAmong(names: readonly string[]) {
  return value(LISTED_NAMES, (given) => {
    const asked = entriesIn(given)?.flatMap((item) => item.split(/[,\n]/).map((name) => name.trim()));
    return asked?.filter((name) => name !== '');
  })
    .register(z.globalRegistry, namesInJson(names))
    .pipe(
      z.array(
        z.string().refine((name) => names.includes(name), {
          error: ({ input }) => `expected ${names.join(', ')}, got ${shown(input)}`,
        }),
      ),
    );
}

function namesInJson(names: readonly string[]) {
  const name = `(?:${names.join('|')})`;
  const several = `^[\\s,]*(?:${name}(?:[^\\S\\n]*[,\\n][\\s,]*${name})*[\\s,]*)?$`;
  const item = { anyOf: [{ enum: [...names] }, { type: 'string' as const, pattern: several }] };
  return { anyOf: [...item.anyOf, { type: 'array' as const, items: item }] };
}

/** A mapping as it stands, or a list of texts; a variable holds one per line. */
export function mappingOrTexts() {
  return value(
    'a mapping, or a list of texts',
    (given): Readonly<Record<string, unknown>> | readonly string[] | undefined =>
      typeof given === 'object' && given !== null && !Array.isArray(given) ? { ...given } : entriesIn(given),
  );
}
