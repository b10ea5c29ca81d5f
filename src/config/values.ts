/**
 * The types of setting values. Each accepts what a flag or variable gives (text) and what a YAML file gives (text, numbers,
 * lists), and says what it expected when given something else. Those that a project file can have say in `.meta` what that is in JSON
 * Schema, for docs/patchsmith.schema.json; what a pattern cannot tell is left to the parser.
 */

import * as z from 'zod';
import { isBranchName } from '../domain/github/branch-name.ts';
import { Price } from '../domain/run/pricing.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import { shortened } from '../domain/text/shorten.ts';

/** Node's timers fire at once when the delay does not fit into 31 bits, which is 596 hours. */
const MAX_DURATION_MS = 500 * 3_600_000;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Non-empty text without surrounding whitespace. */
export function text() {
  return value('text', (given) => {
    const tidy = typeof given === 'string' ? given.trim() : '';
    return tidy === '' || tidy.includes('\0') ? undefined : tidy;
  }).meta({ type: 'string', pattern: '^\\s*[^\\s\\u0000][^\\u0000]*$' });
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

/** Somebody's name and e-mail address, as in a commit. */
export interface NameAndEmail {
  readonly name: string;
  readonly email: string;
}

/** `Ann Onym <ann@example.org>`. */
export function person() {
  return value(A_PERSON, personFrom);
}

/** Several of them, one a line. */
export function people() {
  return value(`${A_PERSON}, or a list of them`, (given) => {
    const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
    if (!Array.isArray(list)) return undefined;
    const found = list.flatMap((one) => personFrom(one) ?? []);
    return found.length === list.length && found.length > 0 ? found : undefined;
  });
}

const A_PERSON = 'a name and an address such as Ann Onym <ann@example.org>';

function personFrom(given: unknown): NameAndEmail | undefined {
  const match = /^([^<>\x00-\x1f\x7f]{1,200}?) *<([^<>\s@]{1,200}@[^<>\s@]{1,200})>$/.exec(
    String(given).trim(),
  );
  const [, name, email] = match ?? [];
  return name === undefined || email === undefined ? undefined : { name, email };
}

/** An entry of a list that is not blank. */
export function entry() {
  return z.string().trim().min(1, 'an entry must not be empty');
}

/** One text, or a list of at least `min`. A variable holds one per line. Each entry is then validated by `ofEach`. */
export function texts<Text extends string>(ofEach: z.ZodType<Text, string>, min: 0 | 1 = 1) {
  return value('text or a list of texts', (given) => {
    const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
  })
    .meta({
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
  return value('names with commas between them, or a list of names', (given) => {
    const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
    if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) return undefined;
    return list.flatMap((item) => {
      const parts = item.split(/[,\n]/).filter((part) => part.trim() !== '');
      // A blank entry is a mistake, a comma at the end is none.
      return parts.length === 0 ? [''] : parts;
    });
  }).pipe(z.array(ofEach).min(1, 'expected at least one entry'));
}

/** A login of GitHub, also as people mention it: `@octocat`. */
export function login() {
  return entry().transform((given) => given.replace(/^@(?=.)/, ''));
}

/** A team by its slug, also with its organisation: `octo/core`, `@octo/core`. */
export function team() {
  return entry()
    .transform((given) => given.replace(/^@(?=.)/, ''))
    .refine((given) => /^(?:[^/\s]+\/)?[^/\s]+$/.test(given), {
      error: ({ input }) => `expected the slug of a team, also as ORGANISATION/SLUG, got ${shown(input)}`,
    });
}

/** Several of some names, also with commas between them. */
export function namesAmong(names: readonly string[]) {
  return value('names with commas between them, or a list of names', (given) => {
    const list = typeof given === 'string' ? [given] : given;
    if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) return undefined;
    const asked = list.flatMap((item) => item.split(/[,\n]/)).map((name) => name.trim());
    return asked.filter((name) => name !== '');
  })
    .meta(namesInJson(names))
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
    (given): Readonly<Record<string, unknown>> | readonly string[] | undefined => {
      const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
      if (typeof list !== 'object' || list === null) return undefined;
      if (!Array.isArray(list)) return { ...list };
      return list.every((item) => typeof item === 'string') ? list : undefined;
    },
  );
}

/** A schema for one of several names. */
export function choice<const Name extends string>(names: readonly [Name, ...Name[]]) {
  return value(`one of ${names.join(', ')}`, (given) => names.find((name) => name === given)).meta({
    enum: [...names],
  });
}

/** True or false, also as `1`, `yes`, `on` and `0`, `no`, `off`. */
export function yesOrNo() {
  return value('true or false', (given) => {
    const word = scalarText(given).toLowerCase();
    if (YES.includes(word)) return true;
    return NO.includes(word) ? false : undefined;
  }).meta({
    anyOf: [
      { type: 'boolean' },
      { enum: [0, 1] },
      { type: 'string', pattern: `^(?:${[...YES, ...NO].map(inAnyCase).join('|')})$` },
    ],
  });
}

const YES = ['true', '1', 'yes', 'on'];
const NO = ['false', '0', 'no', 'off'];

/** JSON Schema has no patterns without regard to case. */
function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** A whole number of at least `min`. */
export function wholeNumber(min: number) {
  return value(`a whole number of at least ${min}`, (given) => {
    const number = numberFrom(given);
    return number !== undefined && Number.isSafeInteger(number) && number >= min ? number : undefined;
  }).meta({
    anyOf: [
      { type: 'integer', minimum: min, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: NUMBER_IN_TEXT },
    ],
  });
}

/** Bytes, given as `512m`, `4g`, `1.5g` or plain bytes; the units are powers of 1024. */
export function size() {
  return value(
    'a size such as 512m or 4g (k, m, g and t are powers of 1024; plain numbers are bytes)',
    (given) => {
      const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(scalarText(given).trim());
      if (!match) return undefined;
      const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase());
      const bytes = Math.round(Number(match[1]) * 1024 ** power);
      return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
    },
  ).meta({
    anyOf: [
      { type: 'number', minimum: 0.5, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s*[kmgtKMGT]?(?:[iI]?[bB])?\\s*$' },
    ],
  });
}

/** A size in the notation of settings: `10g`. */
export function sizeText(bytes: number): string {
  for (const [unit, factor] of [
    ['g', 1024 ** 3],
    ['m', 1024 ** 2],
    ['k', 1024],
  ] as const) {
    if (bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return String(bytes);
}

/** An amount of money above zero, in USD. */
export function usd() {
  return value('an amount in USD above 0, such as 2.50', (given) => {
    const number = numberFrom(given);
    return number !== undefined && number > 0 ? number : undefined;
  }).meta({
    anyOf: [
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'string', pattern: NUMBER_IN_TEXT },
    ],
  });
}

/** Milliseconds, given as `90s`, `30m`, `1.5h` or plain seconds; above zero and at most 500 hours. */
export function duration() {
  return value('a duration such as 90s, 30m or 1h (plain numbers are seconds), at most 500h', (given) => {
    const match = /^(\d+(?:\.\d+)?)\s*([smh])?$/.exec(scalarText(given).trim());
    if (!match) return undefined;
    const unit = match[2] === 'm' || match[2] === 'h' ? match[2] : 's';
    const ms = Math.round(Number(match[1]) * UNIT_MS[unit]);
    return ms > 0 && ms <= MAX_DURATION_MS ? ms : undefined;
  }).meta({
    anyOf: [
      { type: 'number', minimum: 0.0005, maximum: MAX_DURATION_MS / 1_000 },
      { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s*[smh]?\\s*$' },
    ],
  });
}

/** Milliseconds, given as `14d`, `36h` or a duration; at most 3,650 days. */
export function age() {
  return value(`${AN_AGE} (plain numbers are seconds), at most 3650d`, ageFrom);
}

/** Some time ago, in milliseconds, or the beginning of a day in UTC, in Unix milliseconds. */
export type Since = { readonly agoMs: number } | { readonly at: number };

/** An age, or a day such as `2026-11-01`. */
export function since() {
  return value(`${AN_AGE}, at most 3650d, or a day such as 2026-11-01`, (given): Since | undefined => {
    const day = String(given).trim();
    if (/^\d{4}-\d\d-\d\d$/.test(day)) {
      const at = Date.parse(`${day}T00:00:00Z`);
      const isDay = !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
      return isDay ? { at } : undefined;
    }
    const agoMs = ageFrom(given);
    return agoMs === undefined ? undefined : { agoMs };
  });
}

const AN_AGE = 'an age such as 14d, 36h or 90m';

function ageFrom(given: unknown): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([smhd])?$/.exec(String(given).trim());
  if (!match) return undefined;
  const ms = Math.round(
    Number(match[1]) * (match[2] === 'd' ? DAY_MS : UNIT_MS[(match[2] ?? 's') as 's' | 'm' | 'h']),
  );
  return ms <= 3_650 * DAY_MS ? ms : undefined;
}

const DAY_MS = 24 * 3_600_000;

/** An https address; http only for this machine, so that the key never crosses a network unencrypted. */
export function apiAddress() {
  const expected = 'an https address without user name or query (http only to this machine)';
  // The value may hold a password, so the message does not repeat it.
  return z.unknown().transform((given, context) => {
    if (typeof given === 'string' && isApiAddress(given)) return given.replace(/\/+$/, '');
    context.addIssue({ code: 'custom', message: `expected ${expected}` });
    return z.NEVER;
  });
}

/** The same, and plain http to anywhere: whether that is wanted is for another setting to say. */
export function modelAddress() {
  const expected = "an http(s) address without user name or query (but Azure's ?api-version=)";
  // The value may hold a password, so the message does not repeat it.
  return z.unknown().transform((given, context) => {
    // Azure has no other place for the version of its API.
    const [, address = '', version = ''] =
      typeof given === 'string' ? (/^(.*?)(\?api-version=[\w.-]+)?$/s.exec(given) ?? []) : [];
    if (isApiAddress(address) || isPlainHttp(address)) return address.replace(/\/+$/, '') + version;
    context.addIssue({ code: 'custom', message: `expected ${expected}` });
    return z.NEVER;
  });
}

/** An address to which a key goes in the clear, on a network that others may share. */
export function isPlainHttp(address: string): boolean {
  const [plain = ''] = address.split('?', 1);
  return isAddress(plain) && !isApiAddress(plain) && new URL(plain).protocol === 'http:';
}

/** `OWNER/NAME` of a GitHub repository. */
export function repositoryName() {
  return value('OWNER/NAME', (given) =>
    typeof given === 'string' && /^[\w-]+\/(?!\.{1,2}$)[\w.-]+$/.test(given.trim())
      ? given.trim()
      : undefined,
  );
}

/** The name of a branch, without `refs/heads/`. */
export function branchName() {
  return value('the name of a branch, such as main', (given) => {
    const name = typeof given === 'string' ? given.trim() : '';
    return isBranchName(name) ? name : undefined;
  });
}

/** USD per million tokens: `input=2,output=10,…` or an object with the same names. All five are required. */
export function price() {
  const expected =
    'five prices in USD per million tokens: input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4';
  return value(expected, (given): Price | undefined => {
    const entries =
      typeof given === 'string'
        ? given.split(',').map((part) => part.split('='))
        : Object.entries(given ?? {});
    const named = new Map(entries.map(([name, amount]) => [String(name).trim(), numberFrom(amount)]));
    const parsed = Price.safeParse({
      input: named.get('input'),
      output: named.get('output'),
      cacheRead: named.get('cache-read'),
      cacheWrite: named.get('cache-write'),
      cacheWrite1h: named.get('cache-write-1h'),
    });
    return parsed.success && named.size === 5 && entries.length === 5 ? parsed.data : undefined;
  }).meta({
    anyOf: [
      {
        type: 'object',
        properties: Object.fromEntries(PRICE_NAMES.map((name) => [name, AMOUNT_IN_JSON])),
        required: PRICE_NAMES,
        additionalProperties: false,
      },
      { type: 'string', pattern: '^(?:[^,=]+=[^,=]+,){4}[^,=]+=[^,=]+$' },
    ],
  });
}

const PRICE_NAMES = ['input', 'output', 'cache-read', 'cache-write', 'cache-write-1h'];

/** What `numberFrom` takes as text. */
const NUMBER_IN_TEXT = '^\\s*\\d+(?:\\.\\d+)?\\s*$';

const AMOUNT_IN_JSON = {
  anyOf: [
    { type: 'number' as const, minimum: 0 },
    { type: 'string' as const, pattern: NUMBER_IN_TEXT },
  ],
};

/** A value in a form that can be shown to people: short, on one line, without terminal control characters. */
export function shown(given: unknown): string {
  const json = JSON.stringify(given) ?? String(given);
  return shortened(json, 80).replace(
    /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function value<Result>(expected: string, parse: (given: unknown) => Result | undefined) {
  return z.unknown().transform((given, context): Result => {
    const result = parse(given);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: `expected ${expected}, got ${shown(given)}` });
    return z.NEVER;
  });
}

/** Lists and mappings are no text, not even one with a single entry. */
function scalarText(given: unknown): string {
  return typeof given === 'object' ? '' : String(given);
}

function numberFrom(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined;
  return typeof given === 'string' && /^\d+(?:\.\d+)?$/.test(given.trim()) ? Number(given) : undefined;
}

function isAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { username, password, search, hash } = new URL(given);
  return [username, password, search, hash].every((part) => part === '');
}

function isApiAddress(given: string): boolean {
  if (!isAddress(given)) return false;
  const url = new URL(given);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && local);
}
