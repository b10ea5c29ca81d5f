/** One event of a run as a report shows it: redacted, truncated, and with its cost. */

import type { Usage } from '../conversation/conversation.ts';
import { describeCall, describeEndAndTime } from '../conversation/tool.ts';
import type { RunEvent } from '../run/events.ts';
import { costOf, type Price } from '../run/pricing.ts';
import { type Redact, redactedStrings } from '../secrets/redact.ts';
import { firstUnits, lastUnits } from '../text/shorten.ts';
import { formatNumber } from '../text/words.ts';
import { howResumed, noteOf } from './event-notes.ts';
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
        return this.#lost(event, noteOf(event) ?? '', 0);
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
      default:
        return this.#note(event);
    }
  }

  #note(event: RunEvent): ReportEvent | null {
    const text = noteOf(event);
    return text === null ? null : { type: 'note', at: event.at, of: event.type, text: this.#cut(text) };
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
