/** What an answer used: as counted by its server, and otherwise estimated from the bytes. */

import * as z from 'zod';
import { estimatedTokens, type SpentTokens } from '../../../domain/budget/caps.ts';
import { type LlmTurn, noUsage, totalTokens, type Usage } from '../../../domain/conversation/conversation.ts';

/** More than any answer or prompt has; sums of larger numbers would no longer be exact. */
const MAX_COUNT = 1_000_000_000;

/** A number of tokens in a report; null if there is no plausible one. */
export const ReportedCount = z.int().nonnegative().max(MAX_COUNT).nullish().catch(null);

/** Tokens as a server has reported them; null if not reported. */
export interface ReportedTokens {
  readonly prompt: Omit<Usage, 'output'> | null;
  readonly output: number | null;
}

/** No report. */
export const NOTHING_REPORTED: ReportedTokens = { prompt: null, output: null };

/** A report with these numbers. Servers that do not count report 0: no request has an empty prompt. */
export function reportOf({
  output,
  ...prompt
}: Omit<Usage, 'output'> & Pick<ReportedTokens, 'output'>): ReportedTokens {
  const hasPrompt = totalTokens({ ...prompt, output: 0 }) > 0;
  return { prompt: hasPrompt ? prompt : null, output: hasPrompt ? output : output || null };
}

/** Counts an answer from its first event to its last. */
export class AnswerCount {
  /** The server has accepted the request, so it may be billed. */
  hasBegun = false;
  /** The request may have reached the server, and was given up before it was answered or refused. */
  isUnanswered = false;
  /** Bytes that the model has written so far. */
  answerBytes = 0;
  readonly #requestBytes: () => number;
  #reported = NOTHING_REPORTED;
  #isWhole = false;

  /** `requestBytes` returns the bytes of the request that are tokens; called only if tokens are not reported. */
  constructor(requestBytes: () => number) {
    this.#requestBytes = requestBytes;
  }

  /** A later report replaces the earlier one. `isWhole`: it was made after the end of the answer. */
  report({ prompt, output }: ReportedTokens, isWhole: boolean): void {
    this.#reported = { prompt: prompt ?? this.#reported.prompt, output: output ?? this.#reported.output };
    if (output !== null) this.#isWhole = isWhole;
  }

  /**
   * What an answer that broke off costs; undefined if the server has refused the request or was not reached. Of an unanswered request
   * the prompt is estimated.
   */
  get spent(): SpentTokens | undefined {
    return this.hasBegun || this.isUnanswered ? this.#tokens() : undefined;
  }

  /** What a complete answer costs. */
  get ofTurn(): Pick<LlmTurn, 'usage' | 'estimated'> {
    const { usage, estimated } = this.#tokens();
    return { usage, ...(estimated ? { estimated } : {}) };
  }

  #tokens(): SpentTokens & { estimated: boolean } {
    const { prompt, output } = this.#reported;
    const isCounted = this.#isWhole && output !== null;
    return {
      usage: {
        ...(prompt ?? { ...noUsage, input: estimatedTokens(this.#requestBytes()) }),
        output: isCounted ? output : Math.max(output ?? 0, estimatedTokens(this.answerBytes)),
      },
      estimated: prompt === null || !isCounted,
    };
  }
}
