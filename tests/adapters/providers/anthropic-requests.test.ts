import { describe, expect, test } from 'vitest';
import { requestBody } from '../../../src/adapters/providers/anthropic/request.ts';
import { createAnthropicProvider } from '../../../src/adapters/providers/anthropic.ts';
import type { AskingSettings } from '../../../src/adapters/providers/asking/endpoint.ts';
import { ProviderSettingsError } from '../../../src/adapters/providers/asking/endpoint.ts';
import type { Conversation } from '../../../src/domain/conversation/conversation.ts';
import { asking, plainConversation, turnOf } from './asking.ts';

const settings = { model: 'claude-sonnet-5-5', effort: null };
const bodyOf = (given: AskingSettings, conversation: Conversation) =>
  requestBody(given, conversation, 8192) as { messages: unknown[] };
const ephemeral = { cache_control: { type: 'ephemeral' } };

describe('a request', () => {
  test('is nothing but the conversation and the settings', () => {
    expect(bodyOf(settings, plainConversation())).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 8192,
      tools: [
        {
          name: 'read_file',
          description: 'Reads a file.',
          input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        },
      ],
      system: [{ type: 'text', text: 'You change code.', ...ephemeral }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Mend the parser.', ...ephemeral }] }],
      stream: true,
    });
  });

  test('has the results of calls first, errors marked, and a notice where there was no output', () => {
    const conversation = plainConversation(
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'read_file', input: {} },
          { type: 'tool_use', id: 'b', name: 'read_file', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The tests failed.' },
          { type: 'tool_result', callId: 'a', text: '', isError: false },
          { type: 'tool_result', callId: 'b', text: 'no such file', isError: true },
        ],
      },
    );
    expect(bodyOf(settings, conversation).messages[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: '(no output)' },
        { type: 'tool_result', tool_use_id: 'b', content: 'no such file', is_error: true },
        { type: 'text', text: 'The tests failed.', ...ephemeral },
      ],
    });
  });

  test('says how hard to try', async () => {
    const { server, ask } = await asking([{}], { effort: 'max' });
    turnOf(await ask());
    expect(server.requests[0]?.body).toMatchObject({ output_config: { effort: 'max' } });
  });

  test('never has more than four breakpoints', () => {
    const turns = Array.from({ length: 12 }, (_, n) => [
      {
        role: 'assistant' as const,
        content: [{ type: 'tool_use', id: `t${n}`, name: 'read_file', input: {} }],
      },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result' as const, callId: `t${n}`, text: 'x', isError: false }],
      },
    ]).flat();
    const bytes = JSON.stringify(bodyOf(settings, plainConversation(...turns)));
    expect(bytes.match(/cache_control/g)?.length).toBe(3);
  });
});

test('plain http to another host is taken where it is permitted', () => {
  const baseUrl = 'http://gateway.example/v1';
  const options = { ...settings, apiKey: 'sk-ant-x', baseUrl, allowInsecureBaseUrl: true };
  expect(createAnthropicProvider(options).model).toBe(settings.model);
});

describe('a provider is not made', () => {
  const make = (more: { apiKey?: string; baseUrl?: string }) => () =>
    createAnthropicProvider({ ...settings, apiKey: 'sk-ant-secret-value', ...more });

  test.each([
    ['without a key', { apiKey: '' }, 'There is no API key'],
    ['with a key that cannot be sent', { apiKey: 'sk-ant-secret-value\n' }, 'contains spaces, line breaks'],
    [
      'for plain http on another machine',
      { baseUrl: 'http://proxy.example/v1' },
      'host proxy.example) must use https',
    ],
    ['for another protocol', { baseUrl: 'file:///etc/passwd' }, 'not an http(s) URL'],
    ['for no URL at all', { baseUrl: 'api.anthropic.com' }, 'not an http(s) URL'],
    ['for a URL with a password', { baseUrl: 'https://u:hunter22@api.example' }, 'no user, password'],
  ])('%s', (_name, more, message) => {
    let thrown: unknown;
    try {
      make(more)();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ProviderSettingsError);
    expect(String(thrown)).toContain(message);
    expect(String(thrown)).not.toMatch(/secret-value|hunter22/);
  });

  test.each([
    'http://localhost:1',
    'http://127.0.0.1:1',
    'http://[::1]:1',
    'https://gateway.example/anthropic/',
  ])('but it is for %s', (baseUrl) => {
    expect(make({ baseUrl })().model).toBe(settings.model);
  });
});
