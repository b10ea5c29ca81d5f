import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import { costOf } from '../../../src/domain/run/pricing.ts';

const million = 1_000_000;

describe('costOf', () => {
  test('bills every class of tokens at its own price', () => {
    const usage = {
      input: million,
      output: million,
      cacheRead: million,
      cacheWrite: million,
      cacheWrite1h: million,
    };
    expect(costOf('claude-sonnet-5-5', usage, null)).toBeCloseTo(2 + 10 + 0.1 + 2.5 + 4);
  });

  test('a long prompt changes the price of the whole request', () => {
    const short = { ...noUsage, input: 100_000, output: 1_000 };
    const long = { ...noUsage, input: 1, cacheRead: 100_000, output: 1_000 };
    expect(costOf('claude-haiku-5-5', short, null)).toBeCloseTo(0.01 + 0.0005);
    expect(costOf('claude-haiku-5-5', long, null)).toBeCloseTo(0.0000005 + 0.005 + 0.0025);
  });

  test('a dated id has its family price, and an unknown model has none', () => {
    expect(costOf('claude-sonnet-4-5-20250929', { ...noUsage, input: million }, null)).toBe(3);
    expect(costOf('claude-unheard-of', { ...noUsage, input: million }, null)).toBeNull();
  });

  test('an own price replaces the table', () => {
    const price = { input: 7, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
    expect(costOf('claude-unheard-of', { ...noUsage, input: million }, price)).toBe(7);
  });
});
