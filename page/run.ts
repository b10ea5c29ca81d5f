/** The events of a run as iterations with their calls, on a clock that stops while the run was interrupted. */

import type {
  ReportData,
  ReportEvent,
  ReportedChange,
  ReportedInput,
} from '../src/domain/report/report-data.ts';

type Of<Type extends ReportEvent['type']> = ReportEvent & { readonly type: Type };
/** Tokens of one answer. */
export type Tokens = Of<'turn'>['usage'];

/** The kind of a bar in the timeline. */
export type SpanKind = 'model' | 'wait' | 'tool' | 'command' | 'verify';

/** A period of time; `from` and `to` are milliseconds since the run began. */
export interface Span {
  readonly kind: SpanKind;
  readonly from: number;
  readonly to: number;
}

/** A note on an iteration. */
export interface Note {
  readonly at: number;
  readonly of: string;
  readonly text: string;
}

/** A tool call of the model. `ms` is null if the call did not begin or did not end. */
export interface Call {
  readonly id: string;
  /** The id of its element. */
  readonly anchor: string;
  readonly iteration: number;
  /** Its position among the calls of the iteration, from 1. */
  readonly at: number;
  readonly tool: string;
  readonly about: string;
  readonly input: readonly ReportedInput[];
  readonly changes: ReportedChange[];
  from: number | null;
  done: Of<'done'> | null;
}

/** One answer of the model with its calls and results, or everything before the first answer. */
export interface Iteration {
  /** Counted from 1; 0 is before the first answer. */
  readonly n: number;
  readonly turn: Of<'turn'> | null;
  readonly calls: Call[];
  readonly spans: Span[];
  readonly notes: Note[];
  readonly verified: Of<'verify'>[];
}

/** The run as its sections need it. */
export interface Run {
  readonly data: ReportData;
  readonly started: Of<'started'> | null;
  readonly iterations: readonly Iteration[];
  /** By iteration and id. */
  readonly calls: ReadonlyMap<string, Call>;
  /** Milliseconds from the beginning to the last event. */
  readonly length: number;
}

/** The key of a call among all calls of a run. */
export function callKey(iteration: number, id: string): string {
  return `${iteration} ${id}`;
}

/** Folds the events. */
export function runOf(data: ReportData): Run {
  const fold = new Fold(data.events);
  for (const event of data.events) fold.take(event);
  fold.end();
  const { started, iterations, calls, last } = fold;
  return { data, started, iterations, calls, length: last };
}

class Fold {
  started: Of<'started'> | null = null;
  readonly iterations: Iteration[] = [iteration(0, null)];
  readonly calls = new Map<string, Call>();
  last = 0;
  #open = new Map<string, Call>();
  /** Attempts to get the next answer, and the pauses after them. */
  #lost: { readonly note: Note; readonly span: Span }[] = [];
  #start: number;
  #before: number;

  constructor(events: readonly ReportEvent[]) {
    const [first] = events;
    // The first request may have been sent before `run.started`.
    const turn = events.find((event) => event.type === 'turn');
    this.#start = Math.min(first?.at ?? 0, turn ? turn.at - turn.ms : Number.POSITIVE_INFINITY);
    this.#before = first?.at ?? 0;
  }

  take(event: ReportEvent): void {
    // The run's clock stopped while no process was working on it.
    if (event.type === 'resumed') this.#start += Math.max(0, event.at - this.#before);
    this.#before = event.at;
    const now = Math.max(0, event.at - this.#start);
    this.last = Math.max(this.last, now);
    const current = this.iterations.at(-1) ?? iteration(0, null);
    switch (event.type) {
      case 'started':
        this.started = event;
        return;
      case 'turn':
        this.#turn(event, now);
        return;
      case 'lost': {
        this.#lost.push({
          note: { at: now, of: 'lost', text: event.text },
          span: { kind: 'wait', from: now, to: now + event.waitMs },
        });
        return;
      }
      case 'call': {
        const call = this.calls.get(callKey(event.iteration, event.id));
        if (call === undefined) return;
        call.from = now;
        this.#open.set(event.id, call);
        return;
      }
      case 'done':
        this.#done(event, now);
        return;
      case 'change':
        for (const id of event.calls)
          this.calls.get(callKey(event.iteration, id))?.changes.push(...event.files);
        if (event.calls.length === 0) current.notes.push({ at: now, of: 'change', text: byOthers(event) });
        return;
      case 'verify': {
        const ms = event.reports.reduce((sum, { end }) => sum + end.durationMs, 0);
        current.verified.push(event);
        current.spans.push({ kind: 'verify', from: Math.max(0, now - ms), to: now });
        return;
      }
      case 'resumed':
      case 'note':
        current.notes.push({ at: now, of: event.type === 'note' ? event.of : 'resumed', text: event.text });
    }
  }

  /** No further answer came. */
  end(): void {
    const last = this.iterations.at(-1);
    for (const { note, span } of this.#lost.splice(0)) {
      last?.notes.push(note);
      last?.spans.push(span);
    }
  }

  #turn(turn: Of<'turn'>, now: number): void {
    const next = iteration(this.iterations.length, turn);
    let asked = Math.max(0, now - turn.ms);
    for (const { note, span } of this.#lost.splice(0)) {
      const wait = { ...span, to: Math.min(span.to, now) };
      if (asked < wait.from) next.spans.push({ kind: 'model', from: asked, to: wait.from });
      next.spans.push(wait);
      next.notes.push(note);
      asked = Math.max(asked, wait.to);
    }
    next.spans.push({ kind: 'model', from: asked, to: now });
    for (const [index, { id, tool, about, input }] of turn.calls.entries()) {
      const at = index + 1;
      const place = { id, anchor: `c${next.n}-${at}`, iteration: next.n, at };
      const call = { ...place, tool, about, input, changes: [], from: null, done: null };
      next.calls.push(call);
      this.calls.set(callKey(next.n, id), call);
    }
    this.iterations.push(next);
  }

  #done(event: Of<'done'>, now: number): void {
    // A call that was refused before it began has no start.
    const call = this.#open.get(event.id) ?? this.iterations.at(-1)?.calls.find(({ id }) => id === event.id);
    if (call === undefined) return;
    this.#open.delete(event.id);
    call.done = event;
    const from = call.from ?? now;
    const kind = event.end === null ? 'tool' : 'command';
    this.iterations[call.iteration]?.spans.push({ kind, from, to: Math.max(from, now) });
  }
}

function iteration(n: number, turn: Of<'turn'> | null): Iteration {
  return { n, turn, calls: [], spans: [], notes: [], verified: [] };
}

function byOthers({ by, files, count }: Of<'change'>): string {
  const who =
    { setup: 'setup commands', verify: 'verify commands', outside: 'something outside the run' }[by] ?? by;
  const named = files.slice(0, 5).map(({ path }) => path);
  return `Changed by ${who}: ${named.join(', ')}${count > named.length ? ` and ${count - named.length} more` : ''}`;
}

/** All tokens of an answer. */
export function allTokens({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Tokens): number {
  return input + output + cacheRead + cacheWrite + cacheWrite1h;
}
