/** Whose limit holds for which work. */

import { expect, test } from 'vitest';
import { CutShort } from '../../src/domain/errors/thrown.ts';
import { besideOthers, checkTime, inParts, timeLimit, until } from '../../src/files/time-limit.ts';

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a part of a run that is alone limits what continues in the background too, and nothing after it', async () => {
  const [first, second] = [new AbortController().signal, AbortSignal.abort()];
  const seen: unknown[] = [];
  let background = Promise.resolve();
  await inParts(async (part) => {
    await part(first, async () => {
      background = pause()
        .then(pause)
        .then(() => void seen.push(timeLimit()));
      await pause();
    });
    seen.push(timeLimit());
    await expect(
      part(second, async () => {
        await background;
        checkTime();
      }),
    ).rejects.toThrow(CutShort);
  });
  expect(seen).toEqual([null, second]);
  expect(timeLimit()).toBeNull();
});

test('parallel runs have separate limits, from beginning to end', async () => {
  const [one, other] = [new AbortController().signal, new AbortController().signal];
  const limits = await Promise.all(
    [one, other].map((signal) =>
      inParts(async (part) => {
        const before = timeLimit();
        await pause();
        const within = await part(signal, async () => {
          await pause();
          return timeLimit();
        });
        await pause();
        return [before, within, timeLimit()];
      }),
    ),
  );
  expect(limits[1]).toEqual([null, other, null]);
  expect(limits[0]?.[1]).toBe(one);
});

test('code outside a run has no limit, and a nested run has only its own', async () => {
  const [run, inner] = [AbortSignal.abort(), new AbortController().signal];
  await inParts((part) =>
    part(run, async () => {
      const beside = await besideOthers(async () => {
        await pause();
        return [timeLimit(), await inParts((own) => own(inner, async () => timeLimit()))];
      });
      expect(beside).toEqual([null, inner]);
      expect(timeLimit()).toBe(run);
      expect(await until(inner, async () => timeLimit())).toBe(inner);
    }),
  );
});
