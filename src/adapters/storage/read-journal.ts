/** Reads the journal of an earlier run. It is validated and not trusted: anyone may have written it. */

import * as z from 'zod';
import { type Failed, failed } from '../../domain/failed.ts';
import {
  type EventPlace,
  RunAction,
  type RunEvent,
  type RunEvents,
  type RunStarted,
} from '../../domain/run/events.ts';
import { advance } from '../../domain/run/fold/advance.ts';
import { type RunState, startOf } from '../../domain/run/state.ts';
import { type JsonBudget, parseJson } from '../../domain/text/bounded-json.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { sentence } from '../../domain/text/sentence.ts';
import { eachChunkInTime } from '../../files/regular-file.ts';
import { Breath } from '../../files/time-limit.ts';

/**
 * A journal with at least its first event. `torn`: the last line was damaged when the run died, and is omitted; the
 * lines before it take `bytes` bytes.
 */
export type JournalRead =
  | {
      status: 'ok';
      events: [RunEvent & { type: 'run.started' }, ...RunEvent[]];
      torn: boolean;
      bytes: number;
    }
  | Failed;

/** More than any run within its limits writes; a larger journal is not read. */
const MAX_JOURNAL_BYTES = 256 * 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const MAX_VALUES = 4_000_000;
/** The time to fold some kinds of events grows with the square of their number. */
export const MAX_EVENTS = 100_000;

const EventPosition = z.object({ seq: z.int().positive(), at: z.number() });

/**
 * Every complete line is one event, numbered from 1 without gaps. Keeps only one line in memory besides the events.
 * Rejects with `CutShort` when time is up.
 */
export async function readJournal(path: string): Promise<JournalRead> {
  const journal = new Journal();
  const failure = await eachChunkInTime(path, (chunk) => journal.take(chunk));
  if (failure !== null)
    return failed(
      failure.missing
        ? `There is no journal ${path}: the run ended before it started to work.`
        : sentence(`The journal ${path} ${failure.why}`),
    );
  const { problem, events, torn, bytes } = journal.end();
  if (problem !== null) return failed(`The journal ${path}${problem}.`);
  const [first, ...rest] = events;
  if (first?.type !== 'run.started') return failed(`The journal ${path} does not begin with run.started.`);
  return { status: 'ok', events: [first, ...rest], torn, bytes };
}

/** The first event of a journal; null if there is none that can be read. */
export async function readStart(path: string): Promise<(RunStarted & EventPlace) | null> {
  const journal = new Journal();
  const failure = await eachChunkInTime(path, (chunk) => journal.take(chunk) && journal.isEmpty);
  const [first] = failure === null ? journal.end().events : [];
  return first?.type === 'run.started' ? first : null;
}

/**
 * The state after all events. Folding a malicious journal can take longer than reading it, so the time for it is
 * bounded, too.
 */
export async function stateAfter([start, ...rest]: RunEvents): Promise<RunState> {
  const breath = new Breath();
  let state = startOf(start);
  for (const event of rest) {
    state = advance(state, event);
    await breath.after(STEPS_OF_AN_EVENT);
  }
  return state;
}

/** An event can take as long as looking at some entries of a folder. */
const STEPS_OF_AN_EVENT = 4;

/** A journal that is being read. */
class Journal {
  readonly #events: RunEvent[] = [];
  readonly #budget: JsonBudget = { values: MAX_VALUES };
  /** The current incomplete line. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #seenBytes = 0;
  /** Total of the lines that were read. */
  #bytes = 0;
  /** Number of a line that is not JSON: if it is the last one, it was damaged and counts as not written. */
  #damaged: number | null = null;
  #problem: string | null = null;

  /** No event has been read yet. */
  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** False if the rest is not needed. */
  take(chunk: Buffer): boolean {
    this.#seenBytes += chunk.length;
    if (this.#seenBytes > MAX_JOURNAL_BYTES)
      return this.#fail(` is larger than ${formatNumber(MAX_JOURNAL_BYTES)} bytes`);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (!this.#keep(chunk.subarray(from, end)) || !this.#endLine()) return false;
      from = end + 1;
    }
    return this.#keep(Buffer.from(chunk.subarray(from)));
  }

  end() {
    if (this.#problem === null && this.#damaged === 1) this.#fail(`, line 1: ${NO_JSON}`);
    // What follows the last newline was never completed.
    const torn = this.#pieceBytes > 0 || this.#damaged !== null;
    if (this.#damaged !== null && this.#pieceBytes > 0) this.#fail(`, line ${this.#damaged}: ${NO_JSON}`);
    return { problem: this.#problem, events: this.#events, torn, bytes: this.#bytes };
  }

  #keep(piece: Buffer): boolean {
    if (piece.length === 0) return true;
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes <= MAX_LINE_BYTES) return true;
    return this.#fail(`, line ${this.#line}: longer than ${formatNumber(MAX_LINE_BYTES)} bytes`);
  }

  /** The number of the line that is being read. */
  get #line(): number {
    return this.#events.length + (this.#damaged === null ? 1 : 2);
  }

  #endLine(): boolean {
    // After a power failure the last line may have its length but not its content; this cannot happen to any other line.
    if (this.#damaged !== null) return this.#fail(`, line ${this.#damaged}: ${NO_JSON}`);
    const text = Buffer.concat(this.#pieces).toString('utf8');
    const line = this.#line;
    const length = this.#pieceBytes + 1;
    this.#pieces = [];
    this.#pieceBytes = 0;
    const event = eventOf(text, this.#budget);
    if (event === NO_JSON) {
      this.#damaged = line;
      return true;
    }
    if (typeof event === 'string') return this.#fail(`, line ${line}: ${event}`);
    if (line > MAX_EVENTS) return this.#fail(` has more than ${formatNumber(MAX_EVENTS)} events`);
    if (event.seq !== line) return this.#fail(`, line ${line}: holds event ${event.seq} instead of ${line}`);
    this.#events.push(event);
    this.#bytes += length;
    return true;
  }

  #fail(problem: string): false {
    this.#problem ??= problem;
    return false;
  }
}

const NEWLINE = 0x0a;
const NO_JSON = 'no JSON; the line is torn or damaged';

/** The event of a line, or what is wrong with it. */
function eventOf(line: string, budget: JsonBudget): RunEvent | string {
  const parsed = parseJson(line, budget);
  if (parsed.status === 'malformed') return NO_JSON;
  if (parsed.status === 'excessive') return 'nested too deeply, or too many values';
  const { value } = parsed;
  const place = EventPosition.safeParse(value);
  if (!place.success || typeof value !== 'object' || value === null) return 'not an event';
  const { seq: _seq, at: _at, ...rest } = value as Record<string, unknown>;
  const action = RunAction.safeParse(rest);
  if (!action.success) {
    const [issue] = action.error.issues;
    return `not an event of this version (${issue?.path.join('.')}: ${issue?.message})`;
  }
  return { ...action.data, ...place.data };
}
