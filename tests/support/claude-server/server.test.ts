import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Block, Script } from './script.ts';
import { type ClaudeServer, type ClaudeServerOptions, startClaudeServer } from './server.ts';

interface Reply {
  status: number;
  body: { content?: Block[]; usage?: Record<string, number>; error?: { type: string; message: string } };
}

const say = (text: string): Block => ({ type: 'text', text });
const user = (...content: Block[]) => ({ role: 'user', content });
const assistant = (...content: Block[]) => ({ role: 'assistant', content });
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'read_file', input: {} });
const result = (id: string, more: object = {}): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
});
const mark = { cache_control: { type: 'ephemeral' } };
const plain = { model: 'claude-sonnet-5-5', max_tokens: 100, messages: [user(say('hi'))] };
const tool = (more: object = {}) => ({ name: 'read_file', input_schema: { type: 'object' }, ...more });

async function serving(
  turns: Script = () => ({ text: 'ok' }),
  more: Partial<ClaudeServerOptions> = {},
): Promise<ClaudeServer> {
  const server = await startClaudeServer({ turns, ...more });
  onTestFinished(() => server.close());
  return server;
}

async function post(
  server: ClaudeServer,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer k',
      'anthropic-version': '2026-10-21',
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

describe('a request is refused', () => {
  test.each<[string, object, number, string]>([
    ['with an unknown field', { surprise: 1 }, 400, 'surprise: Extra inputs are not permitted'],
    ['without max_tokens', { max_tokens: undefined }, 400, 'max_tokens: Field required'],
    ['with too many max_tokens', { max_tokens: 128_001 }, 400, 'max_tokens: 128001 > 128000'],
    ['with no max_tokens', { max_tokens: 0 }, 400, 'greater than or equal to 1'],
    ['for an unknown model', { model: 'claude-2' }, 404, 'model: claude-2'],
    ['with a temperature', { temperature: 1 }, 400, 'temperature: sampling parameters are not supported'],
    ['with top_p', { top_p: 0.9 }, 400, 'top_p: sampling'],
    ['with top_k', { top_k: 4 }, 400, 'top_k: sampling'],
    [
      'with a thinking budget',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      400,
      'type "enabled" is not supported',
    ],
    ['with thinking disabled', { thinking: { type: 'disabled' } }, 400, 'type "disabled" is not supported'],
    [
      'with a block binding but no beta',
      { thinking: { type: 'adaptive', block_binding: {} } },
      400,
      'thinking.block_binding: Extra inputs',
    ],
    [
      'with an unknown effort',
      { output_config: { effort: 'huge' } },
      400,
      'output_config.effort: Input should be',
    ],
    [
      'with a forced tool',
      { tools: [tool()], tool_choice: { type: 'any' } },
      400,
      'type "any" is not supported',
    ],
    ['with two tools of one name', { tools: [tool(), tool()] }, 400, 'Tool names must be unique'],
    [
      'with a bad tool name',
      { tools: [tool({ name: 'a b' })] },
      400,
      'tools.0.custom.name: String should match',
    ],
    [
      'with a schema that is none',
      { tools: [tool({ input_schema: { type: 'object', properties: 3 } })] },
      400,
      'JSON schema is invalid',
    ],
    [
      'with a schema of no object',
      { tools: [tool({ input_schema: { type: 'string' } })] },
      400,
      "input_schema.type: Input should be 'object'",
    ],
    [
      'with an empty system prompt',
      { system: [say('')] },
      400,
      'system: text content blocks must be non-empty',
    ],
    ['without messages', { messages: [] }, 400, 'at least one message is required'],
    [
      'that begins with the assistant',
      { messages: [assistant(say('x')), user(say('y'))] },
      400,
      'first message must use the "user" role',
    ],
    [
      'with two user messages in a row',
      { messages: [user(say('x')), user(say('y'))] },
      400,
      'roles must alternate',
    ],
    [
      'that ends with the assistant',
      { messages: [user(say('x')), assistant(say('y'))] },
      400,
      'does not support assistant message prefill',
    ],
    ['with an empty text', { messages: [user(say(''))] }, 400, 'text content blocks must be non-empty'],
    ['with an empty message', { messages: [user()] }, 400, 'all messages must have non-empty content'],
    ['with an unknown block', { messages: [user({ type: 'hologram' })] }, 400, "Input tag 'hologram'"],
    [
      'with a field that no text block has',
      { messages: [user({ ...say('x'), id: 1 })] },
      400,
      'messages.0.content.0.text.id: Extra inputs',
    ],
    [
      'with a call that nobody answers',
      { messages: [user(say('x')), assistant(call('a')), user(say('y'))] },
      400,
      '`tool_use` ids were found without `tool_result` blocks immediately after: a.',
    ],
    [
      'with one of two calls answered',
      { messages: [user(say('x')), assistant(call('a'), call('b')), user(result('b'))] },
      400,
      'immediately after: a.',
    ],
    [
      'with text before the results',
      { messages: [user(say('x')), assistant(call('a')), user(say('y'), result('a'))] },
      400,
      'immediately after: a.',
    ],
    [
      'with a result of no call',
      { messages: [user(say('x')), assistant(say('y')), user(result('a'))] },
      400,
      'messages.2.content.0: unexpected `tool_use_id`',
    ],
    [
      'with two results of one call',
      { messages: [user(say('x')), assistant(call('a')), user(result('a'), result('a'))] },
      400,
      'Found multiple `tool_result` blocks with id: a',
    ],
    [
      'with an empty result',
      { messages: [user(say('x')), assistant(call('a')), user(result('a', { content: '' }))] },
      400,
      'content must be non-empty',
    ],
    [
      'with one call id twice',
      { messages: [user(say('x')), assistant(call('a'), call('a')), user(result('a'))] },
      400,
      '`tool_use` ids must be unique',
    ],
    [
      'with an input that is no object',
      { messages: [user(say('x')), assistant({ ...call('a'), input: ['a'] }), user(result('a'))] },
      400,
      'tool_use.input: Input should be a valid dictionary',
    ],
    [
      'with five breakpoints',
      { messages: [user(...Array.from({ length: 5 }, () => ({ ...say('x'), ...mark })))] },
      400,
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
  ])('%s', async (_name, more, status, message) => {
    const server = await serving();
    const reply = await post(server, { ...plain, ...more });
    expect([reply.status, reply.body.error?.message]).toEqual([status, expect.stringContaining(message)]);
    expect(server.requests[0]?.refused?.message).toBe(reply.body.error?.message);
  });

  test('without a key, with the wrong one, without a version, or without JSON', async () => {
    const server = await serving(undefined, { apiKey: 'right' });
    const key = { authorization: 'Bearer right' };
    expect((await post(server, plain)).status).toBe(401);
    expect((await post(server, plain, { authorization: '', 'x-api-key': 'right' })).status).toBe(200);
    expect((await post(server, plain, { ...key, 'anthropic-version': '2020-01-01' })).status).toBe(400);
    expect((await post(server, '{"model":', key)).status).toBe(400);
    expect((await post(server, plain, key)).status).toBe(200);
  });

  test('over 32 MB', async () => {
    const body = JSON.stringify({ ...plain, messages: [user(say('x'.repeat(33 * 1024 * 1024)))] });
    const reply = await post(await serving(), body);
    expect([reply.status, reply.body.error?.type]).toEqual([413, 'request_too_large']);
  });

  test('beyond the end of the script', async () => {
    const server = await serving([{ text: 'only' }]);
    expect((await post(server, plain)).status).toBe(200);
    expect((await post(server, plain)).body.error?.message).toContain('ends before request 2');
  });
});

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
    const [, think1] = [messages, first[0]];
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
    expect(think1?.type).toBe('thinking');
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

test('run as a script it prints its URL and serves until it is stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'claude-server-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'script.json'), JSON.stringify([{ text: 'by hand' }]));
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'serve.ts'), join(folder, 'script.json')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const response = await fetch(`${String(line).trim()}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' },
    body: JSON.stringify(plain),
  });
  const { content } = (await response.json()) as { content: Block[] };
  expect(content.at(-1)).toEqual({ type: 'text', text: 'by hand' });
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
