import { expect, test } from 'vitest';
import { sentence } from '../../../src/domain/text/words.ts';

test('a sentence ends with one full stop, whatever it was given', () => {
  expect(['no', 'no.', 'no. \n', 'why?', 'wait...'].map(sentence)).toEqual([
    'no.',
    'no.',
    'no.',
    'why?',
    'wait...',
  ]);
});
