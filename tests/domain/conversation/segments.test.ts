import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Conversation,
  type Message,
  openConversation,
} from '../../../src/domain/conversation/conversation.ts';
import {
  answeredCalls,
  compactedSegment,
  cutKeepingAtLeast,
  cutKeepingAtMost,
  cutSegment,
  cutsOf,
  requestBefore,
  summarizedSegment,
} from '../../../src/domain/conversation/segments.ts';

const block = { type: 'compaction', content: 'what was', signature: 's' };

/** One turn of the model: its number of calls, whether it pauses before them, and whether the runner adds a text to the results. */
interface Round {
  readonly calls: number;
  readonly pauses: boolean;
  readonly isFollowedByText: boolean;
}

const rounds = fc.array(
  fc.record({ calls: fc.nat(4), pauses: fc.boolean(), isFollowedByText: fc.boolean() }),
  { maxLength: 30 },
);

function talk(conversation: Conversation, name: string, all: readonly Round[]): Conversation {
  const messages = [...conversation.messages];
  for (const [at, { calls, pauses, isFollowedByText }] of all.entries()) {
    const ids = Array.from({ length: calls }, (_, call) => `${name}_${at}_${call}`);
    const thought = { type: 'thinking', thinking: '', signature: `${name}${at}` };
    if (pauses) messages.push({ role: 'assistant', content: [thought, { type: 'text', text: '…' }] });
    messages.push({
      role: 'assistant',
      content: [thought, ...ids.map((id) => ({ type: 'tool_use', id, name: 'read_file', input: {} }))],
    });
    const results = ids.map((callId) => ({
      type: 'tool_result' as const,
      callId,
      text: `${callId} ok`,
      isError: false,
    }));
    const text = { type: 'text' as const, text: `go on ${at}` };
    messages.push({ role: 'user', content: isFollowedByText || calls === 0 ? [...results, text] : results });
  }
  return { ...conversation, messages };
}

const opened = openConversation('system', [], 'the task');

/** Ids of calls without a result in the next message, and of results without a call in the message before. */
function parted(messages: readonly Message[]): string[] {
  const idsOf = (message: Message | undefined, role: Message['role']): string[] => {
    if (message?.role !== role) return [];
    return message.role === 'user'
      ? message.content.flatMap((one) => (one.type === 'tool_result' ? [one.callId] : []))
      : message.content.flatMap((one) => (one.type === 'tool_use' ? [String(one.id)] : []));
  };
  return messages.flatMap((message, at) => {
    const calls = idsOf(message, 'assistant');
    const results = idsOf(message, 'user');
    const next = idsOf(messages[at + 1], 'user');
    const before = idsOf(messages[at - 1], 'assistant');
    return [...calls.filter((id) => !next.includes(id)), ...results.filter((id) => !before.includes(id))];
  });
}

const HOW = {
  summary: (conversation: Conversation, cut: number, name: string) =>
    summarizedSegment(conversation, cut, `[CONTEXT SUMMARY] ${name}`),
  block: (conversation: Conversation, cut: number, name: string) =>
    compactedSegment(conversation, cut, { ...block, content: name }, 'again:'),
  cut: (conversation: Conversation, cut: number, name: string) =>
    cutSegment(conversation, cut, `cut ${name}`),
};

describe('a new segment of a conversation', () => {
  test('never parts a call from its result, keeps the task word for word, and begins with the newest summary alone', () => {
    const step = fc.record({
      more: rounds,
      how: fc.constantFrom('summary' as const, 'cut' as const, 'block' as const),
      keep: fc.integer({ min: 1, max: 12 }),
      atMost: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        let conversation = opened;
        let newest: string | null = null;
        for (const [at, { more, how, keep, atMost }] of steps.entries()) {
          conversation = talk(conversation, `s${at}`, more);
          const before = conversation;
          const cut = atMost ? cutKeepingAtMost(before, keep) : cutKeepingAtLeast(before, keep);
          if (cut === null) continue;
          // One run has one of the two kinds of summaries.
          if (how !== 'cut' && before.summary !== null && (before.summary.by === 'api') !== (how === 'block'))
            continue;
          conversation = HOW[how](before, cut, `n${at}`);
          if (how !== 'cut') newest = `n${at}`;
          const texts = JSON.stringify(conversation.messages);
          expect(parted(conversation.messages)).toEqual([]);
          expect(texts.split('"the task"')).toHaveLength(2);
          expect(conversation.segment).toBe(before.segment + 1);
          const summaries = [...texts.matchAll(/\[CONTEXT SUMMARY\] (n\d+)|"content":"(n\d+)"/g)];
          expect(summaries.map(([, text, ofBlock]) => text ?? ofBlock)).toEqual(
            newest === null ? [] : [newest],
          );
          expect(texts.length).toBeGreaterThan(0);
          if (how !== 'block') expect(texts).not.toContain('thinking');
          else expect(conversation.messages.slice(1, -1)).toEqual(before.messages.slice(cut, -1));
          // What the model did last is there, whatever came before.
          const last = before.messages.findLast(({ role }) => role === 'user');
          expect(JSON.stringify(conversation.messages.at(-1))).toContain(
            JSON.stringify(last?.content).slice(1, -1),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  test('has a first message that begins with the task itself', () => {
    const long = talk(
      opened,
      'a',
      Array.from({ length: 10 }, () => ({ calls: 1, pauses: false, isFollowedByText: false })),
    );
    const first = summarizedSegment(long, 9, 'first');
    const second = summarizedSegment(
      talk(first, 'b', [{ calls: 2, pauses: true, isFollowedByText: true }]),
      7,
      'second',
    );
    const texts = (text: string) => ({ type: 'text', text });
    expect(first.messages[0]).toEqual({ role: 'user', content: [texts('the task'), texts('first')] });
    expect(second.messages[0]).toEqual({ role: 'user', content: [texts('the task'), texts('second')] });
    expect(cutSegment(second, 3, 'cut').messages[0]).toEqual({
      role: 'user',
      content: [texts('the task'), texts('second'), texts('cut')],
    });
  });

  test('keeps at least, or at most, so many messages, and whole rounds', () => {
    const twenty = talk(
      opened,
      'a',
      Array.from({ length: 10 }, () => ({ calls: 1, pauses: false, isFollowedByText: false })),
    );
    expect(twenty.messages).toHaveLength(21);
    expect(cutsOf(twenty)).toEqual([3, 5, 7, 9, 11, 13, 15, 17, 19]);
    expect(cutKeepingAtLeast(twenty, 6)).toBe(15);
    expect(cutKeepingAtMost(twenty, 7)).toBe(15);
    expect(cutKeepingAtMost(twenty, 1)).toBe(19);
    expect(cutKeepingAtLeast(twenty, 19)).toBeNull();
  });

  test('is not begun before there is a round to drop, or while the model is paused', () => {
    const two = talk(opened, 'a', [{ calls: 1, pauses: false, isFollowedByText: false }]);
    const paused = { ...two, messages: [...two.messages, { role: 'assistant' as const, content: [] }] };
    expect([cutsOf(opened), cutsOf(two), cutsOf(paused)]).toEqual([[], [], []]);
  });

  test('is requested with the same beginning as earlier requests', () => {
    const four = talk(
      opened,
      'a',
      Array.from({ length: 4 }, () => ({ calls: 1, pauses: false, isFollowedByText: false })),
    );
    const asked = requestBefore(four, 5, 'summarise');
    expect(asked.messages.slice(0, 4)).toEqual(four.messages.slice(0, 4));
    expect(asked.messages[4]?.content).toEqual([
      ...(four.messages[4]?.content ?? []),
      { type: 'text', text: 'summarise' },
    ]);
    expect(requestBefore(four, 5, null).messages).toEqual(four.messages.slice(0, 5));
    expect([...answeredCalls(summarizedSegment(four, 5, 's'))]).toEqual(['a_2_0', 'a_3_0']);
  });
});
