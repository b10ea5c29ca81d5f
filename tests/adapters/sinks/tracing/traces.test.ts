import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { openTraces, type TraceTarget } from '../../../../src/adapters/sinks/tracing/traces.ts';
import type { RunAction } from '../../../../src/domain/run/events.ts';
import type { RunState } from '../../../../src/domain/run/state.ts';
import { redactorFor } from '../../../../src/domain/secrets/redact.ts';
import { emptyResult } from '../../../../src/engine/finish/empty-result.ts';
import { type Collector, startCollector } from '../../../support/otlp/collector.ts';
import { call, commandEnd, completed, turn } from '../../../support/runs/events.ts';

let collector: Collector;
afterEach(() => collector.close());

const start = 1_800_000_000_000;

/** The traces of a run, to the collector. */
function tracesTo(
  target: Partial<TraceTarget> = {},
  now: Pick<RunState, 'phase' | 'review'> = { phase: { at: 'model' }, review: null },
): ReturnType<typeof openTraces> {
  return openTraces({
    target: {
      url: new URL(`${collector.url}/v1/traces`),
      headers: { 'x-key': 'k' },
      timeoutMs: 5_000,
      resource: { 'service.name': 'nightly' },
      parent: null,
      ...target,
    },
    runId: 'r1',
    version: '1.2.3',
    startMs: start,
    attempt: null,
    now: () => now,
    model: { provider: 'anthropic', model: 'claude-sonnet-5-5' },
    iteration: 0,
    tools: ['read_file', 'run_command'],
    providerName: (name) => (name === 'gemini' ? 'gcp.gemini' : name),
    redact: redactorFor(['secret-value']),
    clock: () => start + 10_000,
    openFetch: async () => fetch,
  });
}

async function traced(
  actions: readonly [at: number, action: RunAction][],
  target: Partial<TraceTarget> = {},
  now?: Pick<RunState, 'phase' | 'review'>,
): Promise<void> {
  collector = await startCollector();
  const traces = tracesTo(target, now);
  for (const [index, [at, action]] of actions.entries())
    traces.accept({ ...action, seq: index + 1, at: start + at });
  traces.close({ ...emptyResult('r1', '1.2.3'), outcome: 'verify_failed', exitCode: 4, iterations: 1 });
  expect(await traces.deliver?.(5_000)).toBeNull();
  expect(collector.refused).toEqual([]);
}

test('a run is one trace: model turns, calls and verification below it, with the names of the conventions', async () => {
  const usage = { input: 10, output: 5, cacheRead: 30, cacheWrite: 2, cacheWrite1h: 1 };
  await traced([
    [1_000, { type: 'turn.retried', attempt: 2, kind: 'outage', status: 529, cause: 'full', waitMs: 500 }],
    [
      2_000,
      turn({ text: 'model text', calls: [call('c1'), call('c2', 'made up')], usage, durationMs: 1_500 }),
    ],
    [2_100, { type: 'tool.started', call: call('c1'), iteration: 1 }],
    [2_600, { ...completed('c1', 'file content'), durationMs: 300 } as RunAction],
    [
      2_600,
      {
        type: 'tool.completed',
        call: 'c2',
        durationMs: 0,
        outcome: { status: 'failed', reason: 'unknown_tool', text: 'no' },
      },
    ],
    [
      4_000,
      {
        type: 'verify.completed',
        tree: null,
        otherwise: [],
        reports: [{ command: 'npm test', end: commandEnd(1), output: 'red' }],
      },
    ],
  ]);
  const [root] = collector.spans.filter(({ parent }) => parent === null);
  expect(root).toMatchObject({ name: 'invoke_agent patchsmith', kind: 1, hasFailed: true });
  expect(root?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'patchsmith',
    'gen_ai.conversation.id': 'r1',
    'gen_ai.provider.name': 'anthropic',
    'patchsmith.outcome': 'verify_failed',
    'patchsmith.exit_code': 4,
    'error.type': 'verify_failed',
  });
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
  const below = collector.spans.filter(({ parent }) => parent === root?.id);
  expect(
    below.map(({ name, kind, startMs, endMs, hasFailed }) => [
      name,
      kind,
      startMs % 1e6,
      endMs % 1e6,
      hasFailed,
    ]),
  ).toEqual([
    ['chat claude-sonnet-5-5', 3, 500, 2_000, false],
    ['execute_tool read_file', 1, 2_100, 2_400, false],
    ['execute_tool _OTHER', 1, 2_600, 2_600, true],
    ['verify', 1, 2_600, 4_000, true],
  ]);
  expect(below[0]?.attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.conversation.id': 'r1',
    'gen_ai.request.model': 'claude-sonnet-5-5',
    'gen_ai.response.model': 'claude-sonnet-5-5',
    'gen_ai.response.finish_reasons': ['tool_use'],
    'gen_ai.usage.input_tokens': 43,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.usage.cache_read.input_tokens': 30,
    'gen_ai.usage.cache_creation.input_tokens': 3,
    'patchsmith.iteration': 1,
  });
  expect(below[0]?.events).toMatchObject([{ name: 'patchsmith.retry', attributes: { 'error.type': '529' } }]);
  expect(below[2]?.attributes).toMatchObject({ 'gen_ai.tool.call.id': 'c2', 'error.type': 'unknown_tool' });
  expect(collector.resource).toEqual({ 'service.name': 'nightly', 'service.version': '1.2.3' });
  expect(collector.requests[0]?.headers['x-key']).toBe('k');
});

test('no text of prompts, answers, files, commands or tools that do not exist leaves the machine, and no secret', async () => {
  await traced([
    [
      1,
      turn({ text: 'model text', calls: [call('secret-value', 'run_command', { command: 'text of it' })] }),
    ],
    [
      2,
      {
        type: 'tool.started',
        call: call('secret-value', 'run_command', { command: 'text of it' }),
        iteration: 1,
      },
    ],
    [3, completed('secret-value', 'text of a file')],
    [4, { type: 'message.added', text: 'text of a prompt' }],
    [5, { type: 'files.hidden', paths: ['text of a name'] }],
    [6, { type: 'turn.failed', kind: 'outage', message: 'text of an error' }],
  ]);
  const sent = collector.requests.map(({ body }) => body).join();
  expect(sent).not.toMatch(/text|secret-value/);
  expect(sent).toContain('"***"');
});

/** What is said at the end about a run of one span, and how many requests there were. */
async function sent(
  answers: readonly ((response: ServerResponse) => void)[],
  { timeoutMs = 5_000, withinMs = 5_000 } = {},
): Promise<[said: string | null | undefined, requests: number]> {
  collector = await startCollector(answers);
  const traces = tracesTo({ timeoutMs });
  traces.close(emptyResult('r1', '1.2.3'));
  const said = await traces.deliver?.(withinMs);
  return [said?.replace(/127\.0\.0\.1:\d+/, 'HOST'), collector.requests.length];
}

const all = '1 of 1 spans did not reach HOST';

test.each([
  ['refuses', (response: ServerResponse) => response.writeHead(401).end(), ': the collector answered 401'],
  [
    'accepts only a part',
    (response: ServerResponse) =>
      response.end('{"partialSuccess":{"rejectedSpans":"1","errorMessage":"##[error]"}}'),
    ': the collector rejected 1',
  ],
  [
    'redirects',
    (response: ServerResponse) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    ': unexpected redirect',
  ],
])('a collector that %s is reported', async (_, answer, why) => {
  expect(await sent([answer])).toEqual([`${all}${why}`, 1]);
});
