import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pluralize } from '../../../src/domain/text/words.ts';

test('a noun takes an s unless there is exactly one', () => {
  expect([0, 1, 2, 10_000].map((n) => pluralize(n, 'file'))).toEqual([
    '0 files',
    '1 file',
    '2 files',
    '10,000 files',
  ]);
});

test('whatever is counted ends with its noun, and the noun takes an s', () => {
  const nouns = ['src', 'page'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [
        ...readFileSync(join(folder, name), 'utf8').matchAll(
          /pluralize\([^;]*?, '([^']+)'\)|\.(?:length|\w*Count), '([a-z ]+)'/g,
        ),
      ])
      .map(([, noun, listed]) => noun ?? listed ?? ''),
  );
  expect(nouns).toContain('unexplained change');
  const wrong = / (?:as|at|by|from|in|not|of|on|that|to|with|without) |(?:[sxy]|ch|sh)$/;
  expect(nouns.filter((noun) => wrong.test(noun) && !/[aeou]y$/.test(noun))).toEqual([]);
});
