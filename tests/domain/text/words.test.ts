import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatNumber, listed, sentence } from '../../../src/domain/text/words.ts';

describe('listed', () => {
  test('names what there is room for, and counts the others', () => {
    expect(listed([], 2)).toBe('');
    expect(listed(['a', 'b'], 2)).toBe('a, b');
    expect(listed(['a', 'b', 'c'], 2)).toBe('a, b and 1 more');
    expect(listed(['a', 'b', 'c'], 2, 'file')).toBe('a, b and 1 more file');
    expect(listed(Array(1_003).fill('a'), 2, 'file')).toBe('a, a and 1,001 more files');
  });

  test('no name is lost: each is shown or counted', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,5}$/)),
        fc.integer({ min: 1, max: 60 }),
        (names, most) => {
          const [, shown = '', left = '0'] = /^(.*?)(?: and (\d+) more)?$/.exec(listed(names, most)) ?? [];
          const kept = shown === '' ? [] : shown.split(', ');
          expect(kept).toEqual(names.slice(0, most));
          expect(kept.length + Number(left)).toBe(names.length);
        },
      ),
    );
  });
});

test('a sentence ends with one full stop, whatever it was given', () => {
  expect(['no', 'no.', 'no. \n', 'why?', 'wait...'].map(sentence)).toEqual([
    'no.',
    'no.',
    'no.',
    'why?',
    'wait...',
  ]);
});

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
