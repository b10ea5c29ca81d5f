import { describe, expect, test } from 'vitest';
import { assistant, call, mark, plain, post, result, say, serving, tool, user } from '../post.ts';

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
