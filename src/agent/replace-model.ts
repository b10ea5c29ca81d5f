/** Replaces the first model with another one where the run would otherwise end. */

import type { UserBlock } from '../domain/conversation/conversation.ts';
import { whyReplace } from '../domain/fallback/fallback.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { StopReason } from '../domain/run/limits.ts';
import type { RunState } from '../domain/run/state.ts';
import { modelReplacedPrompt } from '../prompts.ts';

/** What happens instead of this end; null if nothing does: there is no other model, or nothing left for another answer. */
export function replacementFor(state: RunState, stop: StopReason): RunAction | null {
  const { fallback, lastTurn, changes } = state;
  const why = fallback === null || lastTurn !== null ? null : whyReplace(stop);
  if (fallback === null || why === null) return null;
  const changed = changes.net().map(({ path }) => path);
  const text = modelReplacedPrompt(changed, lastWords(state));
  return { type: 'model.replaced', ...why, to: fallback, text };
}

/** The runner's last message, such as which command failed: it was addressed to the model that was replaced. */
function lastWords({ conversation: { messages, task } }: RunState): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const blocks = last?.role === 'user' ? last.content : [];
  return blocks.flatMap((block) => (isWord(block) && !task.includes(block) ? [block.text] : [])).join('\n\n');
}

function isWord(block: UserBlock): block is Extract<UserBlock, { type: 'text' }> {
  return block.type === 'text';
}
