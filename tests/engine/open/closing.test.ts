import { expect, test } from 'vitest';
import { Closing } from '../../../src/engine/open/sandbox.ts';

test('everything opened is closed once, in reverse order', async () => {
  const closed: string[] = [];
  const closing = new Closing(() => {});
  for (const name of ['egress', 'sandbox']) closing.own(() => closed.push(name));
  await Promise.all([closing.close(), closing.close()]);
  expect(closed).toEqual(['sandbox', 'egress']);
});

test('anything opened after the end by abandoned work is closed at once', async () => {
  const closed: string[] = [];
  const closing = new Closing(() => {});
  await closing.close();
  closing.own(() => closed.push('sandbox'));
  expect(closed).toEqual(['sandbox']);
});

test('what cannot be closed is reported, and keeps nothing else open', async () => {
  const reported: string[] = [];
  const closed: string[] = [];
  const closing = new Closing((failure) => reported.push(failure));
  closing.own(() => closed.push('egress'));
  closing.own(() => Promise.reject(new Error('busy')));
  await closing.close();
  expect([closed, reported]).toEqual([['egress'], ['busy']]);
});
