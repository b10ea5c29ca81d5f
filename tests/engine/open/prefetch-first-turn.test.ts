import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/domain/conversation/conversation.ts';
import { prefetchFirstTurn } from '../../../src/engine/open/prefetch-first-turn.ts';
import type { LlmProvider, TurnProgress, TurnRequest, TurnResult } from '../../../src/ports.ts';

const first: Conversation = { system: 's', tools: [], messages: [] };
const answer: TurnResult = { status: 'failed', kind: 'outage', message: 'm', retries: [] };

/** Keeps its requests, and answers when it is told to. */
class Waiting implements LlmProvider {
  readonly name = 'waiting';
  readonly model = 'm';
  readonly requests: TurnRequest[] = [];
  readonly #answers: ((result: TurnResult) => void)[] = [];

  complete(request: TurnRequest): Promise<TurnResult> {
    this.requests.push(request);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  answer(): void {
    this.#answers.shift()?.(answer);
  }
}

function request(seen: TurnProgress[]): TurnRequest {
  return {
    conversation: first,
    signal: new AbortController().signal,
    onProgress: (progress) => seen.push(progress),
  };
}

test('the first request is under way before anybody asks, and its answer goes to the first who does', async () => {
  const waiting = new Waiting();
  const { provider } = prefetchFirstTurn(waiting, first, new AbortController().signal);
  expect(waiting.requests.map(({ conversation }) => conversation)).toEqual([first]);
  const asked = provider.complete(request([]));
  waiting.answer();
  expect(await asked).toBe(answer);
  expect(waiting.requests).toHaveLength(1);
  void provider.complete(request([]));
  expect(waiting.requests).toHaveLength(2);
});

test('what has happened to it by then is told when it is asked for, and the rest as it happens', () => {
  const waiting = new Waiting();
  const { provider } = prefetchFirstTurn(waiting, first, new AbortController().signal);
  waiting.requests[0]?.onProgress({ type: 'text', text: 'early' });
  const seen: TurnProgress[] = [];
  void provider.complete(request(seen));
  waiting.requests[0]?.onProgress({ type: 'text', text: 'late' });
  expect(seen).toEqual([
    { type: 'text', text: 'early' },
    { type: 'text', text: 'late' },
  ]);
});

test('it ends with the run, and when nobody wants it any more', () => {
  const interrupt = new AbortController();
  const interrupted = new Waiting();
  prefetchFirstTurn(interrupted, first, interrupt.signal);
  interrupt.abort();
  const cancelled = new Waiting();
  prefetchFirstTurn(cancelled, first, new AbortController().signal).cancel();
  expect([interrupted, cancelled].map(({ requests }) => requests[0]?.signal.aborted)).toEqual([true, true]);
});
