/** What a report says of events in words, before it is redacted and cut. */

import { countFindings, placeOf } from '../findings/review.ts';
import type { RunEvent } from '../run/events.ts';
import type { StopReason } from '../run/limits.ts';
import { formatNumber, listed, pluralize } from '../text/words.ts';

/** The events that are shown as a text. */
export type NotedEvent = Extract<
  RunEvent,
  {
    type:
      | 'context.compacted'
      | 'compaction.failed'
      | 'review.completed'
      | 'review.failed'
      | 'model.replaced'
      | 'changes.put_back'
      | 'files.hidden'
      | 'network.used'
      | 'message.added'
      | 'budget.warned'
      | 'budget.reached'
      | 'run.interrupted'
      | 'changes.limited'
      | 'warning.raised'
      | 'run.stopped';
  }
>;

/** Paths and hosts that one text names. */
const MAX_NAMED = 50;

/** The text of one event. */
export function noteOf(event: NotedEvent): string {
  switch (event.type) {
    case 'context.compacted': {
      const what = `The conversation of ${formatNumber(event.tokens)} tokens continues without ${pluralize(event.cut - 1, 'message')}.`;
      return event.turn === undefined ? what : `${what}\n\n${event.text}`;
    }
    case 'compaction.failed':
      return `The conversation could not be compacted: ${event.kind}: ${event.message}`;
    case 'review.completed': {
      const said = event.findings.map(
        (finding) => `${finding.severity}: ${placeOf(finding)}: ${finding.problem}`,
      );
      return [`Review: ${countFindings(event.findings)}.`, ...said].join('\n\n');
    }
    case 'review.failed':
      return `There is no review: ${event.kind}: ${event.message}`;
    case 'model.replaced':
      return `${event.to.provider}/${event.to.model} takes over the task (${event.why}): ${event.reason}`;
    case 'changes.put_back': {
      const stuck = event.stuck.map(({ path, why }) => `; ${path} could not be: ${why}`).join('');
      return `Put back, since it must not change: ${named(event.changes)}${stuck}`;
    }
    case 'files.hidden':
      return `Could not be examined: ${event.paths.slice(0, MAX_NAMED).join(', ')}`;
    case 'network.used': {
      const refused = event.hosts.filter(({ outcome }) => outcome === 'refused');
      return `Refused: ${refused
        .slice(0, MAX_NAMED)
        .map(({ why }) => why)
        .join('; ')}`;
    }
    case 'message.added':
    case 'budget.reached':
      return event.text;
    case 'budget.warned':
      return `Four fifths of the limit of ${event.limit} are used up.`;
    case 'run.interrupted':
      return event.interruption.cause === 'signal'
        ? `Stopped by ${event.interruption.signal}.`
        : 'The deadline passed.';
    case 'changes.limited':
      return `The changes exceed the limit ${event.limit}; what is over was left out.`;
    case 'warning.raised':
      return event.message;
    case 'run.stopped':
      return `The loop ended: ${whyStopped(event.stop)}`;
  }
}

function named(changes: readonly { readonly path: string }[]): string {
  return listed(
    changes.map(({ path }) => path),
    MAX_NAMED,
  );
}

function whyStopped(stop: StopReason): string {
  switch (stop.why) {
    case 'completed':
      return 'the work is done.';
    case 'verify_failed':
      return `verify commands failed: ${stop.commands.join(', ')}`;
    case 'blocked':
    case 'unready':
      return stop.reason;
    case 'limit':
      return `the limit of ${stop.limit} is reached (${stop.used} of ${stop.value}).`;
    case 'deadline':
      return `the deadline passed${stop.awaited === undefined ? '' : ` while waiting for ${stop.awaited}`}.`;
    case 'interrupted':
      return `stopped by ${stop.signal}.`;
    case 'provider':
      return `${stop.kind}: ${stop.message}`;
  }
}

/** How a run continues, and how it had ended. */
export function howResumed({ supersedes, accepted }: RunEvent & { type: 'run.resumed' }): string {
  const ended = supersedes?.outcome ? ` It had ended as ${supersedes.outcome}: ${supersedes.reason}` : '';
  const took = accepted.length > 0 ? ` ${pluralize(accepted.length, 'change')} by others accepted.` : '';
  return `The run was resumed.${ended}${took}`;
}
