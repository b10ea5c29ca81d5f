import { describe, expect, test } from 'vitest';
import { mark, plain, post, say, serving, user } from '../post.ts';
import type { ClaudeServer } from '../server.ts';

describe('the prompt cache', () => {
  const long = 'word '.repeat(600);
  const usageOf = async (server: ClaudeServer, body: object) => {
    const { usage = {} } = (await post(server, { ...plain, ...body })).body;
    return [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
  };
  const marked = (blocks: number) => [
    user({ ...say(long), ...mark }, ...Array.from({ length: blocks - 1 }, () => say('more')), {
      ...say('end'),
      ...mark,
    }),
  ];
  const onlyEnd = (blocks: number) => [
    user(say(long), ...Array.from({ length: blocks - 1 }, () => say('more')), { ...say('end'), ...mark }),
  ];

  test('writes at a breakpoint and reads the same prefix later', async () => {
    const server = await serving();
    const messages = [user({ ...say(long), ...mark })];
    const [read, written] = await usageOf(server, { messages });
    expect(read).toBe(0);
    expect(await usageOf(server, { messages })).toEqual([written, 0]);
    expect(await usageOf(server, { messages: [user({ ...say(`${long}!`), ...mark })] })).toEqual([
      0,
      expect.any(Number),
    ]);
  });

  test('does not hold fewer than 512 tokens', async () => {
    const messages = [user({ ...say('word '.repeat(300)), ...mark })];
    expect(await usageOf(await serving(), { messages })).toEqual([0, 0]);
  });

  test('looks back 20 blocks from a breakpoint, and no further', async () => {
    const server = await serving();
    const [, written = 0] = await usageOf(server, { messages: [user({ ...say(long), ...mark })] });
    expect((await usageOf(server, { messages: onlyEnd(19) }))[0]).toBe(written);
    expect((await usageOf(server, { messages: onlyEnd(20) }))[0]).toBe(0);
    expect((await usageOf(server, { messages: marked(40) }))[0]).toBe(written);
  });

  test('forgets after five minutes without use', async () => {
    let now = 0;
    const server = await serving(undefined, { clock: () => now });
    const messages = [user({ ...say(long), ...mark })];
    const [, written] = await usageOf(server, { messages });
    now += 4 * 60_000;
    expect(await usageOf(server, { messages })).toEqual([written, 0]);
    now += 4 * 60_000;
    expect(await usageOf(server, { messages })).toEqual([written, 0]);
    now += 5 * 60_000;
    expect(await usageOf(server, { messages })).toEqual([0, written]);
  });

  test('is in the bill', async () => {
    const server = await serving([{ text: 'x', outputTokens: 1000 }]);
    await post(server, { ...plain, messages: [user({ ...say('w'.repeat(3974)), ...mark })] });
    expect(server.bill()).toEqual({
      usage: { input: 0, output: 1000, cacheRead: 0, cacheWrite: 1000, cacheWrite1h: 0 },
      usd: 0.0125,
    });
  });
});
