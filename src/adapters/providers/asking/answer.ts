/** The result of one attempt, for all APIs. */

import type { SpentTokens } from '../../../domain/budget/spent.ts';
import type { LlmTurn } from '../../../domain/conversation/conversation.ts';
import type { AttemptFailure } from './failures.ts';

/** The model's part of a complete answer. */
export type Answer = Omit<LlmTurn, 'durationMs'>;

/**
 * Maximum bytes of text, thinking and tool input in one answer. The largest answer a model can give is less than a megabyte;
 * a larger one would use several times its size before any tool could refuse it.
 */
export const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

/** `spent` is what a broken answer used; `requestId` is the API's name for the request. */
export type AttemptResult =
  | { status: 'ok'; answer: Answer }
  | {
      status: 'failed';
      failure: AttemptFailure;
      spent: SpentTokens | undefined;
      requestId: string | null;
    }
  | { status: 'interrupted'; spent: SpentTokens | undefined };
