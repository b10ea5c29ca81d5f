import { describe, expect, test } from 'vitest';
import { flagsToRepeat, withinToday } from '../../../src/commands/resume/recorded-permissions.ts';
import { type Settings, withDefaults } from '../../../src/config/schema.ts';
import type { RunStarted } from '../../../src/domain/run/events.ts';
import { limits, started } from '../../support/runs/events.ts';

const today = (part: Partial<Settings> = {}) => ({ ...withDefaults({}), ...part });
const price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
const contained: RunStarted = {
  ...started,
  provider: 'anthropic',
  sandbox: 'namespaces',
  modelSettings: { ...started.modelSettings, maxOutputTokens: 8_192 },
};

const other = { provider: 'openai', model: 'gpt-5.4', price: null };
const reviewedBy = (by: typeof other | (Omit<typeof other, 'price'> & { price: typeof price })) => ({
  by,
  ifNotReviewed: 'report' as const,
});
const reads = (...webFetch: string[]) => ({ toolSettings: { ...contained.toolSettings, webFetch } });

describe('what a journal asks for beyond the settings has to be repeated:', () => {
  test.each<[part: Partial<RunStarted>, flag: string, given: Partial<Settings>]>([
    [{ sandbox: 'none' }, '--sandbox off', { sandbox: 'off' }],
    [{ allowedDomains: ['a.example'] }, '--allow-domain a.example', { allowedDomains: ['a.example'] }],
    [{ allowedPrivate: ['nexus:81'] }, '--allow-private nexus:81', { allowedPrivate: ['nexus:81'] }],
    [
      { allowedDomains: ['*.a.example'] },
      "--allow-domain '*.a.example'",
      { allowedDomains: ['*.a.example'] },
    ],
    [reads('docs.example'), '--web-fetch docs.example', { webFetch: ['docs.example'] }],
    [reads('docs.example'), '--web-fetch docs.example', { webFetch: ['*'] }],
    [reads('*'), "--web-fetch '*'", { webFetch: ['*'] }],
    [{ limits: { ...limits, maxIterations: 26 } }, '--max-iterations 26', { maxIterations: 26 }],
    [{ limits: { ...limits, deadlineMs: 1_800_500 } }, '--deadline 1800.5s', { deadlineMs: 1_800_500 }],
    [{ limits: { ...limits, fixRounds: 9 } }, '--fix-rounds 9', { fixRounds: 9 }],
    [{ acceptSecrets: ["it's/**"] }, "--accept-secrets 'it'\\''s/**'", { acceptSecrets: ["it's/**"] }],
    [{ provider: 'other' }, '--provider other', { provider: 'other' }],
    [{ includeForeign: true }, '--include-foreign', { includeForeign: true }],
    [
      { price, limits: { ...limits, maxCostUsd: 1 } },
      '--price input=0,output=0,cache-read=0,cache-write=0,cache-write-1h=0',
      { price: [{ model: null, price }] },
    ],
  ])('%j', (part, flag, given) => {
    const start = { ...contained, ...part };
    expect(flagsToRepeat(start, today())).toEqual([flag]);
    expect(flagsToRepeat(start, today(given))).toEqual([]);
  });

  test('nothing of what every run may', () => {
    expect(flagsToRepeat(contained, today())).toEqual([]);
    expect(flagsToRepeat({ ...contained, price }, today())).toEqual([]);
  });

  test('every page, where only those of one host may be read', () => {
    const asked = { ...contained, ...reads('*') };
    expect(flagsToRepeat(asked, today({ webFetch: ['docs.example'] }))).toEqual(["--web-fetch '*'"]);
  });

  test('the prices of the other models, where the cost is limited', () => {
    const start = { ...contained, review: reviewedBy({ ...other, price }) };
    const reviewModel = 'openai/gpt-5.4';
    const flag = '--price openai/gpt-5.4:input=0,output=0,cache-read=0,cache-write=0,cache-write-1h=0';
    expect(flagsToRepeat(start, today({ reviewModel }))).toEqual([]);
    expect(flagsToRepeat(start, today({ reviewModel, maxCostUsd: 1 }))).toEqual([flag]);
    const given = { reviewModel, maxCostUsd: 1, price: [{ model: 'gpt-5.4', price }] };
    expect(flagsToRepeat(start, today(given))).toEqual([]);
  });
});

test('the price of another model is today’s if known, otherwise the recorded one', () => {
  const dear = { ...price, output: 9 };
  const start = { ...contained, fallback: { ...other, price }, review: reviewedBy({ ...other, price }) };
  const named = { fallbackModel: 'openai/gpt-5.4', reviewModel: 'openai/gpt-5.4' };
  const pricesOf = ({ fallback, review }: RunStarted) => [fallback?.price, review?.by?.price];
  expect(pricesOf(withinToday(start, today(named), []))).toEqual([price, price]);
  const given = today({ ...named, price: [{ model: 'openai/gpt-5.4', price: dear }] });
  expect(pricesOf(withinToday(start, given, []))).toEqual([dear, dear]);
});

test('limits of today hold where the journal has none', () => {
  expect(
    withinToday({ ...contained, price, limits }, today({ maxTotalTokens: 7, maxCostUsd: 2 }), []).limits,
  ).toEqual({
    ...limits,
    maxTotalTokens: 7,
    maxCostUsd: 2,
  });
  expect(
    withinToday({ ...contained, limits: { ...limits, maxTotalTokens: 3 } }, today({ maxTotalTokens: 7 }), [])
      .limits.maxTotalTokens,
  ).toBe(3);
});

test('a given limit replaces the recorded one, and the others stay', () => {
  const more = today({ maxIterations: 50, maxTotalTokens: 9, deadlineMs: 5_000 });
  const recorded = { ...contained, limits: { ...limits, maxTotalTokens: 3 } };
  expect(withinToday(recorded, more, ['maxIterations', 'maxTotalTokens', 'provider']).limits).toEqual({
    ...limits,
    maxIterations: 50,
    maxTotalTokens: 9,
  });
  expect(
    withinToday(contained, today({ maxOutputTokens: 9_000 }), ['maxOutputTokens']).modelSettings
      .maxOutputTokens,
  ).toBe(9_000);
});
