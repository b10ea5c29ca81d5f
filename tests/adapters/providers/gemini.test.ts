/** In what the Gemini API differs from others. */

import { expect, onTestFinished, test } from 'vitest';
import { createGeminiProvider } from '../../../src/adapters/providers/gemini.ts';
import { KEY_VARIABLES } from '../../../src/adapters/providers/registry.ts';
import type { Message } from '../../../src/domain/conversation/conversation.ts';
import type { ModelSettings } from '../../../src/domain/run/model-settings.ts';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import { startGeminiServer } from '../../support/gemini-server/server.ts';
import { answered, failureOf, plainConversation, resultsOf, turnOf } from './asking.ts';

const apiKey = 'AIzaSyTest0123456789abcdefghijklmnopqrs';

async function asking(turns: ScriptedTurn[], effort: ModelSettings['effort'] = null) {
  const server = await startGeminiServer({ turns, apiKey, model: 'gemini-x' });
  onTestFinished(() => server.close());
  const settings = { model: 'gemini-x', apiKey, effort, sleep: async () => {} };
  const provider = createGeminiProvider({ ...settings, baseUrl: `${server.url}/` });
  const ask = (...later: Message[]) =>
    provider.complete({
      conversation: plainConversation(...later),
      signal: new AbortController().signal,
      answerTokens: () => 8_192,
      onProgress: () => {},
    });
  return { server, ask };
}

const read = (path: string, id?: string) => ({
  name: 'read_file',
  input: { path },
  ...(id === undefined ? {} : { id }),
});

test('thoughts and signatures are sent back in place, and every call has a unique id', async () => {
  const { server, ask } = await asking(
    [
      { thinking: 'Hm.', text: 'I look.', calls: [read('a'), read('b')] },
      { calls: [read('c', 'x'), read('d', 'x')] },
      { stop: 'max_tokens' },
      { text: 'Done.' },
    ],
    'max',
  );
  const first = turnOf(await ask());
  expect(first.text).toBe('I look.');
  // Thoughts are billed as output, and what came from the cache is counted apart.
  expect(first.usage).toMatchObject({ input: 34, cacheRead: 6, output: 8 });
  const said = [answered(first), resultsOf(first, '')];
  const second = turnOf(await ask(...said));
  expect(new Set([...first.calls, ...second.calls].map(({ id }) => id)).size).toBe(4);
  said.push(answered(second), resultsOf(second));
  const cut = turnOf(await ask(...said));
  expect([cut.stop, cut.text]).toEqual(['max_tokens', '']);
  said.push(answered(cut), { role: 'user', content: [{ type: 'text', text: 'Go on.' }] });
  expect(turnOf(await ask(...said)).stop).toBe('end_turn');
  expect(server.requests.map(({ refused }) => refused)).toEqual([null, null, null, null]);
  expect(server.requests[0]?.body.generationConfig).toEqual({
    maxOutputTokens: 8_192,
    thinkingConfig: { thinkingLevel: 'HIGH' },
  });
});

test('a filtered answer is a refusal, and a malformed call is requested again', async () => {
  const { ask } = await asking([
    { stop: 'PROHIBITED_CONTENT' },
    { events: [{ promptFeedback: { blockReason: 'BLOCKLIST' }, usageMetadata: { promptTokenCount: 4 } }] },
    { stop: 'MALFORMED_FUNCTION_CALL' },
    { text: 'Done.' },
    { stop: 'NEW_REASON' },
  ]);
  const refused = [turnOf(await ask()), turnOf(await ask())];
  expect(refused.map(({ stop, stopDetail }) => [stop, stopDetail])).toEqual([
    ['refusal', 'PROHIBITED_CONTENT'],
    ['refusal', 'BLOCKLIST'],
  ]);
  expect(turnOf(await ask()).text).toBe('Done.');
  expect(failureOf(await ask()).message).toContain('unknown finish reason "NEW_REASON"');
});

test('refusals that only their text tells apart', async () => {
  const http = (status: number, message: string, retryAfter?: string): ScriptedTurn => ({
    fault: { kind: 'http', status, message, ...(retryAfter === undefined ? {} : { retryAfter }) },
  });
  const { ask } = await asking([
    http(400, 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).'),
    http(400, 'User location is not supported for the API use.'),
    http(400, 'Please enable billing on project 1.'),
    http(403, 'Method doesn’t allow unregistered callers.'),
    http(404, 'models/gemini-x is not found'),
    http(429, 'You exceeded your current quota.', '9999.5'),
    {
      fault: { kind: 'error_event', type: 'x', message: `bad ${apiKey}`, afterEvents: 1 },
      text: 'and',
    },
  ]);
  const failures = [];
  for (let at = 0; at < 6; at++) failures.push(failureOf(await ask()));
  expect(failures.map(({ kind }) => kind)).toEqual([
    'too_large',
    'permission',
    'billing',
    'permission',
    'not_found',
    'rate_limit',
  ]);
  expect(failures[5]?.message).toContain('requests a wait of 10,000 s');
});

test('its keys are among those that nothing else gets', () => {
  expect(KEY_VARIABLES).toEqual(expect.arrayContaining(['GEMINI_API_KEY', 'GOOGLE_API_KEY']));
});
