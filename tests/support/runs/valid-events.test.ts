import { expect, test } from 'vitest';
import { emptyResult } from '../../../src/engine/finish/result.ts';
import { started } from './events.ts';
import { validEvents } from './valid-events.ts';

const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join('\n');
const start = { ...started, seq: 1, at: 1 };

test('the published schema describes events and the result after them, and nothing else', () => {
  expect(validEvents(lines(start, { type: 'result', ...emptyResult('r1', '0.0.0') }))).toHaveLength(2);
  for (const wrong of [
    { ...start, seq: 0 },
    { ...start, more: 1 },
    { type: 'run.started', seq: 1, at: 1 },
    { type: 'message.added', text: 'x' },
    { type: 'no.such', seq: 1, at: 1 },
  ])
    expect(() => validEvents(lines(wrong))).toThrow('does not describe');
});
