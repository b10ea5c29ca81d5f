/** Reads the journal of an earlier run. It is validated and not trusted: anyone may have written it. */

import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { type Failed, failed } from '../../domain/failed.ts';
import {
  type EventPlace,
  RunAction,
  type RunEvent,
  type RunEvents,
  type RunStarted,
} from '../../domain/run/events.ts';
import { advance, withLostRequest } from '../../domain/run/fold/advance.ts';
import { type RunState, startOf } from '../../domain/run/state.ts';
import { type JsonBudget, parseJson } from '../../domain/text/json.ts';
import { formatNumber, sentence } from '../../domain/text/words.ts';
import { readBeginning, readRegularFile } from '../../files/regular-file.ts';
import { Breath, checkTime } from '../../files/time-limit.ts';

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

/** Every complete line is one event, numbered from 1 without gaps. Rejects with `CutShort` when time is up. */
export async function readJournal(path: string): Promise<JournalRead> {
  const read = readRegularFile(path, MAX_JOURNAL_BYTES);
  if (read.status === 'failed')
    return failed(
      read.missing
        ? `There is no journal ${path}: the run ended before it started to work.`
        : sentence(`The journal ${path} ${read.why}`),
    );
  const { problem, events, torn, bytes } = await eventsIn(read.bytes);
  if (problem !== null) return failed(`The journal ${path}${problem}.`);
  const [first, ...rest] = events;
  if (first?.type !== 'run.started') return failed(`The journal ${path} does not begin with run.started.`);
  return { status: 'ok', events: [first, ...rest], torn, bytes };
}

/** The first event of a journal; null if there is none that can be read. */
export async function readStart(path: string): Promise<(RunStarted & EventPlace) | null> {
  const beginning = readBeginning(path, MAX_LINE_BYTES);
  const { events } = await eventsIn(beginning.subarray(0, beginning.indexOf(NEWLINE) + 1));
  return events[0]?.type === 'run.started' ? events[0] : null;
}

/**
 * The state after all events, as if the run ended there. Folding a malicious journal can take longer than reading it, so the time for it is
 * bounded, too.
 */
export async function stateAfter([start, ...rest]: RunEvents): Promise<RunState> {
  const breath = new Breath();
  let state = startOf(start);
  for (const event of rest) {
    state = advance(state, event);
    await breath.after(STEPS_OF_AN_EVENT);
  }
  return withLostRequest(state);
}

/** An event can take as long as looking at some entries of a folder. */
const STEPS_OF_AN_EVENT = 4;

/** The events in the complete lines of a journal, which take `bytes` bytes, or what is wrong with it. */
interface ReadEvents {
  readonly problem: string | null;
  readonly events: RunEvent[];
  readonly torn: boolean;
  readonly bytes: number;
}

async function eventsIn(journal: Buffer): Promise<ReadEvents> {
  const events: RunEvent[] = [];
  const budget: JsonBudget = { values: MAX_VALUES };
  const breath = new Breath();
  // Reading took a while: signals are heard before and between the lines.
  await setImmediate();
  checkTime();
  let from = 0;
  const end = (problem: string | null) => ({ problem, events, torn: from < journal.length, bytes: from });
  for (let to = journal.indexOf(NEWLINE); to !== -1; to = journal.indexOf(NEWLINE, from)) {
    // Parsing takes many times as long as reading.
    await breath.after(STEPS_OF_AN_EVENT, (to - from) * 16);
    const line = events.length + 1;
    const wrong = (what: string) => end(`, line ${line}: ${what}`);
    if (to - from > MAX_LINE_BYTES) return wrong(`longer than ${formatNumber(MAX_LINE_BYTES)} bytes`);
    const event = eventOf(journal.toString('utf8', from, to), budget);
    // After a power failure the last line may have its length but not its content; this cannot happen to any other line.
    if (event === NO_JSON && line > 1 && to === journal.length - 1) return end(null);
    if (typeof event === 'string') return wrong(event);
    if (line > MAX_EVENTS) return end(` has more than ${formatNumber(MAX_EVENTS)} events`);
    if (event.seq !== line) return wrong(`holds event ${event.seq} instead of ${line}`);
    events.push(event);
    from = to + 1;
  }
  return end(null);
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
