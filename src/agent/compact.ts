/** New segments of the conversation: a compaction is carried out, or another model replaces the first one. */

import type { CompactionFailed, DueCompaction } from '../domain/conversation/compaction.ts';
import type { LlmTurn } from '../domain/conversation/conversation.ts';
import { requestBefore } from '../domain/conversation/segments.ts';
import { whyReplace } from '../domain/fallback.ts';
import { conversationTokens, summaryTokens } from '../domain/run/budget.ts';
import type { RunAction } from '../domain/run/events.ts';
import { withSpent } from '../domain/run/fold/bill.ts';
import type { StopReason } from '../domain/run/limits.ts';
import type { RunState } from '../domain/run/state.ts';
import type { LlmProvider } from '../ports.ts';
import {
  contextCompactedPrompt,
  contextCutPrompt,
  contextSummaryPrompt,
  MESSAGES,
  modelReplacedPrompt,
} from '../prompts.ts';
import { askModel } from './ask-model.ts';

/** Yields what happened. When there is no summary, the conversation stays as it is; that is not the end of the run. */
export async function* compact(
  state: RunState,
  { how, why, cut }: DueCompaction,
  provider: Pick<LlmProvider, 'complete'>,
  signal: AbortSignal,
): AsyncGenerator<RunAction> {
  const compacted = { type: 'context.compacted', how, why, tokens: conversationTokens(state), cut } as const;
  const dropped = cut - 1;
  if (how === 'cut') {
    yield { ...compacted, text: contextCutPrompt(dropped) };
    return;
  }
  if (summaryTokens(state, state.limits) === null) {
    yield compactionFailed('budget', NO_ROOM);
    return;
  }
  const asked = how === 'summarize' ? MESSAGES.summarize : null;
  const result = yield* askModel({
    provider,
    spending: state,
    conversation: requestBefore(state.conversation, cut, asked),
    purpose: how === 'summarize' ? 'summary' : 'compaction',
    answerTokens: (spent) => summaryTokens(spent.reduce(withSpent, state), state.limits),
    signal,
  });
  switch (result?.status) {
    case 'ok': {
      const { turn } = result;
      const problem = how === 'summarize' ? whyNoSummary(turn) : whyNoBlock(turn);
      const text =
        how === 'summarize' ? contextSummaryPrompt(dropped, turn.text) : contextCompactedPrompt(dropped);
      yield problem === null
        ? { ...compacted, text, turn }
        : { ...compactionFailed('no_summary', problem), turn };
      return;
    }
    case 'failed':
      yield {
        ...compactionFailed(result.kind, result.message),
        ...(result.spent === undefined ? {} : { spent: result.spent }),
      };
  }
}

const NO_ROOM = 'The remaining caps of this run do not allow a summary and another request.';

function compactionFailed(kind: CompactionFailed['kind'], message: string): CompactionFailed {
  return { type: 'compaction.failed', kind, message };
}

/** Null if the answer is a summary. A truncated one lacks the remaining tasks, which come last. */
function whyNoSummary({ stop, stopDetail, text, calls }: LlmTurn): string | null {
  switch (stop) {
    case 'refusal':
      return `The model refused to summarise${stopDetail === '' ? '' : `: ${stopDetail}`}.`;
    case 'max_tokens':
    case 'context_window':
      return 'The summary was cut off.';
    case 'tool_use':
    case 'pause_turn':
    case 'compaction':
    case 'end_turn':
      if (calls.length > 0) return 'The model called tools instead of writing a summary.';
      return text.trim() === '' ? 'The summary is empty.' : null;
  }
}

/** Null for an answer that is the API's block. The API sends a block without content if it made no summary. */
function whyNoBlock({ stop, content: [block, ...more] }: LlmTurn): string | null {
  if (stop !== 'compaction' || block?.type !== 'compaction' || more.length > 0)
    return `The API answered with ${stop} instead of a compaction.`;
  return typeof block.content === 'string' && block.content !== '' ? null : 'The API came to no summary.';
}

/** What happens instead of this end; null if nothing does: there is no other model, or nothing left for another answer. */
export function replacementFor(state: RunState, stop: StopReason): RunAction | null {
  const { fallback, lastTurn, changes, workingDirectory } = state;
  const why = fallback === null || lastTurn !== null ? null : whyReplace(stop);
  if (fallback === null || why === null) return null;
  const changed = changes.net().map(({ path }) => path);
  const text = modelReplacedPrompt(changed, workingDirectory, lastWords(state));
  return { type: 'model.replaced', ...why, to: fallback, text };
}

/** The runner's last message, such as which command failed: it was addressed to the model that was replaced. */
function lastWords({ conversation: { messages, task } }: RunState): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const blocks = last?.role === 'user' ? last.content : [];
  return blocks
    .flatMap((block) => (block.type === 'text' && !task.includes(block) ? [block.text] : []))
    .join('\n\n');
}
