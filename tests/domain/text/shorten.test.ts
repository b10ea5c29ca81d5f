import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstUnits, lastUnits, shortened } from '../../../src/domain/text/shorten.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'é', '𝒳', '😀'), maxLength: 20 });
const length = fc.integer({ min: 0, max: 45 });
const isWellFormed = (part: string) => !/\p{Surrogate}/u.test(part);

describe('a text that is cut', () => {
  test('is its beginning or end, and no pair is split', () => {
    expect(firstUnits('a😀b', 2)).toBe('a');
    expect(firstUnits('a😀b', 3)).toBe('a😀');
    expect(lastUnits('a😀b', 2)).toBe('b');
    expect(lastUnits('a😀b', 0)).toBe('');
    fc.assert(
      fc.property(text, length, (given, most) => {
        const [first, last] = [firstUnits(given, most), lastUnits(given, most)];
        expect(given.startsWith(first) && given.endsWith(last)).toBe(true);
        for (const part of [first, last]) {
          expect(isWellFormed(part)).toBe(true);
          expect(part.length).toBeLessThanOrEqual(most);
          expect(part.length).toBeGreaterThanOrEqual(Math.min(given.length, most) - 1);
        }
      }),
    );
  });

  test('marks the cut with an ellipsis, which counts', () => {
    expect(shortened('abc', 3)).toBe('abc');
    expect(shortened('abcd', 3)).toBe('ab…');
    fc.assert(
      fc.property(text, length, (given, most) => {
        fc.pre(most > 0);
        const short = shortened(given, most);
        expect(short.length).toBeLessThanOrEqual(most);
        expect(short === given || (short.endsWith('…') && given.startsWith(short.slice(0, -1)))).toBe(true);
        expect(isWellFormed(short)).toBe(true);
      }),
    );
  });
});
