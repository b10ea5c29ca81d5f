/** Endpoints that answer garbage. How each is told and retried is tested with the provider; here it is how a run ends. */

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../support/claude-server/script.ts';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';

afterAll(removeFolders);

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const SSE = { 'content-type': 'text/event-stream' };
const garbage = (send: (response: ServerResponse) => void): Fault => ({ kind: 'garbage', send });
const answer = (type: string | null, body: string | Buffer, more: Record<string, string> = {}) =>
  garbage((response) => {
    response.writeHead(200, { ...(type === null ? {} : { 'content-type': type }), ...more }).end(body);
  });
const onTheWire = (bytes: string) => garbage((response) => void response.socket?.end(bytes));
const forever = (status: number, head: Record<string, string>, piece: string) =>
  garbage((response) => {
    response.writeHead(status, head);
    const timer = setInterval(() => response.write(piece), 5);
    response.once('close', () => clearInterval(timer));
  });
const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 'a'));

/** A run whose first turn is well, and whose endpoint then goes wrong for good. */
async function runInto(fault: Fault, args: readonly string[] = []) {
  return scriptedRun({
    repository: await makeRepository({ 'a.txt': 'old\n' }),
    turns: (_request, index) => (index === 0 ? edit : { text: 'half an answer', fault }),
    args: ['--sandbox', 'off', '--outage-wait', '0.01', ...args],
  });
}

describe.concurrent('an endpoint that goes wrong in mid-run ends it as provider_error with the work kept', () => {
  test.each<[string, Fault, string]>([
    ['a page of HTML', answer('text/html', '<h1>Sign in</h1>'), 'answered with text/html instead of'],
    [
      'JSON that breaks off',
      answer('application/json', '{"id":"m'),
      'answered with application/json instead of',
    ],
    [
      'another content type',
      answer('image/png', Buffer.from([0x89, 0x50])),
      'answered with image/png instead of',
    ],
    ['nothing at all, with status 200', answer(null, ''), 'answered with no content type instead of'],
    ['an error event', { kind: 'error_event', type: 'permission_error' }, 'permission_error'],
    [
      'an error that unpacks to 200 MB',
      garbage((response) => {
        response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
      }),
      '400: ',
    ],
    ['a stream that stops midway', { kind: 'end', afterEvents: 4 }, 'ended before it was complete'],
    ['a stream of no events', answer('text/event-stream', '<html>\0\xff'), 'ended before it was complete'],
    ['a connection reset in mid-stream', { kind: 'reset', afterEvents: 4 }, 'broke off'],
    [
      'packed bytes that are none',
      answer('text/event-stream', 'these are not packed', { 'content-encoding': 'gzip' }),
      'broke off',
    ],
    [
      'a stream that unpacks to 200 MB',
      answer('text/event-stream', bomb, { 'content-encoding': 'gzip' }),
      'exceeds the limit of 4,194,304 bytes',
    ],
    ['another protocol', onTheWire('SSH-2.0-OpenSSH_9.9\r\n'), 'does not match the HTTP/1.1 protocol'],
    ['an error without an end', forever(500, { 'content-type': 'text/html' }, 'x'.repeat(4_000)), '500: '],
  ])('%s', async (_what, fault, reason) => {
    const run = await runInto(fault);
    expect([run.exitCode, run.result.outcome], run.stderr).toEqual([4, 'provider_error']);
    expect(run.lastLine).toContain('patchsmith: provider_error (exit 4) [ERR_PROVIDER_');
    expect(run.result.reason).toContain(reason);
    expect(run.result.reason).toMatch(/the patch so far has 1 file\.$/);
    expect(run.patch).toContain('+new');
  });

  test.each<[string, Fault]>([
    ['pings without an end', forever(200, SSE, 'event: ping\ndata: {"type":"ping"}\n\n')],
    ['comments without an end', forever(200, SSE, ': still here\n\n')],
    ['no headers', { kind: 'stall', afterEvents: null }],
    ['an error that never comes', garbage((response) => void response.writeHead(400).write('{'))],
  ])('or at the deadline: %s', async (_what, fault) => {
    const run = await withEnoughTime(
      (limitMs) => runInto(fault, ['--deadline', `${limitMs / 1000}s`]),
      ({ server }) => server.requests.length > 1,
    );
    expect([run.exitCode, run.result.outcome], run.stderr).toEqual([124, 'deadline']);
    expect(run.patch).toContain('+new');
  });
});

test.each([
  ['http://127.0.0.1:1', 'ECONNREFUSED'],
  ['https://api.patchsmith.invalid', 'api.patchsmith.invalid'],
])('where nothing listens, at %s, a run ends within half a minute', async (address, cause) => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const env = { ANTHROPIC_API_KEY: 'sk-ant-test-0123456789', ANTHROPIC_BASE_URL: address };
  const startedAt = Date.now();
  const run = await runCli(['run', '-m', 'Greet', '--sandbox', 'off'], { cwd: root, built: true, env });
  expect([run.exitCode, run.lastLine]).toEqual([4, expect.stringContaining(cause)]);
  expect(run.lastLine).toContain('Nothing has answered there so far: check the base URL');
  expect(Date.now() - startedAt).toBeLessThan(30_000);
});
