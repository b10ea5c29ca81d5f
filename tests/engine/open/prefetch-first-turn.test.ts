import { expect, test } from 'vitest';
import {
  type Conversation,
  noUsage,
  openConversation,
} from '../../../src/domain/conversation/conversation.ts';
import { prefetchFirstTurn } from '../../../src/engine/open/prefetch-first-turn.ts';
import type { LlmProvider, TurnProgress, TurnRequest, TurnResult } from '../../../src/ports.ts';

const first: Conversation = openConversation('s', [], 'Do it.');
const firstRequest = { conversation: first, answerTokens: () => 8_192 };
const answer: TurnResult = { status: 'failed', kind: 'outage', message: 'm' };

/** Keeps its requests, and answers when it is told to. */
class Waiting implements LlmProvider {
  readonly name = 'waiting';
  readonly model = 'm';
  readonly requests: TurnRequest[] = [];
  readonly #answers: ((result: TurnResult) => void)[] = [];
  readonly #answer: TurnResult;

  constructor(result: TurnResult = answer) {
    this.#answer = result;
  }

  complete(request: TurnRequest): Promise<TurnResult> {
    this.requests.push(request);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  answer(): void {
    this.#answers.shift()?.(this.#answer);
  }
}

function request(seen: TurnProgress[]): TurnRequest {
  return {
    ...firstRequest,
    signal: new AbortController().signal,
    onProgress: (progress) => seen.push(progress),
  };
}

test('the first request is in progress before anybody asks, and its answer goes to the first who does', async () => {
  const waiting = new Waiting();
  const { provider } = prefetchFirstTurn(waiting, firstRequest, new AbortController().signal);
  expect(waiting.requests.map(({ conversation }) => conversation)).toEqual([first]);
  const asked = provider.complete(request([]));
  waiting.answer();
  expect(await asked).toBe(answer);
  expect(waiting.requests).toHaveLength(1);
  void provider.complete(request([]));
  expect(waiting.requests).toHaveLength(2);
});

test('earlier progress is reported when the turn is requested, and the rest as it happens', () => {
  const waiting = new Waiting();
  const { provider } = prefetchFirstTurn(waiting, firstRequest, new AbortController().signal);
  waiting.requests[0]?.onProgress({ type: 'text', text: 'early' });
  const seen: TurnProgress[] = [];
  void provider.complete(request(seen));
  waiting.requests[0]?.onProgress({ type: 'text', text: 'late' });
  expect(seen).toEqual([
    { type: 'text', text: 'early' },
    { type: 'text', text: 'late' },
  ]);
});

test('it ends with the run, and when no one wants it any more', () => {
  const interrupt = new AbortController();
  const interrupted = new Waiting();
  prefetchFirstTurn(interrupted, firstRequest, interrupt.signal);
  interrupt.abort();
  const cancelled = new Waiting();
  void prefetchFirstTurn(cancelled, firstRequest, new AbortController().signal).cancel();
  expect([interrupted, cancelled].map(({ requests }) => requests[0]?.signal.aborted)).toEqual([true, true]);
});

test('an answer that no one asked for tells what it and the attempts before it had used up', async () => {
  const spent = (input: number, estimated: boolean) => ({ usage: { ...noUsage, input }, estimated });
  const waiting = new Waiting({ status: 'interrupted', spent: spent(3, true) });
  const { cancel } = prefetchFirstTurn(waiting, firstRequest, new AbortController().signal);
  const retry = { attempt: 2, kind: 'stream', status: null, cause: 'x', waitMs: 1 } as const;
  waiting.requests[0]?.onProgress({ type: 'retry', retry: { ...retry, spent: spent(2, false) } });
  const cancelled = cancel();
  waiting.answer();
  expect(await cancelled).toEqual(spent(5, true));
});

test('a turn that was requested is not counted twice', async () => {
  const waiting = new Waiting();
  const { provider, cancel } = prefetchFirstTurn(waiting, firstRequest, new AbortController().signal);
  void provider.complete(request([]));
  expect(await cancel()).toBeNull();
});
