import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { retryAfterMs } from '../../../src/adapters/providers/asking/failures.ts';
import type { Fault, ScriptedTurn } from '../../support/claude-server/script.ts';
import { listening } from '../../support/http/listening.ts';
import { CERTIFIED } from '../../support/machine/connect-proxy.ts';
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
    expect([failure.kind, failure.spent, server.requests.length, waits]).toEqual([kind, undefined, 1, []]);
  });
});

/** Half a second, doubled up to 30 s; the last is cut so that five minutes have passed when the last attempt is made. */
const OUTAGE_WAITS = [500, 1_000, 2_000, 4_000, 8_000, 16_000, ...Array(8).fill(30_000), 28_500];

describe('an outage is waited out for five minutes', () => {
  test.each<[string, ScriptedTurn]>([
    ['502 in a proxy’s own words', http(502, { rawBody: '<html><h1>Bad\u001b[31m Gateway</h1>' })],
    ['529', http(529)],
    ['an overload inside the stream', { fault: { kind: 'error_event', type: 'overloaded_error' } }],
    ['a reset before the answer', { fault: { kind: 'reset', afterEvents: null } }],
  ])('%s', async (_name, turn) => {
    const { server, waits, ask } = await asking(always(turn));
    const failure = failureOf(await ask());
    expect([failure.kind, server.requests.length, waits]).toEqual(['outage', 16, OUTAGE_WAITS]);
    expect(failure.message).toContain('16 attempts in 300 s');
    expect(failure.message).not.toMatch(/[\u0000-\u001f<]/);
  });

  test('or for as long as --outage-wait says', async () => {
    const { waits, ask } = await asking(always(http(529)), { outageWaitMs: 2_000 });
    expect(failureOf(await ask()).kind).toBe('outage');
    expect(waits).toEqual([500, 1_000, 500]);
  });
});

/** Half a second, doubled; the last is cut so that ten seconds have passed when the last attempt is made. */
const UNREACHABLE_WAITS = [500, 1_000, 2_000, 4_000, 2_500];

describe('where nothing has ever answered, the wait is ten seconds', () => {
  test('for a host that no name server knows', async () => {
    const { waits, ask } = await asking([], { baseUrl: 'https://api.patchsmith.invalid' });
    const failure = failureOf(await ask());
    expect([failure.kind, waits]).toEqual(['outage', UNREACHABLE_WAITS]);
    expect(failure.message).toMatch(
      /(?:ENOTFOUND|EAI_AGAIN).*\. Nothing has answered there so far: check the base URL/,
    );
  });

  test('for an endpoint that does not exist', async () => {
    const { server, waits, ask } = await asking([]);
    await server.close();
    const failure = failureOf(await ask());
    expect([failure.kind, waits]).toEqual(['outage', UNREACHABLE_WAITS]);
    expect(failure.message).toContain('ECONNREFUSED');
  });

  test('for a host with a certificate of its own making', async () => {
    const secure = createSecureServer(CERTIFIED);
    const port = await listening(secure);
    const { waits, ask } = await asking([], { baseUrl: `https://127.0.0.1:${port}` });
    expect([failureOf(await ask()).message, waits]).toEqual([
      expect.stringContaining('self-signed certificate'),
      UNREACHABLE_WAITS,
    ]);
  });

  test('and five minutes once something has', async () => {
    const { server, waits, ask } = await asking([{ text: 'whole' }]);
    turnOf(await ask());
    await server.close();
    expect([failureOf(await ask()).kind, waits]).toEqual(['outage', OUTAGE_WAITS]);
  });
});

describe('an answer that broke off is retried five times at most, since each attempt costs its prompt', () => {
  test.each<[string, ScriptedTurn]>([
    ['a reset in mid-stream', { text: 'half', fault: { kind: 'reset', afterEvents: 3 } }],
    ['a stream without message_stop', { text: 'half', fault: { kind: 'end', afterEvents: 5 } }],
    ['an empty stream', { fault: { kind: 'end', afterEvents: 0 } }],
    ['an event that is no JSON', { text: 'half', fault: { kind: 'malformed', afterEvents: 3 } }],
  ])('%s', async (_name, turn) => {
    const { server, waits, ask } = await asking(always(turn));
    const failure = failureOf(await ask());
    expect([failure.kind, server.requests.length, waits]).toEqual(['stream', 5, [500, 1000, 2000, 4000]]);
    expect(failure.message).toContain('5 attempts in 8 s');
  });
});

describe('a rate limit', () => {
  const inStream: ScriptedTurn = { fault: { kind: 'error_event', type: 'rate_limit_error' } };

  test.each([
    ['with its status', http(429)],
    ['inside the stream', inStream],
  ])('%s is retried five times from ten seconds, 310 in all', async (_name, turn) => {
    const { server, waits, ask } = await asking(always(turn));
    const failure = failureOf(await ask());
    expect([failure.kind, server.requests.length]).toEqual(['rate_limit', 6]);
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000]);
    expect(failure.message).toContain('6 attempts in 310 s');
  });

  test('is waited out for as long as --rate-limit-wait says', async () => {
    const { waits, ask } = await asking(always(http(429)), { rateLimitWaitMs: 25_000 });
    expect(failureOf(await ask()).kind).toBe('rate_limit');
    expect(waits).toEqual([10_000, 15_000]);
  });

  test('and an outage have each their own patience', async () => {
    const turns = [http(529), http(429), http(529), http(429)];
    const { waits, ask } = await asking((_request, n) => turns[n] ?? { text: 'at last' });
    expect(turnOf(await ask()).text).toBe('at last');
    expect(waits).toEqual([500, 10_000, 1_000, 20_000]);
  });
});

test('jitter adds up to a tenth to a wait, and nothing to the whole', async () => {
  const { waits, ask } = await asking(always(http(529)), { random: () => 0.5, outageWaitMs: 3_000 });
  failureOf(await ask());
  expect(waits).toEqual([525, 1_050, 1_425]);
});

describe('retry-after', () => {
  test('is honoured for rate limits and overloads', async () => {
    const { waits, ask } = await asking([
      http(429, { retryAfter: '7' }),
      http(529, { retryAfter: '3' }),
      http(429, { retryAfter: '200' }),
      {},
    ]);
    turnOf(await ask());
    expect(waits).toEqual([7_000, 3_000, 200_000]);
  });

  test('that asks for more than there is patience for ends the turn at once, with the time to come back', async () => {
    const { server, waits, ask } = await asking(always(http(429, { retryAfter: '3600' })));
    const { kind, message } = failureOf(await ask());
    expect([kind, server.requests.length, waits]).toEqual(['rate_limit', 1, []]);
    expect(message).toContain(
      'The endpoint requests a wait of 3,600 s, and --rate-limit-wait is 310 s: come back after 1970-01-01 01:00:00 UTC.',
    );
  });

  test('counts what has been waited before', async () => {
    const { waits, ask } = await asking([http(529), http(503, { retryAfter: '300' })]);
    expect(failureOf(await ask()).message).toContain(
      '--outage-wait is 300 s: come back after 1970-01-01 00:05:01 UTC',
    );
    expect(waits).toEqual([500]);
  });

  test('of nothing, again and again, is not obeyed to the letter', async () => {
    const { server, waits, ask } = await asking(always(http(429, { retryAfter: '0' })), {
      rateLimitWaitMs: 5_000,
    });
    failureOf(await ask());
    expect([waits, server.requests.length]).toEqual([[625, 1_250, 2_500, 5_000], 5]);
  });

  test('is seconds or a date; nonsense counts as absent', () => {
    const now = Date.parse('2026-11-21T10:00:00Z');
    const read = (header: string | null) =>
      retryAfterMs(new Headers(header === null ? {} : { 'retry-after': header }), now);
    expect(read('1.5')).toBe(1500);
    expect(read('Sat, 21 Nov 2026 10:00:20 GMT')).toBe(20_000);
    expect(read('Sat, 21 Nov 2026 09:00:00 GMT')).toBe(0);
    expect([read('soon'), read(''), read(null)]).toEqual([null, null, null]);
  });
});

describe('after a failed attempt', () => {
  test('the retry is told before its wait: what failed, how, and what it had used up', async () => {
    const { server, progress, ask } = await asking([
      http(529),
      { text: 'half an answer', fault: { kind: 'end', afterEvents: 4 } },
      { text: 'whole' },
    ]);
    expect(turnOf(await ask()).text).toBe('whole');
    const spent = { usage: server.requests[1]?.usage, estimated: true };
    const overload =
      '529 overloaded_error: scripted overloaded_error. Try again later; see status.claude.com.';
    expect(progress.flatMap((step) => (step.type === 'retry' ? [step.retry] : []))).toEqual([
      { attempt: 2, kind: 'outage', status: 529, cause: overload, waitMs: 500 },
      {
        attempt: 3,
        kind: 'stream',
        status: null,
        cause: 'The answer ended before it was complete.',
        waitMs: 500,
        spent: { ...spent, usage: { ...spent.usage, output: expect.any(Number) } },
      },
    ]);
  });

  test('the next one is the same request, byte for byte', async () => {
    const { server, ask } = await asking([http(500), http(529), {}]);
    turnOf(await ask());
    expect(new Set(server.requests.map(({ bytes }) => bytes)).size).toBe(1);
  });
});

describe('the tokens that an answer may have', () => {
  const broken: ScriptedTurn = { text: 'half', fault: { kind: 'end', afterEvents: 4 } };

  test('are asked for again before each attempt, with what those before it have used up', async () => {
    const { server, ask } = await asking([broken, http(529), { text: 'whole' }]);
    const seen: number[] = [];
    const answer = await ask(undefined, undefined, (spent) => {
      seen.push(spent.length);
      return 9_000 - 1_000 * spent.length;
    });
    expect(turnOf(answer).text).toBe('whole');
    expect(server.requests.map(({ body }) => body?.max_tokens)).toEqual([9_000, 8_000, 8_000]);
    expect(seen).toEqual([0, 1, 1]);
  });

  test('may be none, and the turn then ends with what the last attempt had used up', async () => {
    const { server, ask, waits } = await asking(always(broken));
    const answer = await ask(undefined, undefined, (spent) => (spent.length < 2 ? 9_000 : null));
    expect(answer).toMatchObject({ status: 'interrupted', spent: { estimated: true } });
    expect([server.requests.length, waits]).toEqual([2, [500]]);
  });
});

describe('the output of an answer that was cut off', () => {
  const usage = { input_tokens: 900, cache_read_input_tokens: 50, output_tokens: 1 };
  const begun: Record<string, unknown>[] = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ab'.repeat(500) } },
  ];
  const delta = (reason: string | null) => ({
    type: 'message_delta',
    delta: { stop_reason: reason },
    usage: { ...usage, output_tokens: 321 },
  });
  const broken = { type: 'content_block_stop', index: 9 };

  test.each<[string, Record<string, unknown>[], number, boolean]>([
    ['is reckoned from its bytes', [...begun, broken], 500, true],
    ['is never less than what was reported', [delta(null), broken], 321, true],
    ['is no estimate once it is reported with the stop', [...begun, delta('end_turn'), broken], 321, false],
  ])('%s', async (_name, events, output, estimated) => {
    const { ask } = await asking(always({ events }), { outageWaitMs: 1 });
    const { spent } = failureOf(await ask());
    expect([spent?.usage.output, spent?.estimated]).toEqual([output, estimated]);
  });
});

describe('an answer that contradicts itself is retried', () => {
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
      '401 authentication_error: invalid x-api-key. Check that ANTHROPIC_API_KEY, or the login of the cloud (docs/providers.md), is valid for this endpoint. ' +
        `(model claude-sonnet-5-5 at ${new URL(server.url).host}, request req_1)`,
    );
  });

  test('never contains the key, even if the server repeats it where the text is cut', async () => {
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

  test('says that the endpoint is not the API', async () => {
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
