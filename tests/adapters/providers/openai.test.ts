/** In what OpenAI's two APIs differ from others, and endpoints that speak like it from OpenAI. */

import { expect, onTestFinished, test } from 'vitest';
import type { EndpointOptions } from '../../../src/adapters/providers/asking/endpoint.ts';
import { responsesRequest } from '../../../src/adapters/providers/openai/responses.ts';
import { anyEndpoint } from '../../../src/adapters/providers/openai/shared.ts';
import { createOpenAiProvider } from '../../../src/adapters/providers/openai.ts';
import type { Message } from '../../../src/domain/conversation/conversation.ts';
import type { LlmProvider, TurnResult } from '../../../src/ports.ts';
import type { Script, ScriptedTurn } from '../../support/claude-server/script.ts';
import { type OpenAiServerOptions, startOpenAiServer } from '../../support/openai-server/server.ts';
import { answered, failureOf, plainConversation, resultsOf, turnOf } from './asking.ts';

const apiKey = 'sk-test-0123456789abcdef';

async function asking(turns: Script, path = '', more: Partial<OpenAiServerOptions & EndpointOptions> = {}) {
  const server = await startOpenAiServer({ turns, apiKey, ...more });
  onTestFinished(() => server.close());
  const provider = createOpenAiProvider({ ...settings, apiKey, baseUrl: server.url + path, ...more });
  return { server, ask: (...later: Message[]) => askOf(provider, ...later) };
}

const settings = { model: 'gpt-5.4', effort: null, sleep: async () => {} };

function askOf(provider: Pick<LlmProvider, 'complete'>, ...later: Message[]): Promise<TurnResult> {
  return provider.complete({
    conversation: plainConversation(...later),
    signal: new AbortController().signal,
    answerTokens: () => 8_192,
    onProgress: () => {},
  });
}

const read = { name: 'read_file', input: { path: 'a' } };

test('reasoning goes back encrypted and word for word, and not at all where it led nowhere', async () => {
  const { server, ask } = await asking(
    [{ calls: [read] }, { stop: 'max_tokens' }, { text: 'Done.' }],
    '/responses',
    { effort: 'max' },
  );
  const first = turnOf(await ask());
  expect(first.content[0]).toEqual({
    id: 'rs_0',
    type: 'reasoning',
    summary: [],
    encrypted_content: 'gAAAA0',
  });
  expect(first.usage).toMatchObject({ cacheRead: 6, cacheWrite: 2 });
  const said = [answered(first), resultsOf(first)];
  const cut = turnOf(await ask(...said));
  expect(cut.content.map(({ type }) => type)).toEqual(['reasoning']);
  await ask(...said, answered(cut), { role: 'user', content: [{ type: 'text', text: 'Go on.' }] });
  const { input, store, reasoning } = server.requests[2]?.body ?? {};
  expect((input as { type?: string }[]).map(({ type = 'user' }) => type)).toEqual([
    'user',
    'reasoning',
    'function_call',
    'function_call_output',
    'user',
  ]);
  expect([store, reasoning]).toEqual([false, { effort: 'max' }]);
  expect(server.requests.map(({ refused }) => refused)).toEqual([null, null, null]);
});

test('what an endpoint does not take is left out after its first refusal', async () => {
  const chat = await asking([{ text: 'One.' }, { text: 'Two.' }]);
  expect(turnOf(await chat.ask()).text + turnOf(await chat.ask()).text).toBe('One.Two.');
  const limits = chat.server.requests.map(({ body }) =>
    Object.keys(body).filter((name) => name.startsWith('max_')),
  );
  expect(limits).toEqual([['max_tokens'], ['max_completion_tokens'], ['max_completion_tokens']]);
  const plain = await asking([{ text: 'One.' }], '/responses', { isReasoning: false });
  expect(turnOf(await plain.ask()).text).toBe('One.');
  expect(plain.server.requests.map(({ body }) => 'include' in body)).toEqual([true, false]);
});

test('fields that a gateway adds to its messages are sent back to it', async () => {
  const { server, ask } = await asking([{ thinking: 'Hm.', calls: [read] }, { text: 'Done.' }]);
  const first = turnOf(await ask());
  expect(turnOf(await ask(answered(first), resultsOf(first))).text).toBe('Done.');
  expect(server.requests.at(-1)?.body.messages).toContainEqual(
    expect.objectContaining({ role: 'assistant', reasoning_content: 'Hm.' }),
  );
});

test('calls with a missing or repeated id, or without an index, are distinguished', async () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    model: 'local',
    choices: [{ delta, finish_reason: finish }],
  });
  const call = (id?: string) => ({
    ...(id === undefined ? {} : { id }),
    function: { name: 'read_file', arguments: '{}' },
  });
  const events = [chunk({ tool_calls: [call('x'), call('x'), call('')] }), chunk({}, 'stop')];
  const indexed = [
    chunk({
      tool_calls: [
        { index: 0, ...call() },
        { index: 1, ...call('x') },
      ],
    }),
    chunk({}, 'stop'),
  ];
  const { server, ask } = await asking([{ events }, { events: indexed }, { text: 'Done.' }]);
  const first = turnOf(await ask());
  const said = [answered(first), resultsOf(first)];
  const second = turnOf(await ask(...said));
  const ids = [...first.calls, ...second.calls].map(({ id }) => id);
  expect([first.stop, second.stop, new Set(ids).size, ids[0]]).toEqual(['tool_use', 'tool_use', 4, 'x']);
  // Tokens that no server counts are reckoned from the bytes.
  expect(first.usage.input).toBeGreaterThan(50);
  expect(turnOf(await ask(...said, answered(second), resultsOf(second))).text).toBe('Done.');
  expect(server.requests.filter(({ refused }) => refused !== null)).toHaveLength(1);
});

/** Deeper than code may walk. */
const deep: ScriptedTurn = {
  fault: {
    kind: 'garbage',
    send: (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: {"error":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n\n`);
    },
  },
};

test('exhausted quotas, overlong prompts and invalid requests are not retried', async () => {
  const { ask } = await asking(
    [
      { fault: { kind: 'http', status: 429, code: 'insufficient_quota' } },
      { fault: { kind: 'http', status: 400, code: 'context_length_exceeded' } },
      { fault: { kind: 'http', status: 429, message: 'Request too large for gpt-5.4 on tokens per min' } },
      {
        fault: {
          kind: 'error_event',
          type: 'invalid_request_error',
          message: `bad ${apiKey}`,
          afterEvents: 1,
        },
      },
      { stop: 'of_unknown_kind' },
      ...Array.from({ length: 5 }, () => deep),
    ],
    '',
    {},
  );
  const kinds: string[] = [];
  for (let at = 0; at < 5; at++) kinds.push(failureOf(await ask()).kind);
  expect(kinds).toEqual(['billing', 'too_large', 'too_large', 'invalid_request', 'stream']);
  expect(failureOf(await ask()).message).toContain('not valid JSON');
});

test('a conversation of the one API is not sent to the other', async () => {
  const { ask } = await asking([{ text: 'One.' }]);
  const first = turnOf(await ask());
  const other = await asking([], '/responses');
  expect(failureOf(await other.ask(answered(first))).message).toContain('ends in /chat/completions');
});

test('an endpoint without keys is sent none, and OpenAI itself is not asked without one', async () => {
  const { server, ask } = await asking([{ text: 'Done.' }], '', { apiKey: null });
  expect(turnOf(await ask()).text).toBe('Done.');
  expect(server.requests.map(({ refused }) => refused)).toEqual(
    server.requests.map(({ body }) => ('max_tokens' in body ? expect.stringContaining('max_tokens') : null)),
  );
  const strict = await asking([], '', { apiKey: null });
  const wrong = createOpenAiProvider({
    ...settings,
    apiKey: 'sk-unwanted-0123456789',
    baseUrl: strict.server.url,
  });
  expect(failureOf(await askOf(wrong)).kind).toBe('authentication');
  for (const baseUrl of [undefined, 'https://me.openai.azure.com/openai/v1'])
    expect(() =>
      createOpenAiProvider({ ...settings, apiKey: null, ...(baseUrl ? { baseUrl } : {}) }),
    ).toThrow('Set OPENAI_API_KEY');
});

test("Azure's older addresses have a version, and the key in a header of its own", async () => {
  const azureVersion = '2024-10-21';
  const { server, ask } = await asking([{ text: 'Done.' }], `?api-version=${azureVersion}`, { azureVersion });
  expect(turnOf(await ask()).text).toBe('Done.');
  expect(server.requests.at(-1)).toMatchObject({ path: '/v1/chat/completions', refused: null });
  const other = { ...settings, apiKey, baseUrl: `${server.url}?api-version=1&x=y` };
  expect(() => createOpenAiProvider(other)).toThrow('no user, password, query');
});

test('OpenAI gets images within the result of their call, and others in a message behind it', () => {
  const image = { mediaType: 'image/png' as const, width: 4, height: 3, data: 'iVBO' };
  const result = {
    type: 'tool_result' as const,
    callId: 'c1',
    text: 'Seen.',
    isError: false,
    images: [image],
  };
  const items = (hostname: string) => {
    const conversation = plainConversation({ role: 'user', content: [result] });
    const settings = { model: 'gpt-5.4', effort: null };
    const { input } = responsesRequest(settings, conversation, 100, anyEndpoint(hostname)) as {
      input: object[];
    };
    return input.filter((item) => JSON.stringify(item).includes('iVBO') || 'call_id' in item);
  };
  const shown = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,iVBO' };
  expect(items('api.openai.com')).toEqual([
    { type: 'function_call_output', call_id: 'c1', output: [shown, { type: 'input_text', text: 'Seen.' }] },
  ]);
  expect(items('gateway.example')).toEqual([
    { type: 'function_call_output', call_id: 'c1', output: 'Seen.' },
    {
      role: 'user',
      content: [{ type: 'input_text', text: '[The image of the result of call c1:]' }, shown],
    },
  ]);
});
