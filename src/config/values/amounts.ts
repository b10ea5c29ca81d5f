/** Numbers with their units: counts, sizes, money, durations, ages. */

import * as z from 'zod';
import { type GivenPrice, Price } from '../../domain/run/pricing.ts';
import { numberFrom, scalarText, value } from './value.ts';

/** Node's timers fire at once when the delay does not fit into 31 bits, which is 596 hours. */
const MAX_DURATION_MS = 500 * 3_600_000;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

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
      const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(scalarText(given).trim());
      if (!match) return undefined;
      const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase());
      const bytes = Math.round(Number(match[1]) * 1024 ** power);
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
    const match = /^(\d+(?:\.\d+)?)\s*([smh])?$/.exec(scalarText(given).trim());
    if (!match) return undefined;
    const unit = match[2] === 'm' || match[2] === 'h' ? match[2] : 's';
    const ms = Math.round(Number(match[1]) * UNIT_MS[unit]);
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
  const match = /^(\d+(?:\.\d+)?)\s*([smhd])?$/.exec(String(given).trim());
  if (!match) return undefined;
  const ms = Math.round(
    Number(match[1]) * (match[2] === 'd' ? DAY_MS : UNIT_MS[(match[2] ?? 's') as 's' | 'm' | 'h']),
  );
  return ms <= 3_650 * DAY_MS ? ms : undefined;
}

const DAY_MS = 24 * 3_600_000;

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
