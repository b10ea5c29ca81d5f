/** What an answer has used up: as far as its server has counted it, and the rest estimated from the bytes. */

import * as z from 'zod';
import type { SpentTokens } from '../../../domain/budget/spent.ts';
import { estimatedTokens } from '../../../domain/budget/token-estimate.ts';
import { type LlmTurn, noUsage, totalTokens, type Usage } from '../../../domain/conversation/conversation.ts';

/** More than any answer or prompt has; sums of what is larger are no exact numbers any more. */
export const MAX_COUNT = 1_000_000_000;

/** A number of tokens in a report; null where there is none that can be believed. */
export const ReportedCount = z.int().nonnegative().max(MAX_COUNT).nullish().catch(null);

/** Tokens as a server has reported them; null for what it has not. */
export interface ReportedTokens {
  readonly prompt: Omit<Usage, 'output'> | null;
  readonly output: number | null;
}

/** No report. */
export const NOTHING_REPORTED: ReportedTokens = { prompt: null, output: null };

/** A report of these numbers, of which servers that count nothing say 0: no request has an empty prompt. */
export function reportOf({
  output,
  ...prompt
}: Omit<Usage, 'output'> & Pick<ReportedTokens, 'output'>): ReportedTokens {
  const hasPrompt = totalTokens({ ...prompt, output: 0 }) > 0;
  return { prompt: hasPrompt ? prompt : null, output: hasPrompt ? output : output || null };
}

/** Counts an answer from its first event to its last. */
export class AnswerCount {
  /** The server has taken the request, so that it may be billed. */
  hasBegun = false;
  /** Of what the model wrote so far. */
  answerBytes = 0;
  readonly #requestBytes: () => number;
  #reported = NOTHING_REPORTED;
  #isWhole = false;

  /** `requestBytes` are those of the request that are tokens; asked for where they are not reported. */
  constructor(requestBytes: () => number) {
    this.#requestBytes = requestBytes;
  }

  /** A later report replaces the earlier one. `isWhole`: the answer was over when it was made. */
  report({ prompt, output }: ReportedTokens, isWhole: boolean): void {
    this.#reported = { prompt: prompt ?? this.#reported.prompt, output: output ?? this.#reported.output };
    if (output !== null) this.#isWhole = isWhole;
  }

  /** What is paid for an answer that goes no further; undefined before the server has taken the request. */
  get spent(): SpentTokens | undefined {
    return this.hasBegun ? this.#tokens() : undefined;
  }

  /** The same of an answer that is complete. */
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
