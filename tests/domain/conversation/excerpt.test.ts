import { describe, expect, test } from 'vitest';
import { cutTo, excerptLength, whole } from '../../../src/domain/conversation/excerpt.ts';

describe('cutTo', () => {
  test('leaves alone what fits', () => {
    expect(cutTo(whole('abc'), 3)).toEqual(whole('abc'));
  });

  test('keeps head and tail and counts the rest', () => {
    const cut = cutTo(whole('abcdefghij'), 4);
    expect(cut).toEqual({ head: 'ab', omitted: 6, tail: 'ij' });
    expect(excerptLength(cut)).toBe(10);
  });

  test('widens a gap that is already there', () => {
    expect(cutTo({ head: 'abcd', omitted: 100, tail: 'wxyz' }, 4)).toEqual({
      head: 'ab',
      omitted: 104,
      tail: 'yz',
    });
  });

  test('never splits a surrogate pair', () => {
    const cut = cutTo(whole('a😀bcdef😀z'), 4);
    expect(cut.head).toBe('a');
    expect(cut.tail).toBe('z');
    expect(excerptLength(cut)).toBe(11);
  });
});
