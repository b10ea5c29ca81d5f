/** What an answer has used up, as far as its server has counted it. */

import type { SpentTokens } from '../../../domain/budget/spent.ts';
import { estimatedTokens } from '../../../domain/budget/token-estimate.ts';
import { noUsage, type Usage } from '../../../domain/conversation/conversation.ts';

/** An answer that is being read. */
export interface Counting {
  readonly hasBegun: boolean;
  /** Null before the server has reported anything, and where it never does. */
  readonly usage: Usage | null;
  readonly requestBytes: number;
  /** Of what the model wrote so far. */
  readonly answerBytes: number;
}

/** Counts an answer from its first event to its last. */
export class AnswerCount implements Counting {
  hasBegun = false;
  usage: Usage | null = null;
  answerBytes = 0;
  readonly requestBytes: number;

  constructor(requestBytes: number) {
    this.requestBytes = requestBytes;
  }
}

/** What is paid for an answer that goes no further; undefined before anything came. */
export function spentOf(counting: Counting): SpentTokens | undefined {
  if (!counting.hasBegun) return undefined;
  return { usage: usageOrEstimate(counting), estimated: counting.usage === null };
}

/** The reported tokens, or what the bytes are reckoned with: limits hold there, too. */
export function usageOrEstimate({ usage, requestBytes, answerBytes }: Counting): Usage {
  const [input, output] = [requestBytes, answerBytes].map(estimatedTokens);
  return usage ?? { ...noUsage, input: input ?? 0, output: output ?? 0 };
}
