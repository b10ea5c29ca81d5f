import { expect, test } from 'vitest';
import { wrapped } from '../../../src/domain/text/terminal.ts';

test('a line is broken at spaces, and continues below its text', () => {
  expect(wrapped('ok    plan  one two three four', 17, 12)).toBe(
    'ok    plan  one\n            two\n            three\n            four',
  );
  expect(wrapped('ok    plan  one two', 19, 12)).toBe('ok    plan  one two');
});

test('a word without a space stays whole', () => {
  expect(wrapped('ok    plan  /a/very/long/path and more', 17, 12)).toBe(
    'ok    plan  /a/very/long/path\n            and\n            more',
  );
  expect(wrapped('', 10, 4)).toBe('');
});
