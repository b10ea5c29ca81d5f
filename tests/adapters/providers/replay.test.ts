import { expect, test } from 'vitest';
import { createReplayProvider } from '../../../src/adapters/providers/replay.ts';
import { type LlmTurn, noUsage } from '../../../src/domain/conversation/conversation.ts';
import type { LlmProvider, TurnProgress, TurnResult } from '../../../src/ports.ts';
import { plainConversation } from './asking.ts';

function turn(text: string): LlmTurn {
  return {
    content: [
      { type: 'thinking', thinking: '', signature: 's', later: [1] },
      { type: 'text', text },
    ],
    stop: 'end_turn',
    stopDetail: '',
    calls: [],
    text,
    usage: noUsage,
    model: 'claude-sonnet-5-5',
    durationMs: 12,
  };
}

const completed = (text: string) =>
  JSON.stringify({ type: 'turn.completed', turn: turn(text), seq: 2, at: 5 });
const toolLine = JSON.stringify({ type: 'tool.completed', call: 'a', seq: 3, at: 6 });
const recorded = (...lines: string[]) =>
  createReplayProvider({ name: 'events.jsonl', text: lines.join('\n') });

function ask(provider: Pick<LlmProvider, 'complete'>, progress: TurnProgress[] = []): Promise<TurnResult> {
  const { signal } = new AbortController();
  return provider.complete({
    conversation: plainConversation(),
    answerTokens: () => null,
    signal,
    onProgress: (step) => progress.push(step),
  });
}

const spent = { usage: { ...noUsage, input: 7 }, estimated: true };
const stoppedLine = JSON.stringify({ type: 'run.interrupted', interruption: { cause: 'deadline' } });

test('an answer that was cut off or never arrived is replayed as such', async () => {
  const cutOff = JSON.stringify({ type: 'turn.interrupted', spent });
  const provider = recorded(completed('one'), cutOff, stoppedLine, completed('two'));
  const results = [await ask(provider), await ask(provider), await ask(provider)];
  expect(results).toEqual([
    { status: 'ok', turn: turn('one') },
    { status: 'interrupted', spent },
    { status: 'ok', turn: turn('two') },
  ]);
});

test('a recorded failure of the provider is played too', async () => {
  const line = JSON.stringify({ type: 'turn.failed', kind: 'billing', message: 'no credit' });
  expect(await ask(recorded(line))).toEqual({
    status: 'failed',
    kind: 'billing',
    message: 'no credit',
  });
});

test.each([
  ['torn', completed('two').slice(0, 40), 'line 3: not a JSON event; the line is torn or damaged'],
  ['no event', '[1]', 'line 3: not a JSON event'],
  [
    'an invalid turn',
    '{"type":"turn.completed","turn":{"content":[]}}',
    'line 3: not a valid turn (turn.stop: ',
  ],
  ['an invalid retry', '{"type":"turn.retried"}', 'line 3: not a valid retry (attempt: '],
  ['an invalid failure', '{"type":"turn.failed"}', 'line 3: not a valid failure (kind: '],
])('a line that is %s is named when its turn is due', async (_name, line, message) => {
  const provider = recorded(completed('one'), toolLine, line);
  expect((await ask(provider)).status).toBe('ok');
  expect(await ask(provider)).toMatchObject({ kind: 'recording', message: expect.stringContaining(message) });
});
