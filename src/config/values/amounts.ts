/** Numbers with their units: counts, sizes, money, durations, ages. */

import * as z from 'zod';
import { type GivenPrice, Price } from '../../domain/run/pricing.ts';
import { numberFrom, scalarText, value } from './value.ts';

/** Node's timers fire at once when the delay does not fit into 31 bits, which is 596 hours. */
const MAX_DURATION_MS = 500 * 3_600_000;

const UNIT_MS = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000 };
const AGE_MS = { ...UNIT_MS, d: 24 * 3_600_000 };
const UNIT_BYTES = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** A number with one of the units, in whole smallest ones; undefined for anything else. */
function amountFrom(given: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]?)$/.exec(given.trim()) ?? [];
  const factor = units[unit];
  return number === undefined || factor === undefined ? undefined : Math.round(Number(number) * factor);
}

/** The amount in the largest unit that makes it a whole number, such as `30m` or `10g`. */
function amountText(amount: number, units: Readonly<Record<string, number>>): string {
  const all = Object.entries(units).filter(([unit]) => unit !== '');
  const [unit, factor] = all.findLast(([, length]) => amount > 0 && amount % length === 0) ?? ['', 1];
  return `${amount / factor}${unit}`;
}

/** A whole number of at least `min`. */
export function wholeNumber(min: number) {
  return value(`a whole number of at least ${min}`, (given) => {
    const number = numberFrom(given);
    return number !== undefined && Number.isSafeInteger(number) && number >= min ? number : undefined;
  }).register(z.globalRegistry, {
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
      const bytes = amountFrom(scalarText(given).toLowerCase().trim().replace(/i?b$/, ''), UNIT_BYTES) ?? 0;
      return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
    },
  ).register(z.globalRegistry, {
    anyOf: [
      { type: 'number', minimum: 0.5, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s*[kmgtKMGT]?(?:[iI]?[bB])?\\s*$' },
    ],
  });
}

/** A size in the notation of settings: `10g`. */
export function sizeText(bytes: number): string {
  return amountText(bytes, UNIT_BYTES);
}

/** A duration in the notation of settings: `30m`, `1.5s`. */
export function durationText(ms: number): string {
  return ms % 1_000 === 0 ? amountText(ms, UNIT_MS) : `${ms / 1_000}s`;
}

/** An amount of money above zero, in USD. */
export function usd() {
  return value('an amount in USD above 0, such as 2.50', (given) => {
    const number = numberFrom(given);
    return number !== undefined && number > 0 ? number : undefined;
  }).register(z.globalRegistry, {
    anyOf: [
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'string', pattern: NUMBER_IN_TEXT },
    ],
  });
}

/** Milliseconds, given as `90s`, `30m`, `1.5h` or plain seconds; above zero and at most 500 hours. */
export function duration() {
  return value('a duration such as 90s, 30m or 1h (plain numbers are seconds), at most 500h', (given) => {
    const ms = amountFrom(scalarText(given), UNIT_MS) ?? 0;
    return ms > 0 && ms <= MAX_DURATION_MS ? ms : undefined;
  }).register(z.globalRegistry, {
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
  const ms = amountFrom(String(given), AGE_MS);
  return ms !== undefined && ms <= 3_650 * AGE_MS.d ? ms : undefined;
}

/**
 * Prices in USD per million tokens, `input=2,output=10,…`, one line or entry a model; `MODEL:` before them says whose they are, if not
 * those of the model that a run begins with. All five are required.
 */
export function prices() {
  const expected =
    'five prices in USD per million tokens: input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4, once a model; MODEL: in front for another than --model';
  return value(expected, (given): readonly GivenPrice[] | undefined => {
    const lines = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
    if (!Array.isArray(lines)) return undefined;
    const parsed = lines.flatMap((line) => {
      // Names of models have colons, too; names of prices have none.
      const [, model, listed = ''] = /^(?:(.*):)?([^:]*)$/s.exec(scalarText(line).trim()) ?? [];
      const price = priceFrom(listed.split(',').map((part) => part.split('=')));
      return price === null ? [] : [{ model: model === undefined ? null : model.trim(), price }];
    });
    const models = new Set(parsed.map(({ model }) => model));
    return parsed.length === lines.length && models.size === lines.length ? parsed : undefined;
  });
}

function priceFrom(entries: readonly (readonly string[])[]): Price | null {
  const named = new Map(entries.map(([name, amount]) => [String(name).trim(), numberFrom(amount)]));
  const parsed = Price.safeParse({
    input: named.get('input'),
    output: named.get('output'),
    cacheRead: named.get('cache-read'),
    cacheWrite: named.get('cache-write'),
    cacheWrite1h: named.get('cache-write-1h'),
  });
  return parsed.success && named.size === 5 && entries.length === 5 ? parsed.data : null;
}

/** What `numberFrom` takes as text. */
const NUMBER_IN_TEXT = '^\\s*\\d+(?:\\.\\d+)?\\s*$';
