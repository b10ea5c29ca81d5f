import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatNumber } from '../../../src/domain/text/words.ts';

test('writes numbers as American English does', () => {
  const numbers = fc.oneof(
    fc.nat(),
    fc.nat(9_999_999).map((n) => n / 1000),
  );
  fc.assert(
    fc.property(numbers, (n) => {
      expect(formatNumber(n)).toBe(n.toLocaleString('en-US'));
    }),
  );
});
