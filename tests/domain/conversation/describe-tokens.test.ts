import { expect, test } from 'vitest';
import { describeTokens, noUsage } from '../../../src/domain/conversation/conversation.ts';

test.each([
  [{}, '0 tokens'],
  [{ output: 1_203 }, '1,203 tokens'],
  [{ input: 10_000, cacheRead: 40_000, output: 12_000 }, '62,000 tokens, 80% of the prompts from the cache'],
])('tokens are told with the share of the cache, once there is a prompt: %j', (usage, said) => {
  expect(describeTokens({ ...noUsage, ...usage })).toBe(said);
});
