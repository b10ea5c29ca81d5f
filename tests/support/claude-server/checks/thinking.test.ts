import { describe, expect, test } from 'vitest';
import { assistant, mark, plain, post, result, say, serving, tool, user } from '../post.ts';
import type { Script } from '../script.ts';
import type { ClaudeServer } from '../server.ts';

describe('a thinking block is bound to what was before it', () => {
  const tools = [tool()];
  const history = async (server: ClaudeServer) => {
    const first = (await post(server, { ...plain, tools })).body.content ?? [];
    const messages = [...plain.messages, assistant(...first), user(result('toolu_0_0'))];
    const second = (await post(server, { ...plain, tools, messages })).body.content ?? [];
    return { first, second, messages: [...messages, assistant(...second), user(result('toolu_1_0'))] };
  };
  const script: Script = () => ({ calls: [{ name: 'read_file' }] });
  const bindingError = (path: string) =>
    `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. ` +
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

  test('so an append-only conversation is accepted, also with moved breakpoints', async () => {
    const server = await serving(script);
    const { messages } = await history(server);
    const marked = messages.with(0, user({ ...say('hi'), ...mark }));
    expect((await post(server, { ...plain, tools, messages: marked })).status).toBe(200);
  });

  test('so a changed system prompt, tool or message is refused', async () => {
    const server = await serving(script);
    const { messages, first } = await history(server);
    const refusals = [
      await post(server, { ...plain, tools, messages, system: 'Today is Saturday.' }),
      await post(server, { ...plain, tools: [tool({ description: 'new' })], messages }),
      await post(server, { ...plain, tools, messages: messages.with(0, user(say('ho'))) }),
      await post(server, {
        ...plain,
        tools,
        messages: messages.with(2, user(result('toolu_0_0', { content: 'cut' }))),
      }),
    ].map(({ body }) => body.error?.message);
    expect(first[0]?.type).toBe('thinking');
    expect(refusals).toEqual([
      bindingError('messages.1.content.0'),
      bindingError('messages.1.content.0'),
      bindingError('messages.1.content.0'),
      bindingError('messages.3.content.0'),
    ]);
  });

  test('so leaving one out before another is refused, and leaving out all is not', async () => {
    const server = await serving(script);
    const { messages, first, second } = await history(server);
    const withoutFirst = messages.with(1, assistant(...first.slice(1)));
    expect((await post(server, { ...plain, tools, messages: withoutFirst })).body.error?.message).toBe(
      bindingError('messages.3.content.0'),
    );
    const withoutAny = withoutFirst.with(3, assistant(...second.slice(1)));
    expect((await post(server, { ...plain, tools, messages: withoutAny })).status).toBe(200);
  });
});
