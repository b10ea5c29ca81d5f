/** The warnings that events of the loop give. */

import type { ModelReplaced, ModelUse } from '../fallback/fallback.ts';
import type { RunEvent } from '../run/events.ts';
import type { RunState } from '../run/state.ts';
import { pluralize } from '../text/words.ts';
import { type Warning, warning } from './warning.ts';

/** Null for an event that is no reason for one. `state` is that after the event; */
export function eventWarning(event: RunEvent, { models }: Pick<RunState, 'models'>): Warning | null {
  if (event.type === 'model.replaced') return replacementWarning(event, models);
  if (event.type === 'review.failed' && !event.again)
    return warning('WARN_NOT_REVIEWED', `The work was not reviewed: ${event.message}`);
  return compactionWarning(event);
}

/** The warning about a conversation that was not shortened, or was shortened without a summary; null if there is none. */
function compactionWarning(event: RunEvent): Warning | null {
  if (event.type === 'compaction.failed')
    return warning(
      'WARN_NOT_COMPACTED',
      `The conversation could not be compacted and continues as it is: ${event.message}`,
    );
  if (event.type !== 'context.compacted' || event.how !== 'cut') return null;
  return warning(
    'WARN_CUT_WITHOUT_SUMMARY',
    `${pluralize(event.cut - 1, 'message')} of the conversation dropped without a summary, since the model's window is full.`,
  );
}

/** Which model continues, and why. */
function replacementWarning({ why, reason, to }: ModelReplaced, [first]: readonly ModelUse[]): Warning {
  const what = why === 'refusal' ? 'refused' : 'could not be reached';
  return warning(
    'WARN_MODEL_REPLACED',
    `${first?.provider}/${first?.model} ${what}: ${to.provider}/${to.model} takes over in a separate conversation. ${reason}`,
  );
}
