import { expect, test } from 'vitest';
import { openAnswerSchema } from '../../../src/adapters/plan/answer-schema.ts';

async function checked(schema: Parameters<typeof openAnswerSchema>[0]) {
  const opened = await openAnswerSchema(schema);
  if (opened.status === 'failed') throw new Error(opened.message);
  return opened.answer;
}

test('an answer that a pattern would be compared with for years is refused', async () => {
  const { problemIn } = await checked({ type: 'string', pattern: '^(a+)+$' });
  expect(problemIn(`${'a'.repeat(60)}!`)).toBe('takes more than 2 s to compare with its schema');
  expect(problemIn('aaa')).toBeNull();
});

test('what does not fit is named by its place, on one line', async () => {
  const { problemIn } = await checked({ type: 'array', items: { type: 'integer' }, uniqueItems: true });
  expect(problemIn([1, 2, 'x\n', 1])).toMatch(/^does not fit its schema: \/2 must be integer, .+$/);
  expect(problemIn(7)).toBe('does not fit its schema: as a whole must be array');
});
