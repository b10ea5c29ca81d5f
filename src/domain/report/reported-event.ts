/** One event of a run as a report shows it: redacted, truncated, and with its cost. */

import type { Usage } from '../conversation/conversation.ts';
import { describeCall, describeEndAndTime } from '../conversation/tool.ts';
import { countFindings, placeOf } from '../findings/review.ts';
import type { RunEvent } from '../run/events.ts';
import type { StopReason } from '../run/limits.ts';
import { costOf, type Price } from '../run/pricing.ts';
import { type Redact, redactedStrings } from '../secrets/redact.ts';
import { firstUnits, lastUnits } from '../text/shorten.ts';
import { formatNumber, listed, pluralize } from '../text/words.ts';
import type { ReportEvent, ReportedInput } from './report-data.ts';

/** Maximum characters of one text of the model's, of a call's parameters and output, and of the task. */
const MAX_TEXT = 4_000;
const MAX_PROMPT = 64_000;

/** Parameters that one call shows, and paths of one event. */
const MAX_SHOWN = 50;

/** Takes every event of a run in order, since prices and models change on the way. */
export class EventReporter {
  readonly #redact: Redact;
  readonly #isBrief: () => boolean;
  #price: Price | null = null;
  #model = '';

  /** `isBrief`: texts are cut to a few words from here on. */
  constructor(redact: Redact, isBrief: () => boolean) {
    this.#redact = redact;
    this.#isBrief = isBrief;
  }

  /** Null for an event that the report does not show. */
  reported(event: RunEvent): ReportEvent | null {
    if (event.type === 'run.started') {
      this.#price = event.price;
      this.#model = event.model;
    }
    if (event.type === 'model.replaced') {
      this.#price = event.to.price;
      this.#model = event.to.model;
    }
    return this.#event(event);
  }

  #event(event: RunEvent): ReportEvent | null {
    const { at } = event;
    switch (event.type) {
      case 'run.started':
        return this.#started(event);
      case 'turn.completed':
        return this.#turn(event);
      case 'turn.retried':
        return this.#lost(event, `${event.kind}: ${event.cause}`, event.waitMs);
      case 'turn.failed':
        return this.#lost(event, `${event.kind}: ${event.message}`, 0);
      case 'turn.interrupted':
        return this.#lost(event, 'interrupted before the end of the answer', 0);
      case 'context.compacted':
      case 'compaction.failed':
      case 'review.completed':
      case 'review.failed':
        return this.#lost(event, noteOf(event), 0);
      case 'tool.started':
        return { type: 'call', at, id: event.call.id, iteration: event.iteration };
      case 'tool.completed':
        return this.#done(event);
      case 'change.recorded':
        return this.#change(event);
      case 'verify.completed':
        return this.#verified(event);
      case 'run.resumed':
        return { type: 'resumed', at, text: this.#cut(howResumed(event)) };
      case 'network.used':
        // The result has those that were reached.
        return event.hosts.some(({ outcome }) => outcome === 'refused') ? this.#note(event) : null;
      // The end of the request is shown.
      case 'request.sent':
        return null;
      default:
        return this.#note(event);
    }
  }

  #note(event: RunEvent & { type: Noted }): ReportEvent {
    return { type: 'note', at: event.at, of: event.type, text: this.#cut(noteOf(event)) };
  }

  #started(event: RunEvent & { type: 'run.started' }): ReportEvent {
    const { at, replayOf = null, root, prompt, limits, unready = null } = event;
    const said = unready === null ? null : this.#cut(unready);
    const task = this.#cut(prompt, MAX_PROMPT);
    return { type: 'started', at, replayOf, root: this.#cut(root), prompt: task, limits, unready: said };
  }

  #done({ at, call, durationMs: ms, outcome }: RunEvent & { type: 'tool.completed' }): ReportEvent {
    const { status } = outcome;
    const command = 'command' in outcome ? outcome.command : undefined;
    const reason = outcome.status === 'failed' ? outcome.reason : null;
    const end = command === undefined ? null : describeEndAndTime(command);
    return { type: 'done', at, id: call, ms, status, reason, end, text: this.#cut(outcome.text) };
  }

  #verified({ at, reports, otherwise }: RunEvent & { type: 'verify.completed' }): ReportEvent {
    const cut = reports.map((report) => ({
      ...report,
      command: this.#cut(report.command),
      output: this.#cut(report.output),
    }));
    return { type: 'verify', at, reports: cut, otherwise: otherwise.slice(0, MAX_SHOWN) };
  }

  #turn({ at, turn }: RunEvent & { type: 'turn.completed' }): ReportEvent {
    const calls = turn.calls.map(({ id, name, input }) => ({
      id,
      tool: this.#cut(name, 100),
      about: describeCall('', redactedStrings(input, this.#redact)).trim(),
      input: this.#input(input),
    }));
    const { durationMs: ms, model, stop, text, usage } = turn;
    const costUsd = this.#cost(model, usage);
    return {
      type: 'turn',
      at,
      ms,
      model: this.#cut(model, 100),
      stop,
      text: this.#cut(text),
      costUsd,
      usage,
      calls,
    };
  }

  #lost({ at }: { readonly at: number }, text: string, waitMs: number): ReportEvent {
    return { type: 'lost', at, text: this.#cut(text), waitMs };
  }

  #change({ at, changes }: RunEvent & { type: 'change.recorded' }): ReportEvent | null {
    const [first] = changes;
    if (first === undefined) return null;
    const { source, iteration } = first;
    const files = changes.slice(0, MAX_SHOWN).map(({ path, kind, excluded }) => ({
      path: this.#cut(path),
      kind,
      ...(excluded === undefined ? {} : { excluded }),
    }));
    const calls = source.by === 'tool' ? source.calls : [];
    return { type: 'change', at, by: source.by, calls, iteration, files, count: changes.length };
  }

  /** An endpoint may answer under another name; the requested model's price is known. */
  #cost(model: string, usage: Usage): number | null {
    return costOf(model, usage, this.#price) ?? costOf(this.#model, usage, this.#price);
  }

  #input(input: unknown): ReportedInput[] {
    if (typeof input !== 'object' || input === null) return [['', this.#cut(jsonText(input))]];
    return Object.entries(input)
      .slice(0, MAX_SHOWN)
      .map(([name, value]) => [
        this.#cut(name, 100),
        this.#cut(typeof value === 'string' ? value : jsonText(value)),
      ]);
  }

  /** Redacted as a whole before it is cut: half of a secret is no known value. */
  #cut(text: string, most = MAX_TEXT): string {
    return bothEnds(this.#redact(text), this.#isBrief() ? Math.min(most, 200) : most);
  }
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

/** Beginning and end, with the number of characters between them. */
function bothEnds(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most / 4);
  const left = `[… ${formatNumber(text.length - most)} characters left out …]`;
  return `${firstUnits(text, most - tail)}\n${left}\n${lastUnits(text, tail)}`;
}

type Notes = { [Type in RunEvent['type']]?: (event: RunEvent & { type: Type }) => string };

/** Paths and hosts that one text names. */
const MAX_NAMED = 50;

/** The kinds of events that are shown as a text. */
const NOTES = {
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
  'run.interrupted': ({ interruption }) =>
    interruption.cause === 'signal' ? `Stopped by ${interruption.signal}.` : 'The deadline passed.',
  'changes.limited': ({ limit }) => `The changes exceed the limit ${limit}; what is over was left out.`,
  'run.stopped': ({ stop }) => `The loop ended: ${whyStopped(stop)}`,
} satisfies Notes;

type Noted = keyof typeof NOTES;

/** The text of one event. */
function noteOf<Type extends Noted>(event: RunEvent & { type: Type }): string {
  const notes: Notes = NOTES;
  return notes[event.type]?.(event) ?? '';
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
function howResumed({ supersedes, accepted }: RunEvent & { type: 'run.resumed' }): string {
  const ended = supersedes?.outcome ? ` It had ended as ${supersedes.outcome}: ${supersedes.reason}` : '';
  const took = accepted.length > 0 ? ` ${pluralize(accepted.length, 'change')} by others accepted.` : '';
  return `The run was resumed.${ended}${took}`;
}
