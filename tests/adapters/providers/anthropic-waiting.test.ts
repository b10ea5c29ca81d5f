import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createAnthropicProvider } from '../../../src/adapters/providers/anthropic.ts';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import type { TurnProgress } from '../../../src/ports.ts';
import type { Fault } from '../../support/claude-server/script.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { until } from '../../support/waiting/until.ts';
import { asking, failureOf, plainConversation, TEST_KEY, turnOf } from './asking.ts';

/** The first request meets the fault, every later one an answer. */
const firstOnly = (fault: Fault) => (_request: unknown, n: number) =>
  n === 0 ? { text: 'half', fault } : { text: 'whole' };

const causesOf = (progress: readonly TurnProgress[]) =>
  progress.flatMap((step) => (step.type === 'retry' ? [step.retry.cause] : []));

test('an answer that is silent for the idle timeout is retried', async () => {
  const { ask, progress } = await asking(firstOnly({ kind: 'stall', afterEvents: 3 }), {
    idleTimeoutMs: 1_500,
  });
  expect([turnOf(await ask()).text, causesOf(progress)]).toEqual([
    'whole',
    expect.arrayContaining(['The answer broke off: nothing came for 1.5 s (see --idle-timeout).']),
  ]);
});

test('a request without headers in time is retried', async () => {
  const { ask, progress } = await asking(firstOnly({ kind: 'stall', afterEvents: null }), {
    idleTimeoutMs: 1_500,
  });
  expect([turnOf(await ask()).text, causesOf(progress)]).toEqual([
    'whole',
    expect.arrayContaining([
      'No connection: no answer within 1.5 s (see --idle-timeout). Check the network, the proxy and the base URL.',
    ]),
  ]);
});

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

test('an answer that comes slowly may take many times the idle timeout', async () => {
  const { server, ask } = await asking([{ text: 'slow but steady', gapMs: 600 }], { idleTimeoutMs: 4_000 });
  expect([turnOf(await ask()).text, server.requests.length]).toEqual(['slow but steady', 1]);
});

test('pings are a sign of life', async () => {
  const { server, ask } = await asking([{ text: 'x', pings: 9, gapMs: 400 }], { idleTimeoutMs: 4_000 });
  expect([turnOf(await ask()).text, server.requests.length]).toEqual(['x', 1]);
});

test('an interruption ends the turn while the endpoint says nothing', async () => {
  const { server, ask } = await asking([{ fault: { kind: 'stall', afterEvents: null } }]);
  const abort = new AbortController();
  const answer = ask(undefined, abort.signal);
  await until('it is asked', () => server.requests.length > 0);
  abort.abort();
  const spent = { usage: noUsage, estimated: true };
  expect(await answer).toEqual({ status: 'interrupted', spent });
});

test('an interruption ends the turn in mid-stream', async () => {
  const { server, ask, progress } = await asking([
    { text: 'half an answer', fault: { kind: 'stall', afterEvents: 6 } },
  ]);
  const abort = new AbortController();
  const answer = ask(undefined, abort.signal);
  await until('it answers', () => progress.length > 0);
  abort.abort();
  // The prompt was reported and is billed; how much had been written is reckoned.
  const usage = { ...server.requests[0]?.usage, output: expect.any(Number) };
  expect(await answer).toEqual({ status: 'interrupted', spent: { usage, estimated: true } });
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
    showThinking: false,
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
