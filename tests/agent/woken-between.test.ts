import { expect, test } from 'vitest';
import { wokenBetween } from '../../src/agent/agentic-loop.ts';

test('a consumer wakes up while the generator works, and misses none of its values', async () => {
  let wake = (): void => undefined;
  let goOn = (): void => undefined;
  async function* steps() {
    yield 1;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    yield 2;
  }
  const seen: (number | null)[] = [];
  for await (const step of wokenBetween(steps(), (again) => {
    wake = again;
    if (seen.length === 1 || seen.length === 2) queueMicrotask(() => wake());
    if (seen.length === 3) goOn();
  }))
    seen.push(step);
  expect(seen).toEqual([1, null, null, 2]);
});

test('a consumer that leaves ends the generator, and does not wait for its work', async () => {
  let ended = 0;
  async function* steps(work: Promise<void>) {
    try {
      yield 1;
      await work;
      yield 2;
    } finally {
      ended += 1;
    }
  }
  for await (const _ of wokenBetween(steps(Promise.resolve()), () => undefined)) break;
  expect(ended).toBe(1);
  let fail = (_: Error): void => undefined;
  const work = new Promise<void>((_, reject) => {
    fail = reject;
  });
  for await (const step of wokenBetween(steps(work), (wake) => queueMicrotask(wake)))
    if (step === null) break;
  fail(new Error('too late'));
  await expect(work).rejects.toThrow('too late');
});

test('what fails in the generator fails in the consumer', async () => {
  // biome-ignore lint/correctness/useYield: it fails before it yields
  async function* steps(): AsyncGenerator<number> {
    throw new Error('no');
  }
  await expect(wokenBetween(steps(), () => undefined).next()).rejects.toThrow('no');
});
