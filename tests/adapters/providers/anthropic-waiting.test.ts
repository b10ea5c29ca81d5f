import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createAnthropicProvider } from '../../../src/adapters/providers/anthropic.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { asking, failureOf, plainConversation, TEST_KEY, turnOf } from './asking.ts';

test('an error without a body is still reported as that error', async () => {
  const stuck = createServer((_request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' }).flushHeaders();
  });
  await new Promise<void>((resolve) => stuck.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    stuck.close();
    stuck.closeAllConnections();
  });
  const { port } = stuck.address() as AddressInfo;
  const { ask } = await asking([], { baseUrl: `http://127.0.0.1:${port}`, idleTimeoutMs: 300 });
  expect(failureOf(await ask()).kind).toBe('permission');
});

test('an answer that comes slowly may take many times the idle timeout, and pings are a sign of life', async () => {
  const slow = [
    { text: 'slow but steady', gapMs: 300 },
    { text: 'x', pings: 9, gapMs: 200 },
  ];
  await Promise.all(
    slow.map(async (turn) => {
      const { server, ask } = await asking([turn], { idleTimeoutMs: 2_000 });
      expect([turnOf(await ask()).text, server.requests.length]).toEqual([turn.text, 1]);
    }),
  );
});

test('an interruption ends the wait before the next attempt', async () => {
  const server = await startClaudeServer({
    turns: [{ fault: { kind: 'http', status: 429, retryAfter: '100' } }],
  });
  onTestFinished(() => server.close());
  const provider = createAnthropicProvider({
    apiKey: TEST_KEY,
    baseUrl: server.url,
    model: 'claude-sonnet-5-5',
    effort: null,
  });
  const abort = new AbortController();
  const result = await provider.complete({
    conversation: plainConversation(),
    answerTokens: () => 8192,
    signal: abort.signal,
    onProgress: () => setImmediate(() => abort.abort()),
  });
  expect([result, server.requests.length]).toEqual([{ status: 'interrupted' }, 1]);
});

test('a run that is already interrupted asks nothing', async () => {
  const { server, ask } = await asking([{}]);
  expect([await ask(undefined, AbortSignal.abort()), server.requests.length]).toEqual([
    { status: 'interrupted' },
    0,
  ]);
});
