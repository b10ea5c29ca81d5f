/** What a report says of events in words, before it is redacted and cut. */

import { countFindings, placeOf } from '../findings/review.ts';
import type { RunEvent } from '../run/events.ts';
import type { StopReason } from '../run/limits.ts';
import { formatNumber, listed, pluralize } from '../text/words.ts';

type Notes = { [Type in RunEvent['type']]?: (event: RunEvent & { type: Type }) => string };

/** Paths and hosts that one text names. */
const MAX_NAMED = 50;

/** The kinds of events that are shown as a text. */
const NOTES: Notes = {
  'context.compacted'({ tokens, cut, turn, text }) {
    const what = `The conversation of ${formatNumber(tokens)} tokens continues without ${pluralize(cut - 1, 'message')}.`;
    return turn === undefined ? what : `${what}\n\n${text}`;
  },
  'compaction.failed': ({ kind, message }) => `The conversation could not be compacted: ${kind}: ${message}`,
  'review.completed'({ findings }) {
    const said = findings.map((finding) => `${finding.severity}: ${placeOf(finding)}: ${finding.problem}`);
    return [`Review: ${countFindings(findings)}.`, ...said].join('\n\n');
  },
  'review.failed': ({ kind, message }) => `There is no review: ${kind}: ${message}`,
  'model.replaced': ({ to, why, reason }) =>
    `${to.provider}/${to.model} takes over the task (${why}): ${reason}`,
  'changes.put_back'(event) {
    const stuck = event.stuck.map(({ path, why }) => `; ${path} could not be: ${why}`).join('');
    return `Put back, since it must not change: ${named(event.changes)}${stuck}`;
  },
  'files.hidden': ({ paths }) => `Could not be examined: ${paths.slice(0, MAX_NAMED).join(', ')}`,
  'network.used'({ hosts }) {
    const refused = hosts.filter(({ outcome }) => outcome === 'refused').slice(0, MAX_NAMED);
    return `Refused: ${refused.map(({ why }) => why).join('; ')}`;
  },
  'message.added': ({ text }) => text,
  'budget.reached': ({ text }) => text,
  'budget.warned': ({ limit }) => `Four fifths of the limit of ${limit} are used up.`,
  'run.interrupted': ({ interruption }) =>
    interruption.cause === 'signal' ? `Stopped by ${interruption.signal}.` : 'The deadline passed.',
  'changes.limited': ({ limit }) => `The changes exceed the limit ${limit}; what is over was left out.`,
  'warning.raised': ({ message }) => message,
  'run.stopped': ({ stop }) => `The loop ended: ${whyStopped(stop)}`,
};

/** The text of one event; null for one that is not shown as a text. */
export function noteOf<Type extends RunEvent['type']>(event: RunEvent & { type: Type }): string | null {
  return NOTES[event.type]?.(event) ?? null;
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
