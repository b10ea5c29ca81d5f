import { describe, expect, test } from 'vitest';
import type { Block } from '../../support/claude-server/script.ts';
import { answered, asking, failureOf, plainConversation, resultsOf, turnOf } from './asking.ts';

/** The blocks of one message as they went over the wire. */
function sentContent(body: Record<string, unknown> | null | undefined, message: number): unknown {
  const messages = body?.messages as { content: unknown }[];
  return messages[message]?.content;
}

describe('an answer', () => {
  test('has thinking, text and calls exactly as they came, and the server takes them back', async () => {
    const { server, ask } = await asking([
      {
        text: 'I look.',
        calls: [
          { name: 'read_file', input: { path: 'a.ts' } },
          { name: 'read_file', input: {} },
        ],
      },
      { text: 'Done.' },
    ]);
    const first = turnOf(await ask());
    expect(first).toEqual({
      content: [
        { type: 'thinking', thinking: '', signature: expect.stringMatching(/^sig\./) },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_0_0', name: 'read_file', input: { path: 'a.ts' } },
        { type: 'tool_use', id: 'toolu_0_1', name: 'read_file', input: {} },
      ],
      stop: 'tool_use',
      stopDetail: '',
      calls: [
        { id: 'toolu_0_0', name: 'read_file', input: { path: 'a.ts' } },
        { id: 'toolu_0_1', name: 'read_file', input: {} },
      ],
      text: 'I look.',
      usage: server.requests[0]?.usage,
      model: 'claude-sonnet-5-5',
      durationMs: 0,
    });
    const second = turnOf(await ask(plainConversation(answered(first), resultsOf(first))));
    expect([second.text, second.stop]).toEqual(['Done.', 'end_turn']);
    expect(JSON.stringify(sentContent(server.requests[1]?.body, 1))).toBe(JSON.stringify(first.content));
  });

  test('survives chunks that are cut at any byte, also inside a character', async () => {
    const text = 'Grüße 🙂 – \u{1F468}\u200D\u{1F469}\u200D\u{1F467} "quoted"\n\ttabbed \\ end';
    const input = { path: 'añ🙂/\u2028.ts', nested: { list: [1, null, 'ü'] } };
    for (const chunkBytes of [1, 2, 3, 7]) {
      const { ask } = await asking([{ text, calls: [{ name: 'read_file', input }], chunkBytes }]);
      const turn = turnOf(await ask());
      expect([turn.text, turn.calls[0]?.input]).toEqual([text, input]);
    }
  });

  test('keeps blocks of unknown types and unknown fields, and the order of fields', async () => {
    const blocks: Block[] = [
      { later_field: { deep: [1, { x: null }] }, type: 'hologram', beam: 'on' } as Block,
      { type: 'text', text: 'cited', citations: [{ type: 'char_location', cited_text: 'x' }] },
    ];
    const { server, ask } = await asking([
      { redacted: true, blocks, calls: [{ name: 'read_file', input: { path: 'x' } }] },
      {},
    ]);
    const turn = turnOf(await ask());
    expect(JSON.stringify(turn.content.slice(1, 3))).toBe(JSON.stringify(blocks));
    expect(turn.content[0]?.type).toBe('redacted_thinking');
    turnOf(await ask(plainConversation(answered(turn), resultsOf(turn))));
    expect(JSON.stringify(sentContent(server.requests[1]?.body, 1))).toBe(JSON.stringify(turn.content));
  });

  test('takes deltas of unknown types: text grows, lists grow, anything else is replaced', async () => {
    const { ask } = await asking([
      {
        events: [
          {
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'hologram', beam: 'a', rays: [1], on: false },
          },
          {
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'hologram_delta', beam: 'b', rays: [2], on: true },
          },
          { type: 'content_block_stop', index: 0 },
          { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
          {
            type: 'content_block_delta',
            index: 1,
            delta: { type: 'citations_delta', citation: { page: 1 } },
          },
          {
            type: 'content_block_delta',
            index: 1,
            delta: { type: 'citations_delta', citation: { page: 2 } },
          },
          { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'x' } },
          { type: 'content_block_stop', index: 1 },
          { type: 'an_event_of_the_future', index: 9 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
          { type: 'message_stop' },
        ],
      },
    ]);
    expect(turnOf(await ask()).content).toEqual([
      { type: 'hologram', beam: 'ab', rays: [1, 2], on: true },
      { type: 'text', text: 'x', citations: [{ page: 1 }, { page: 2 }] },
    ]);
  });

  test.each([
    ['["a"]', 'The input must be one JSON object, but it is an array.'],
    ['"a"', 'The input must be one JSON object, but it is a string.'],
    ['null', 'The input must be one JSON object, but it is null.'],
    ['{"path": "a', expect.stringContaining('The input is not valid JSON')],
    [`{"path": ${'['.repeat(5_000)}`, 'The input is nested more than 100 levels deep.'],
    ['{"path": "a"} x', expect.stringContaining('The input is not valid JSON')],
  ])(
    'with the tool input %.20s has a malformed call, and goes back as an empty object',
    async (rawInput, malformed) => {
      const { ask } = await asking([{ calls: [{ name: 'read_file', rawInput }] }, {}]);
      const turn = turnOf(await ask());
      expect(turn.calls).toEqual([{ id: 'toolu_0_0', name: 'read_file', input: rawInput, malformed }]);
      expect(turn.content.at(-1)).toEqual({
        type: 'tool_use',
        id: 'toolu_0_0',
        name: 'read_file',
        input: {},
      });
      turnOf(await ask(plainConversation(answered(turn), resultsOf(turn))));
    },
  );

  test('without any tool input has a call without arguments', async () => {
    const { ask } = await asking([{ calls: [{ name: 'list_files', rawInput: '' }] }]);
    expect(turnOf(await ask()).calls).toEqual([{ id: 'toolu_0_0', name: 'list_files', input: {} }]);
  });

  test.each([
    ['end_turn', 'end_turn'],
    ['stop_sequence', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['pause_turn', 'pause_turn'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_window'],
  ])('with the stop reason %s ends the turn as %s', async (stop, expected) => {
    const { ask } = await asking([{ text: 'x', stop }]);
    expect(turnOf(await ask()).stop).toBe(expected);
  });

  test('that is cut off inside a call says max_tokens, although the input parses', async () => {
    const { ask } = await asking([
      { calls: [{ name: 'run_command', rawInput: '{"command":"echo CUT"}' }], stop: 'max_tokens' },
    ]);
    const turn = turnOf(await ask());
    expect([turn.stop, turn.calls[0]?.input]).toEqual(['max_tokens', { command: 'echo CUT' }]);
  });

  test('that refuses tells why', async () => {
    const stopDetails = { type: 'refusal', category: 'cyber', explanation: 'Not this.' };
    const { ask } = await asking([{ stop: 'refusal', stopDetails }]);
    expect(turnOf(await ask()).stopDetail).toBe('cyber: Not this.');
  });

  test.each(['gone_fishing', 'constructor'])(
    'with the unknown stop reason %s fails once and is not asked for again',
    async (stop) => {
      const { server, ask } = await asking([{ text: 'x', stop }]);
      expect(failureOf(await ask())).toMatchObject({
        kind: 'stream',
        message: expect.stringContaining(`unknown stop reason "${stop}"`),
      });
      expect(server.requests.length).toBe(1);
    },
  );

  test('that paused is sent back as it is, and its continuation joins it', async () => {
    const { server, ask } = await asking([
      { text: 'Let me', stop: 'pause_turn' },
      { text: ' think.', calls: [{ name: 'read_file', input: { path: 'a' } }] },
      { text: 'Done.' },
    ]);
    const paused = turnOf(await ask());
    const going = turnOf(await ask(plainConversation(answered(paused))));
    turnOf(await ask(plainConversation(answered(paused), answered(going), resultsOf(going))));
    expect(sentContent(server.requests[2]?.body, 1)).toEqual([...paused.content, ...going.content]);
  });

  test('that is empty leaves no gap: what the user says next joins what was said before', async () => {
    const { server, ask } = await asking([{ thinking: false, text: '' }, { text: 'ok' }]);
    const empty = turnOf(await ask());
    expect(empty.content).toEqual([{ type: 'text', text: '' }]);
    const nudge = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Go on.' }] };
    turnOf(await ask(plainConversation(answered(empty), nudge)));
    expect(sentContent(server.requests[1]?.body, 0)).toEqual([
      { type: 'text', text: 'Mend the parser.' },
      { type: 'text', text: 'Go on.', cache_control: { type: 'ephemeral' } },
    ]);
  });

  test('whose thought was cut off before its signature does not send that thought back', async () => {
    const { ask } = await asking([
      {
        events: [
          {
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'thinking', thinking: '', signature: '' },
          },
          { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 3 } },
          { type: 'message_stop' },
        ],
      },
      { text: 'ok' },
    ]);
    const cut = turnOf(await ask());
    expect(cut.content).toEqual([{ type: 'thinking', thinking: 'Hm', signature: '' }]);
    const goOn = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Go on.' }] };
    expect(turnOf(await ask(plainConversation(answered(cut), goOn))).text).toBe('ok');
  });
});

test('usage tells the billing classes apart', async () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 2000,
    cache_creation_input_tokens: 300,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    output_tokens: 7,
  };
  const { ask } = await asking([
    {
      events: [
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
        { type: 'message_stop' },
      ],
    },
  ]);
  expect(turnOf(await ask()).usage).toEqual({
    input: 10,
    output: 7,
    cacheRead: 2000,
    cacheWrite: 100,
    cacheWrite1h: 200,
  });
});
