import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { retryAfterMs } from '../../../src/adapters/providers/anthropic/failures.ts';
import type { Fault, ScriptedTurn } from '../../support/claude-server/script.ts';
import { asking, failureOf, plainConversation, TEST_KEY, turnOf } from './asking.ts';

const http = (status: number, more: Partial<Extract<Fault, { kind: 'http' }>> = {}): ScriptedTurn => ({
  fault: { kind: 'http', status, ...more },
});
const always = (turn: ScriptedTurn) => (): ScriptedTurn => turn;

describe('a refusal that another attempt cannot change is made once', () => {
  test.each<[string, ScriptedTurn, string]>([
    ['400', http(400), 'invalid_request'],
    [
      '400 for a spend limit',
      http(400, {
        message: 'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
      }),
      'billing',
    ],
    [
      '400 for a prompt beyond the context window',
      http(400, { message: 'prompt is too long: 9 > 8' }),
      'too_large',
    ],
    ['401', http(401), 'authentication'],
    ['402', http(402), 'billing'],
    ['403', http(403), 'permission'],
    ['404', http(404), 'not_found'],
    ['413', http(413), 'too_large'],
    ['429 for the monthly spend cap', http(429, { code: 'enforced_spend_limit_reached' }), 'billing'],
    [
      '429 for the spend limit of the contract',
      http(429, { code: 'contract_spend_limit_reached' }),
      'billing',
    ],
    ['a redirect', http(307, { headers: { location: 'https://elsewhere.example/' } }), 'invalid_request'],
  ])('%s', async (_name, turn, kind) => {
    const { server, waits, ask } = await asking(always(turn));
    const failure = failureOf(await ask());
    expect([failure.kind, failure.retries, server.requests.length, waits]).toEqual([kind, [], 1, []]);
  });
});

describe('a failure that may pass is tried five times in all', () => {
  test.each<[string, ScriptedTurn, string]>([
    ['500', http(500), 'outage'],
    ['502 in a proxy’s own words', http(502, { rawBody: '<html><h1>Bad\u001b[31m Gateway</h1>' }), 'outage'],
    ['503', http(503), 'outage'],
    ['504', http(504), 'outage'],
    ['529', http(529), 'outage'],
    ['an overload inside the stream', { fault: { kind: 'error_event', type: 'overloaded_error' } }, 'outage'],
    ['an internal error inside the stream', { fault: { kind: 'error_event', type: 'api_error' } }, 'outage'],
    ['a reset before the answer', { fault: { kind: 'reset', afterEvents: null } }, 'outage'],
    ['a reset in mid-stream', { text: 'half', fault: { kind: 'reset', afterEvents: 3 } }, 'stream'],
    ['a stream without message_stop', { text: 'half', fault: { kind: 'end', afterEvents: 5 } }, 'stream'],
    ['an empty stream', { fault: { kind: 'end', afterEvents: 0 } }, 'stream'],
    ['an event that is no JSON', { text: 'half', fault: { kind: 'malformed', afterEvents: 3 } }, 'stream'],
  ])('%s', async (_name, turn, kind) => {
    const { server, waits, ask } = await asking(always(turn));
    const failure = failureOf(await ask());
    expect([failure.kind, server.requests.length, waits]).toEqual([kind, 5, [500, 1000, 2000, 4000]]);
    expect(failure.message).toContain('5 attempts');
    expect(failure.message).not.toMatch(/[\u0000-\u001f]/);
  });

  test('a rate limit waits longer, from ten seconds, also when it comes inside the stream', async () => {
    for (const turn of [
      http(429),
      { fault: { kind: 'error_event', type: 'rate_limit_error' } } as ScriptedTurn,
    ]) {
      const { server, waits, ask } = await asking(always(turn));
      expect(failureOf(await ask()).kind).toBe('rate_limit');
      expect([server.requests.length, waits]).toEqual([5, [10_000, 20_000, 40_000, 80_000]]);
    }
  });

  test('a mixture of failures is not tried more often than one of a kind', async () => {
    const turns = [
      http(529),
      http(429),
      { fault: { kind: 'end', afterEvents: 2 } } as ScriptedTurn,
      http(429),
    ];
    const { server, waits, ask } = await asking((_request, n) => turns[n] ?? http(500));
    expect(failureOf(await ask()).kind).toBe('outage');
    expect([server.requests.length, waits]).toEqual([5, [500, 10_000, 1000, 20_000]]);
  });

  test('jitter takes up to a quarter off a wait', async () => {
    const { waits, ask } = await asking([http(529), http(529), {}], { random: () => 0.5 });
    turnOf(await ask());
    expect(waits).toEqual([438, 875]);
  });
});

describe('retry-after', () => {
  test('is honoured for rate limits and overloads, up to 120 seconds', async () => {
    const { waits, ask } = await asking([
      http(429, { retryAfter: '7' }),
      http(529, { retryAfter: '3' }),
      http(429, { retryAfter: '3600' }),
      {},
    ]);
    turnOf(await ask());
    expect(waits).toEqual([7000, 3000, 120_000]);
  });

  test('is seconds or a date; nonsense counts as absent', () => {
    const now = Date.parse('2026-11-21T10:00:00Z');
    const read = (header: string | null) => retryAfterMs(header, now);
    expect(read('1.5')).toBe(1500);
    expect(read('Sat, 21 Nov 2026 10:00:20 GMT')).toBe(20_000);
    expect(read('Sat, 21 Nov 2026 09:00:00 GMT')).toBe(0);
    expect([read('soon'), read(''), read(null)]).toEqual([null, null, null]);
  });
});

describe('after a failed attempt', () => {
  test('the answer says what was tried, what was waited and what the broken attempt had used', async () => {
    const { server, progress, ask } = await asking([
      http(529),
      { text: 'half an answer', fault: { kind: 'end', afterEvents: 4 } },
      { text: 'whole' },
    ]);
    const turn = turnOf(await ask());
    const overload =
      '529 overloaded_error: scripted overloaded_error. Try again later; see status.claude.com.';
    const incomplete = 'The answer ended before it was complete.';
    expect(turn.text).toBe('whole');
    expect(turn.retries).toEqual([
      { cause: overload, waitedMs: 500 },
      { cause: incomplete, waitedMs: 1000, usage: server.requests[1]?.usage },
    ]);
    expect(progress.filter((step) => step.type === 'retry')).toEqual([
      { type: 'retry', cause: overload, waitMs: 500, attempt: 2 },
      { type: 'retry', cause: incomplete, waitMs: 1000, attempt: 3 },
    ]);
  });

  test('the next one is the same request, byte for byte', async () => {
    const { server, ask } = await asking([http(500), http(529), {}]);
    turnOf(await ask());
    expect(new Set(server.requests.map(({ bytes }) => bytes)).size).toBe(1);
  });

  test('tokens of the last broken attempt are reported too', async () => {
    const { server, ask } = await asking(always({ text: 'x', fault: { kind: 'end', afterEvents: 2 } }));
    const { retries } = failureOf(await ask());
    expect(retries.map(({ usage }) => usage)).toEqual(server.requests.map(({ usage }) => usage));
    expect(retries.at(-1)?.waitedMs).toBe(0);
  });
});

describe('an answer that contradicts itself is asked for again', () => {
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const call = (index: number, id: string): Record<string, unknown>[] => [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id, name: 'read_file', input: {} },
    },
    { type: 'content_block_stop', index },
  ];
  test.each<[string, Record<string, unknown>[]]>([
    ['two calls with one id', [...call(0, 'toolu_1'), ...call(1, 'toolu_1'), ...end]],
    ['a call without an id', [...call(0, ''), ...end]],
    ['a stop for tools without a call', end],
    ['no stop reason', [{ type: 'message_stop' }]],
    ['a block that never ends', [call(0, 'toolu_1')[0] ?? {}, ...end]],
    ['blocks out of order', [...call(1, 'toolu_1'), ...end]],
    [
      'a delta of no block',
      [{ type: 'content_block_delta', index: 4, delta: { type: 'text_delta', text: 'x' } }, ...end],
    ],
    ['a second message_start', [{ type: 'message_start', message: { model: 'm', usage: {} } }, ...end]],
  ])('%s', async (_name, events) => {
    const { server, ask } = await asking([{ events }, { text: 'whole' }]);
    expect(turnOf(await ask()).text).toBe('whole');
    expect(server.requests.length).toBe(2);
  });

  test('a call with the id of an earlier turn’s call', async () => {
    const call = { name: 'read_file', input: {}, id: 'toolu_twice' };
    const { ask } = await asking([{ calls: [call] }, { calls: [call] }, { text: 'whole' }]);
    const first = turnOf(await ask());
    const conversation = plainConversation(
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', callId: 'toolu_twice', text: 'x', isError: false }] },
    );
    expect(turnOf(await ask(conversation)).text).toBe('whole');
  });
});

describe('a message for people', () => {
  test('says what happened, where, and how to mend it', async () => {
    const { server, ask } = await asking([http(401, { message: 'invalid x-api-key' })]);
    expect(failureOf(await ask()).message).toBe(
      '401 authentication_error: invalid x-api-key. Check that ANTHROPIC_API_KEY is a valid key for this endpoint. ' +
        `(model claude-sonnet-5-5 at ${new URL(server.url).host}, request req_1)`,
    );
  });

  test('never holds the key, also when the server repeats it where the text is cut', async () => {
    for (const padding of [0, 480, 490, 495]) {
      const message = `${'x'.repeat(padding)} ${TEST_KEY} is no key`;
      const failures = [
        http(401, { message }),
        { fault: { kind: 'error_event', type: 'api_error', message } } as const,
      ];
      for (const turn of failures) {
        const { ask, progress } = await asking(always(turn));
        expect(JSON.stringify([await ask(), progress])).not.toContain(TEST_KEY.slice(0, 12));
      }
    }
  });

  test('names an endpoint that is not there', async () => {
    const { server, ask } = await asking([]);
    await server.close();
    expect(failureOf(await ask())).toMatchObject({
      kind: 'outage',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('says so when the endpoint is something else than the API', async () => {
    const other = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<h1>Sign in</h1>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      other.close();
    });
    const { port } = other.address() as AddressInfo;
    const { ask, waits } = await asking([], { baseUrl: `http://127.0.0.1:${port}` });
    expect([failureOf(await ask()).message, waits]).toEqual([
      expect.stringContaining('answered with text/html instead of an event stream'),
      [],
    ]);
  });
});
