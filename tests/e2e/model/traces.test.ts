import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conversations } from '../../support/claude-server/conversations.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { startCollector } from '../../support/otlp/collector.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const LOGIN = 'Bearer%20collector-login-0123456789';
const turns = [
  { calls: [call('run_command', { command: 'env; echo done > a.txt' })] },
  { calls: [call('finish', { status: 'done', summary: 'Looked.' })] },
];

test('a run sends its trace, and shows the login to no one', async () => {
  const collector = await startCollector();
  const { exitCode, stderr, runDir, result, server } = await scriptedRun({
    repository: await makeRepository({ 'a.txt': 'old\n' }),
    turns,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${LOGIN}`,
      TRACEPARENT: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    },
  });
  await collector.close();
  expect(exitCode, stderr).toBe(0);
  expect(collector.refused).toEqual([]);
  expect(collector.spans.map(({ name }) => name)).toEqual([
    'chat claude-sonnet-5-5',
    'execute_tool run_command',
    'chat claude-sonnet-5-5',
    'execute_tool finish',
    'invoke_agent patchsmith',
  ]);
  const root = collector.spans.at(-1);
  expect(root).toMatchObject({
    parent: '00f067aa0ba902b7',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    attributes: {
      'patchsmith.run.id': result.runId,
      'patchsmith.outcome': 'done',
      'patchsmith.iterations': 2,
    },
  });
  for (const { startMs, endMs } of collector.spans) {
    expect(startMs).toBeGreaterThanOrEqual(root?.startMs ?? 0);
    expect(endMs).toBeLessThanOrEqual(root?.endMs ?? 0);
  }
  expect(collector.requests[0]?.headers.authorization).toBe('Bearer collector-login-0123456789');
  const kept = readFileSync(join(runDir, 'events.jsonl'), 'utf8');
  expect(JSON.stringify([kept, server.requests, stderr])).not.toMatch(/collector-login/);
});

test('a collector that never answers delays the end of a run by at most two seconds, and nothing fails', async () => {
  const collector = await startCollector([() => undefined]);
  const { exitCode, stderr, result } = await scriptedRun({
    repository: await makeRepository({ 'a.txt': 'old\n' }),
    turns: [{ calls: [call('finish', { status: 'done', summary: 'Looked.' })] }],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
  });
  await collector.close();
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toMatch(
    /warning: \[WARN_TRACE_NOT_SENT\] 3 of 3 spans did not reach 127\.0\.0\.1:\d+: no answer in time\./,
  );
  expect(stderr).toContain('goes to 127.0.0.1');
  expect(result.warnings).toEqual([]);
});

test('several attempts and a review are one trace, and its requests add up to the result', async () => {
  const collector = await startCollector();
  const attempt = (content: string) => [
    { calls: [call('write_file', { path: 'a.txt', content })] },
    { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
  ];
  const review = { calls: [call('submit_review', { findings: [] })] };
  const play = conversations(attempt('1\n'), attempt('2\n2\n'), attempt('3\n3\n3\n'));
  const { exitCode, stderr, result } = await scriptedRun({
    repository: await makeRepository({ 'a.txt': 'old\n' }),
    turns: (request) => (JSON.stringify(request.tools).includes('submit_review') ? review : play(request)),
    args: ['--attempts', '3', '--review'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  await collector.close();
  expect(exitCode, stderr).toBe(0);
  const { spans } = collector;
  expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const runs = spans.filter(({ parent, name }) => parent === null && name.startsWith('invoke_agent'));
  const [root, ...others] = runs.filter(({ attributes }) => !('patchsmith.attempt_number' in attributes));
  expect(others).toEqual([]);
  const attempts = runs.filter((span) => span !== root);
  expect(attempts.map(({ attributes }) => attributes['patchsmith.attempt_number']).sort()).toEqual([1, 2, 3]);
  for (const { startMs, endMs } of spans) {
    expect(startMs).toBeGreaterThanOrEqual(root?.startMs ?? Number.NaN);
    expect(endMs).toBeLessThanOrEqual(root?.endMs ?? Number.NaN);
  }
  const chats = spans.filter(({ name }) => name.startsWith('chat '));
  expect(chats.map(({ attributes }) => attributes['patchsmith.purpose'] ?? 'work').sort()).toEqual([
    ...Array(3).fill('review'),
    ...Array(6).fill('work'),
  ]);
  const output = (all: typeof spans) =>
    all.reduce((sum, { attributes }) => sum + Number(attributes['gen_ai.usage.output_tokens']), 0);
  expect([output(chats), output(attempts)]).toEqual([result.tokens.output, result.tokens.output]);
});
