import { expect, test } from 'vitest';
import { changeSubject, changeTitle } from '../../../../src/domain/github/publishing/plain-text.ts';
import { finishedRun } from '../../../support/runs/finished-run.ts';

const url = 'https://github.com/acme/shop/issues/7';
const issue = { repository: 'acme/shop', number: 7, author: 'mona', url };
const plan = { title: 'fix this please', sha256: 'a'.repeat(64), allow: [], protect: [] };
const comment = { ...plan, source: { kind: 'comment', commentId: 9, ...issue } as const };

test.each([
  ['Round amounts half to even.\n\nBefore, they were cut.', 'Round amounts half to even'],
  ['\n## Summary of `round`\nx', 'Summary of round'],
  ['- **Rounds** amounts', 'Rounds amounts'],
  [
    `Rounds amounts half to even. ${'A long sentence that says how. '.repeat(5)}`,
    'Rounds amounts half to even',
  ],
  ['', 'fix this please'],
  ['---\n', 'fix this please'],
])('the change that a comment asked for is called by what was done: %j', (summary, expected) => {
  expect(changeTitle(finishedRun({ plan: comment, summary }))).toBe(expected);
});

test('the change that an issue asked for is called as the issue is', () => {
  const asked = { ...plan, title: 'Round amounts', source: { kind: 'issue', ...issue } as const };
  const subject = (summary: string) => changeSubject(finishedRun({ plan: asked, summary }));
  expect(changeTitle(finishedRun({ plan: asked }))).toBe('Round amounts');
  expect(['Round to cents.\n\nIt cut them.', 'Done.', ''].map(subject)).toEqual([
    'Round to cents',
    ...['Round amounts', 'Round amounts'],
  ]);
});
