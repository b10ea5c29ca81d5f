/** Claude in other clouds: logins, and what is missing for one. */

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createProvider } from '../../../src/adapters/providers/registry.ts';
import { startBedrockServer } from '../../support/claude-server/clouds.ts';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import { failureOf, plainConversation, turnOf } from './asking.ts';

const SECRET = 'abcdefghij0123456789/ABCDEFGHIJ+klmnopq';

async function ask(name: string, env: Record<string, string>, baseUrl = 'http://127.0.0.1:1') {
  const settings = { model: 'claude-sonnet-5-5', apiKey: null, effort: null };
  const rest = { maxOutputTokens: 8_192, baseUrl, recording: null, outageWaitMs: 1, env };
  const provider = await createProvider(name, { ...settings, ...rest });
  return provider.complete({
    conversation: plainConversation(),
    signal: new AbortController().signal,
    answerTokens: () => 8_192,
    onProgress: () => {},
  });
}

async function bedrock(turns: ScriptedTurn[], seen: IncomingHttpHeaders[] = []) {
  const server = await startBedrockServer(turns, null, seen);
  onTestFinished(() => server.close());
  return server.url;
}

test('a request to Bedrock is signed with the keys of the environment', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const refusal = { fault: { kind: 'http', status: 400, message: `no ${SECRET}` } } as const;
  const url = await bedrock([{ text: 'Done.' }, refusal], seen);
  const keys = {
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_SESSION_TOKEN: 'session-0123456789',
  };
  const env = { AWS_REGION: 'eu-central-1', ...keys };
  expect(turnOf(await ask('bedrock', env, url)).text).toBe('Done.');
  expect(seen[0]).toMatchObject({ 'x-amz-security-token': 'session-0123456789' });
  const refused = failureOf(await ask('bedrock', env, url));
  expect([refused.kind, refused.message]).toEqual(['invalid_request', expect.stringContaining('no ***')]);
});

test.each([
  ['bedrock', {}, 'Set AWS_REGION'],
  ['vertex', { CLOUD_ML_REGION: 'global' }, 'Set ANTHROPIC_VERTEX_PROJECT_ID'],
  ['vertex', { ANTHROPIC_VERTEX_PROJECT_ID: 'p' }, 'Set CLOUD_ML_REGION'],
])('%s with %j says what to set', async (name, env, message) => {
  await expect(ask(name, env)).rejects.toThrow(message);
});

test('a frame that was damaged on the way is an answer that broke off', async () => {
  const send = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    response.end('\0\0\0\x20\0\0\0\x04nothing of a frame is in here');
  };
  const url = await bedrock(Array.from({ length: 9 }, () => ({ fault: { kind: 'garbage', send } })));
  const env = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: SECRET };
  expect(failureOf(await ask('bedrock', env, url)).kind).toBe('stream');
});
