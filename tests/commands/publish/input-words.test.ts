import { expect, test } from 'vitest';
import { inputWords } from '../../../src/commands/publish/issue/input-words.ts';

test.each([
  ['publish with --reopen always', 'publish with reopen: always'],
  [
    'Accept them with --accept-protected GLOB, or --protected draft.',
    'Accept them with accept-protected: GLOB, or protected: draft.',
  ],
  ['Reached the limit (--max-iterations 25).', 'Reached the limit (max-iterations: 25).'],
  ['Raise it with --deadline.', 'Raise it with the input deadline.'],
  ['Publish it with --publish-unfinished.', 'Publish it with publish-unfinished: true.'],
  ['--issue: there is none', 'issue: there is none'],
  ['Name it with --plan FILE.', 'Name it with plan-file: FILE.'],
  [
    'Run git lfs push --object-id origin 1; then --base.',
    'Run git lfs push --object-id origin 1; then the input base.',
  ],
  [
    'Carry it on: patchsmith resume R --repo DIR --max-iterations 50',
    'Carry it on: patchsmith resume R --repo DIR --max-iterations 50',
  ],
  [
    'comment /patchsmith and what to do (--continue)',
    'comment /patchsmith and what to do (the input continue)',
  ],
  ['npm test --watch failed', 'npm test --watch failed'],
])('%s', (reason, words) => {
  expect(inputWords(reason)).toBe(words);
});

test('a reason without an end costs no time', () => {
  expect(inputWords('--base '.repeat(1_000_000)).length).toBeLessThan(20_000);
});
