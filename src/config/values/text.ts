/** Texts, and words that stand for something. */

import * as z from 'zod';
import { formatNumber } from '../../domain/text/words.ts';
import { scalarText, shown, value } from './value.ts';

/** Made once: every schema takes a fiftieth of a millisecond. */
const TEXT = value('text', (given) => {
  const tidy = typeof given === 'string' ? given.trim() : '';
  return tidy === '' || tidy.includes('\0') ? undefined : tidy;
}).register(z.globalRegistry, { type: 'string', pattern: '^\\s*[^\\s\\u0000][^\\u0000]*$' });

/** Non-empty text without surrounding whitespace. */
export const text = () => TEXT;

/** Bytes of a name on Linux. */
const MAX_NAME_BYTES = 255;

/** Bytes of a path: fewer than Linux allows, because it is joined to the working directory, or names are appended to it. */
const MAX_PATH_BYTES = 2_000;

/** Whether it can be a path, or several with one a line. Bytes that are not UTF-8 arrive as U+FFFD, which names another file. JSON may hold tokens. */
function canBePath(given: string): boolean {
  const fits = (text: string, bytes: number) => Buffer.byteLength(text) <= bytes;
  return (
    !/[\0\ufffd]|^(?:\{\s*(?:["'}]|[\w-]+\s*:)|\[\s*["{])/.test(given) &&
    given.split('\n').every((line) => fits(line, MAX_PATH_BYTES)) &&
    given.split(/[\n/]/).every((name) => fits(name, MAX_NAME_BYTES))
  );
}

const A_PATH = {
  error: ({ input }: { input?: unknown }) =>
    `expected a path in UTF-8 of at most ${formatNumber(MAX_PATH_BYTES)} bytes, ${MAX_NAME_BYTES} for each name, got ${/^[[{]/.test(String(input)) ? 'JSON: write it to a file' : shown(input)}`,
};

/** The path of a file or a folder. */
export function path() {
  return text().refine(canBePath, A_PATH);
}

/** An entry of a list of paths. */
export function pathEntry() {
  return entry().refine(canBePath, A_PATH);
}

/** Characters of a text that goes into a commit or a pull request: enough for a template, and far from GitHub's limits. */
const MAX_LONG_TEXT = 4_000;

/** Text of several lines, without control characters and without our own hidden markers. */
export function longText() {
  return text()
    .refine((given) => given.length <= MAX_LONG_TEXT, {
      error: `expected at most ${formatNumber(MAX_LONG_TEXT)} characters`,
    })
    .refine((given) => !/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(given), {
      error: 'expected text without control characters',
    })
    .refine((given) => !given.includes('<!-- patchsmith:'), {
      error: 'expected text without <!-- patchsmith:, by which pull requests are found again',
    });
}

/** An entry of a list that is not blank. */
export function entry() {
  return z.string().trim().min(1, 'an entry must not be empty');
}

/** A schema for one of several names. */
export function choice<const Name extends string>(names: readonly [Name, ...Name[]]) {
  return value(`one of ${names.join(', ')}`, (given) => names.find((name) => name === given)).register(
    z.globalRegistry,
    {
      enum: [...names],
    },
  );
}

const YES = ['true', '1', 'yes', 'on'];
const NO = ['false', '0', 'no', 'off'];

/** JSON Schema has no patterns without regard to case. */
function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

const YES_OR_NO = value('true or false', (given) => {
  const word = scalarText(given).toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
}).register(z.globalRegistry, {
  anyOf: [
    { type: 'boolean' },
    { enum: [0, 1] },
    { type: 'string', pattern: `^(?:${[...YES, ...NO].map(inAnyCase).join('|')})$` },
  ],
});

/** True or false, also as `1`, `yes`, `on` and `0`, `no`, `off`. */
export const yesOrNo = () => YES_OR_NO;
