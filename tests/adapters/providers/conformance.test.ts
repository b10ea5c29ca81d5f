/** What every provider that asks an API has to do, against a local server of its API that is as strict as the real one. */

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createProvider,
  PROVIDERS,
  type ProviderSettings,
} from '../../../src/adapters/providers/registry.ts';
import {
  type Conversation,
  type Message,
  noUsage,
  totalTokens,
  type Usage,
} from '../../../src/domain/conversation/conversation.ts';
import {
  cutKeepingAtLeast,
  cutSegment,
  summarizedSegment,
} from '../../../src/domain/conversation/segments.ts';
import type { TurnProgress, TurnResult } from '../../../src/ports.ts';
import { startBedrockServer, startVertexServer } from '../../support/claude-server/clouds.ts';
import type { Script, ScriptedTurn } from '../../support/claude-server/script.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { GIF, pngImage } from '../../support/files/images.ts';
import { startGeminiServer } from '../../support/gemini-server/server.ts';
import { startOpenAiServer } from '../../support/openai-server/server.ts';
import { until } from '../../support/waiting/until.ts';
import { answered, failureOf, plainConversation, resultsOf, turnOf } from './asking.ts';

/** Only the server knows what it bills. */
const MAX_TOKENS = 8_192;
const UNANSWERED = { usage: { ...noUsage, input: expect.closeTo(200, -2) }, estimated: true };

const KEY = 'sk-test-0123456789abcdef';

interface Family {
  readonly provider: string;
  readonly model: string;
  /** The input of a call arrives as an object, so that it cannot be malformed or cut off. */
  readonly writesNoJson?: true;
  start(turns: Script): Promise<Started>;
  /** What is reported with the first words of an answer; left out where nothing is. */
  reportedAtOnce?(request: Seen): Usage | null | undefined;
}

interface Started {
  readonly url?: string;
  readonly requests: readonly Seen[];
  close(): Promise<void>;
  /** What else a provider is opened with that has this key. */
  settings?(key: string): Partial<ProviderSettings>;
}

interface Seen {
  readonly body: Record<string, unknown> | null;
  readonly refused: unknown;
  readonly usage?: Usage | null;
}

const openAi = (path: string, isReasoning: boolean): Family => ({
  provider: 'openai',
  model: 'gpt-5.4',
  start: async (turns) => {
    const server = await startOpenAiServer({ turns, apiKey: KEY, isReasoning });
    return { ...server, url: server.url + path };
  },
});

const FAMILIES: Readonly<Record<string, Family>> = {
  'Claude API': {
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    start: (turns) => startClaudeServer({ turns, apiKey: KEY }),
    reportedAtOnce: ({ usage }) => usage,
  },
  'Claude on Bedrock': {
    provider: 'bedrock',
    model: 'claude-sonnet-5-5',
    start: (turns) => startBedrockServer(turns, KEY),
    reportedAtOnce: ({ usage }) => usage,
  },
  'Claude on Vertex': {
    provider: 'vertex',
    model: 'claude-sonnet-5-5',
    start: (turns) => startVertexServer(turns, KEY),
    reportedAtOnce: ({ usage }) => usage,
  },
  'Gemini API': {
    provider: 'gemini',
    model: 'gemini-x',
    writesNoJson: true,
    start: (turns) => startGeminiServer({ turns, apiKey: KEY, model: 'gemini-x' }),
    reportedAtOnce: () => ({ ...noUsage, input: 34, cacheRead: 6, output: 4 }),
  },
  'OpenAI Chat Completions': openAi('/chat/completions', false),
  'OpenAI Responses': openAi('/responses', true),
};

test('every provider with an API meets this contract', () => {
  const asking = Object.keys(PROVIDERS).filter((name) => PROVIDERS[name]?.playsRecording === false);
  expect(new Set(Object.values(FAMILIES).map(({ provider }) => provider))).toEqual(new Set(asking));
});

describe.each(Object.entries(FAMILIES))('%s', (_name, family) => {
  async function asking(turns: Script, settings: { apiKey?: string; idleTimeoutMs?: number } = {}) {
    const server = await family.start(turns);
    onTestFinished(() => server.close());
    const waits: number[] = [];
    const progress: TurnProgress[] = [];
    const received: number[] = [];
    const askIn = async (conversation: Conversation, signal = new AbortController().signal) => {
      const patience = {
        clock: () => waits.reduce((sum, ms) => sum + ms, 0),
        random: () => 0,
        sleep: async (ms: number) => void waits.push(ms),
      };
      const given = { model: family.model, apiKey: KEY, effort: null, ...settings };
      const rest = {
        maxOutputTokens: MAX_TOKENS,
        ...(server.url === undefined ? {} : { baseUrl: server.url }),
        ...server.settings?.(given.apiKey),
        recording: null,
      };
      const provider = await createProvider(family.provider, { ...given, ...rest, ...patience });
      return provider.complete({
        conversation,
        signal,
        answerTokens: () => MAX_TOKENS,
        onProgress: (step) => {
          if (step.type === 'received') received.push(step.bytes);
          else progress.push(step);
        },
      });
    };
    const ask = (later: readonly Message[] = [], signal?: AbortSignal) =>
      askIn(plainConversation(...later), signal);
    return { server, waits, progress, received, ask, askIn };
  }
  const call = (path: string) => ({ name: 'read_file', input: { path } });
  const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });
  /** As `resume` reads it from a journal. */
  const recorded = (result: TurnResult) => turnOf(JSON.parse(JSON.stringify(result)) as TurnResult);

  test('parallel calls, results, cut-offs and texts make a conversation that only grows', async () => {
    const turns: ScriptedTurn[] = [
      { text: 'I look – first.', calls: [call('a'), call('b')] },
      { calls: [{ ...call('c'), ...(family.writesNoJson ? {} : { rawInput: '{"path": nowhere}' }) }] },
      { stop: 'max_tokens', outputTokens: 8_192, text: 'and so' },
      {
        stop: 'max_tokens',
        ...(family.writesNoJson ? {} : { calls: [{ name: 'read_file', rawInput: '{"path":"d' }] }),
      },
      { text: 'Done.' },
    ];
    const { server, ask } = await asking(turns);
    const said: Message[] = [];
    const stops: string[] = [];
    for (const _turn of turns) {
      const turn = recorded(await ask(said));
      stops.push(turn.stop);
      said.push(answered(turn), turn.calls.length > 0 ? resultsOf(turn, '') : user('Go on.'));
      if (stops.length === 1) {
        expect(turn.calls.map(({ name, input }) => ({ name, input }))).toEqual([call('a'), call('b')]);
        expect(turn.text).toBe('I look – first.');
        expect(turn.usage.input + turn.usage.cacheRead + turn.usage.cacheWrite).toBeGreaterThan(10);
        expect(turn.model).toBe(family.model);
      }
      if (stops.length === 2 && !family.writesNoJson)
        expect(turn.calls[0]?.malformed).toContain('not valid JSON');
    }
    expect(stops).toEqual(['tool_use', 'tool_use', 'max_tokens', 'max_tokens', 'end_turn']);
    expect(server.requests.map(({ refused }) => refused)).toEqual(turns.map(() => null));
    // Cache breakpoints are the one thing that moves.
    const sent = server.requests.map(({ body }) =>
      JSON.stringify(body?.messages ?? body?.input ?? body?.contents, (key, value) =>
        key === 'cache_control' ? undefined : value,
      ).slice(0, -1),
    );
    expect(sent.slice(1).map((later, at) => later.startsWith(sent[at] ?? '-'))).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  test.each([
    ['summarised', summarizedSegment],
    ['cut', cutSegment],
  ])(
    'a conversation that was %s is taken, whatever the turns that were kept have thought',
    async (_, shorten) => {
      const turns: ScriptedTurn[] = [
        ...['a', 'b', 'c'].map((path) => ({
          thinking: `I need ${path}.`,
          calls: [call(path), call(`${path}2`)],
        })),
        { thinking: 'Now I know.', calls: [call('d')] },
        { text: 'Done.' },
      ];
      const { server, askIn } = await asking(turns);
      let conversation = plainConversation();
      for (const at of turns.keys()) {
        const turn = recorded(await askIn(conversation));
        if (turn.calls.length === 0) continue;
        const messages = [...conversation.messages, answered(turn), resultsOf(turn, `results of ${at}`)];
        conversation = { ...conversation, messages };
        const cut = cutKeepingAtLeast(conversation, 4);
        if (at === 2 && cut !== null) conversation = shorten(conversation, cut, 'What was: a.');
      }
      expect(server.requests.map(({ refused }) => refused)).toEqual(turns.map(() => null));
      const sent = JSON.stringify(server.requests[3]?.body);
      for (const there of ['Mend the parser.', 'What was: a.', 'results of 1', 'results of 2'])
        expect(sent).toContain(there);
      expect(sent).not.toContain('results of 0');
    },
  );

  test('images come with the result of their call, where the API takes them', async () => {
    const { server, ask } = await asking([{ calls: [call('a.png'), call('b.gif')] }, { text: 'A kitten.' }]);
    const turn = recorded(await ask());
    const image = (mediaType: 'image/png' | 'image/gif', bytes: Buffer) => ({
      ...{ mediaType, width: 4, height: 3, data: bytes.toString('base64') },
    });
    const images = [image('image/png', pngImage()), image('image/gif', GIF)];
    const results: Message = {
      role: 'user',
      content: turn.calls.map(({ id }, at) => ({
        ...{ type: 'tool_result', callId: id, text: `Image ${at + 1}.`, isError: false },
        images: images.slice(at, at + 1),
      })),
    };
    expect(recorded(await ask([answered(turn), results])).text).toBe('A kitten.');
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).toContain(pngImage().toString('base64'));
    if (family.provider === 'gemini') expect(sent).toContain('convert it to PNG');
    else expect(sent).toContain(GIF.toString('base64'));
  });

  test('while an answer arrives, people see how many bytes of it are there, thoughts and calls included', async () => {
    const content = 'x'.repeat(5_000);
    const { ask, received } = await asking([
      { thinking: 'Let me think.', calls: [{ name: 'write_file', input: { path: 'a', content } }] },
    ]);
    await ask();
    expect(received.length).toBeGreaterThan(0);
    expect(received).toEqual([...received].sort((a, b) => a - b));
    expect(received.at(-1)).toBeGreaterThan(5_000);
  });

  test('a refusal is a turn', async () => {
    const { ask } = await asking([{ text: 'I cannot help.', stop: 'refusal' }]);
    expect(recorded(await ask()).stop).toBe('refusal');
  });

  test('what may heal is tried again: limits, outages, broken answers', async () => {
    const faults: ScriptedTurn['fault'][] = [
      { kind: 'http', status: 429, type: 'rate_limit_error', retryAfter: '7' },
      { kind: 'http', status: 503, type: 'api_error', rawBody: '<html>busy</html>' },
      { kind: 'reset', afterEvents: 1 },
      { kind: 'end', afterEvents: 2 },
      { kind: 'malformed', afterEvents: 2 },
    ];
    const turns = [
      ...faults.flatMap((fault) => (fault ? [{ text: 'Well.', fault }] : [])),
      { text: 'Well.' },
    ];
    const { ask, progress, waits } = await asking(turns);
    expect(recorded(await ask()).text).toBe('Well.');
    const kinds = progress.flatMap((step) => (step.type === 'retry' ? [step.retry.kind] : []));
    expect(kinds).toEqual(['rate_limit', 'outage', 'stream', 'stream', 'stream']);
    expect(waits[0]).toBe(7_000);
  });

  test('an answer that goes silent, or never begins, is retried', async () => {
    await Promise.all([silent(1, 'stream'), silent(null, 'outage')]);
  });

  async function silent(afterEvents: number | null, kind: string) {
    const turns: ScriptedTurn[] = [
      { text: 'Well.', fault: { kind: 'stall', afterEvents } },
      { text: 'Well.' },
    ];
    const { ask, progress } = await asking((_body, index) => turns[Math.min(index, 1)] ?? {}, {
      idleTimeoutMs: 1_500,
    });
    expect(recorded(await ask()).text).toBe('Well.');
    const [retry, ...more] = progress.flatMap((step) => (step.type === 'retry' ? [step.retry] : []));
    expect([retry?.kind, retry?.cause, more]).toEqual([
      kind,
      expect.stringContaining('(see --idle-timeout)'),
      [],
    ]);
    if (afterEvents === null) expect(retry?.spent).toEqual(UNANSWERED);
  }

  test('a request that is interrupted before its answer costs an answer of full length', async () => {
    const { server, askIn } = await asking([{ text: 'Well.', fault: { kind: 'stall', afterEvents: null } }]);
    const stop = new AbortController();
    const asked = askIn(plainConversation(), stop.signal);
    await until('the server has the request', () => server.requests.length > 0);
    stop.abort();
    const { usage } = UNANSWERED;
    expect(await asked).toEqual({
      status: 'interrupted',
      spent: { usage: { ...usage, output: MAX_TOKENS }, estimated: true },
    });
  });

  const text = 'What an answer says. '.repeat(50);
  /** Within what wraps the request of a cloud. */
  const estimateOf = ({ body }: Pick<Seen, 'body'>) =>
    expect.closeTo(Buffer.byteLength(JSON.stringify(body)) / 2, -2.5);
  const promptOf = ({ output: _, ...prompt }: Usage) => totalTokens({ ...prompt, output: 0 });

  test('an interrupted answer costs what was reported of its prompt, and an answer of full length', async () => {
    const turn: ScriptedTurn = { text, thinking: false, fault: { kind: 'stall', afterEvents: 3 } };
    const { server, askIn, received } = await asking([turn, { ...turn, uncounted: true }]);
    for (const reported of [family.reportedAtOnce, undefined]) {
      const stop = new AbortController();
      received.length = 0;
      const asked = askIn(plainConversation(), stop.signal);
      await until('the answer has begun', () => received.length > 0);
      // The three events may arrive apart.
      await delay(300);
      stop.abort();
      const result = await asked;
      const [request] = server.requests.slice(-1);
      if (result.status !== 'interrupted' || !result.spent || !request)
        throw new Error(JSON.stringify(result));
      const { usage, estimated } = result.spent;
      const known = reported?.(request) ?? null;
      expect([promptOf(usage), estimated]).toEqual([
        known === null ? estimateOf(request) : promptOf(known),
        true,
      ]);
      expect(usage.output).toBe(MAX_TOKENS);
    }
  });

  test('an answer that is cut before its first word costs its prompt, and a refusal in its place nothing', async () => {
    const { server, ask, progress } = await asking([
      { text, fault: { kind: 'end', afterEvents: 0 } },
      { fault: { kind: 'http', status: 503, type: 'api_error' } },
      { text, thinking: false },
    ]);
    expect(recorded(await ask())).not.toHaveProperty('estimated');
    const spent = progress.flatMap((step) => (step.type === 'retry' ? [step.retry.spent] : []));
    const [request] = server.requests;
    expect(spent).toEqual([
      request && { usage: { ...noUsage, input: estimateOf(request) }, estimated: true },
      undefined,
    ]);
  });

  test('where tokens are not counted, they are estimated, and said to be', async () => {
    const { server, ask } = await asking([{ text, thinking: false, uncounted: true }]);
    const { usage, estimated } = recorded(await ask());
    const [request] = server.requests;
    expect([usage.input, estimated]).toEqual([request && estimateOf(request), true]);
    expect(usage.output).toBeGreaterThanOrEqual(Buffer.byteLength(text) / 2);
    expect(usage.output).toBeLessThan(Buffer.byteLength(text));
  });

  test('a number of tokens that no answer has is not believed, since sums of it would be no numbers of a result', async () => {
    const { ask } = await asking([{ text, thinking: false, outputTokens: Number.MAX_SAFE_INTEGER }]);
    const { usage, estimated } = recorded(await ask());
    expect(estimated).toBe(true);
    expect(usage.output).toBeGreaterThanOrEqual(Buffer.byteLength(text) / 2);
    expect(usage.output).toBeLessThan(Buffer.byteLength(text));
  });

  test('a permanent failure is reported at once, without the key', async () => {
    const wrong = await asking([], { apiKey: 'sk-wrong-0123456789' });
    expect(failureOf(await wrong.ask()).kind).toBe('authentication');
    const { ask } = await asking([
      { fault: { kind: 'http', status: 400, message: `no ${KEY} here` } },
      { fault: { kind: 'http', status: 302, rawBody: '', headers: { location: 'http://127.0.0.1:1/' } } },
      { fault: { kind: 'garbage', send: (response) => void response.end('plain') } },
    ]);
    const failures = [failureOf(await ask()), failureOf(await ask()), failureOf(await ask())];
    expect(failures.map(({ kind }) => kind)).toEqual(['invalid_request', 'invalid_request', 'stream']);
    expect(failures[0]?.message).toContain('no *** here');
  });

  test('an interrupt ends a request that hangs', async () => {
    const { ask } = await asking([{ fault: { kind: 'stall', afterEvents: null } }]);
    expect((await ask([], AbortSignal.timeout(100))).status).toBe('interrupted');
  });
});
