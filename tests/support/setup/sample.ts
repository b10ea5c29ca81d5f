import { env } from 'node:process';

/** `npm run test:full`, which takes what a night has time for. */
export const IS_FULL = env.PATCHSMITH_FULL === '1';

/** How long a test may take that goes through many of a kind, in milliseconds: all of them, on a busy machine. */
export const MATRIX_MS = 3_600_000;

/**
 * What `npm test` takes of many alike: one of each kind, always the same ones. `npm run test:full` takes them all. `seed`
 * says which of a kind.
 */
export function sampled<T>(all: readonly T[], kindOf: (one: T) => string, seed = 0): T[] {
  if (IS_FULL) return [...all];
  const kinds = new Map<string, T[]>();
  for (const one of all) kinds.set(kindOf(one), [...(kinds.get(kindOf(one)) ?? []), one]);
  const chosen = new Set([...kinds.values()].map((alike) => alike[seed % alike.length]));
  return all.filter((one) => chosen.has(one));
}

/** What the fuzz tests try in `npm test`, and in `npm run test:full`: cases, work trees, sequences of hostile commands. */
export const FUZZ = {
  cases: { sampled: 1000, all: 20_000 },
  trees: { sampled: 25, all: 10_000 },
  sequences: { sampled: 20, all: 2000 },
} as const;

/** How many of these the fuzz tests try in this run of the suite. */
export function fuzzRuns(what: keyof typeof FUZZ): number {
  return FUZZ[what][IS_FULL ? 'all' : 'sampled'];
}

/** How many random cases `npm test` tries, where `npm run test:full` tries this many: a twentieth, but never less than ten. */
export function randomCases(all: number): number {
  return IS_FULL ? all : Math.max(10, Math.ceil(all / 20));
}
