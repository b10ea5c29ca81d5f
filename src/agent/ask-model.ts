/** Sends a request to the model. Each is in the journal before it is sent, so that no request is ever missing from the bill. */

import { noUsage } from '../domain/conversation/conversation.ts';
import { reservedUsage, type Spending } from '../domain/run/budget.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { LlmProvider, TurnRequest, TurnResult } from '../ports.ts';

/** A request, and what is known of the run's spending before it. */
export interface Question extends Omit<TurnRequest, 'onProgress'> {
  readonly provider: Pick<LlmProvider, 'complete'>;
  readonly spending: Spending;
}

/** Yields what is to be recorded on the way. Returns null when the request was interrupted, which is then recorded. */
export async function* askModel({
  provider,
  spending,
  ...request
}: Question): AsyncGenerator<RunAction, Exclude<TurnResult, { status: 'interrupted' }> | null> {
  const tokens = request.answerTokens([]);
  if (tokens === null) return null;
  yield { type: 'request.sent', reserved: reservedUsage(spending, tokens) };
  const retried: RunAction[] = [];
  let wake = (): void => undefined;
  let hasEnded = false;
  const asking = provider.complete({
    ...request,
    onProgress(progress) {
      if (progress.type !== 'retry') return;
      retried.push({ type: 'turn.retried', ...progress.retry });
      wake();
    },
  });
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  asking.then(end, end);
  for (;;) {
    for (let next = retried.shift(); next !== undefined; next = retried.shift()) yield next;
    if (hasEnded) break;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  const result = await asking;
  if (result.status !== 'interrupted') return result;
  yield { type: 'turn.interrupted', spent: result.spent ?? { usage: noUsage, estimated: false } };
  return null;
}
