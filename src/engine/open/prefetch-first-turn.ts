/** Sends the first request before its answer is needed. */

import { addSpent, type SpentTokens } from '../../domain/budget/spent.ts';
import type { LlmTurn } from '../../domain/conversation/conversation.ts';
import type { LlmProvider, TurnProgress, TurnRequest, TurnResult } from '../../ports.ts';

/** A first request that went out before the baseline was complete. */
export interface PrefetchedTurn {
  /** Gives the answer in progress, with its progress so far, to the first caller; later calls send new requests. */
  readonly provider: LlmProvider;
  /** Drops an answer that is no longer needed. Resolves with what it had used up; null for nothing. */
  cancel(): Promise<SpentTokens | null>;
}

/**
 * The conversation is the one that the provider will be asked to complete first. A first request changes nothing but the
 * bill, so it may go out while the state that tools will work on is still being recorded.
 */
export function prefetchFirstTurn(
  provider: LlmProvider,
  { conversation, answerTokens }: Pick<TurnRequest, 'conversation' | 'answerTokens'>,
  interrupt: AbortSignal,
): PrefetchedTurn {
  const cancelled = new AbortController();
  const early: TurnProgress[] = [];
  let listener = (progress: TurnProgress): void => void early.push(progress);
  let underWay: Promise<TurnResult> | null = provider.complete({
    conversation,
    answerTokens,
    signal: AbortSignal.any([interrupt, cancelled.signal]),
    onProgress: (progress) => listener(progress),
  });
  underWay.catch(() => undefined);
  return {
    provider: {
      name: provider.name,
      model: provider.model,
      complete(request) {
        if (underWay === null) return provider.complete(request);
        const answer = underWay;
        underWay = null;
        for (const progress of early) request.onProgress(progress);
        listener = request.onProgress;
        return answer;
      },
    },
    async cancel() {
      cancelled.abort();
      if (underWay === null) return null;
      return spentIn(await underWay, early);
    },
  };
}

/** Of the answer and of the attempts before it. */
function spentIn(result: TurnResult, progress: readonly TurnProgress[]): SpentTokens | null {
  const attempts = progress.flatMap((step) => (step.type === 'retry' ? (step.retry.spent ?? []) : []));
  const last = result.status === 'ok' ? spentOn(result.turn) : result.spent;
  return [...attempts, ...(last ? [last] : [])].reduce<SpentTokens | null>(addSpent, null);
}

function spentOn({ usage, estimated }: LlmTurn): SpentTokens {
  return { usage, estimated: estimated === true };
}
