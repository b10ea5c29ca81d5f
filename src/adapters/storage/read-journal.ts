/** Reads the journal of an earlier run. What it says is checked and not trusted: anybody may have written it. */

import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { RunAction, type RunEvent } from '../../domain/events.ts';

/**
 * A journal with at least its first event. `torn`: the last line was damaged when the run died, and is left out; the
 * lines before it have `bytes` bytes.
 */
export type JournalRead =
  | {
      status: 'ok';
      events: [RunEvent & { type: 'run.started' }, ...RunEvent[]];
      torn: boolean;
      bytes: number;
    }
  | { status: 'failed'; message: string };

const Place = z.object({ seq: z.int().positive(), at: z.number() });

/** Every complete line is one event, numbered from 1 without a gap. */
export function readJournal(path: string): JournalRead {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      return failed(
        error.code === 'ENOENT'
          ? `There is no journal ${path}: the run ended before it began to work.`
          : `The journal ${path} cannot be read: ${error.message}.`,
      );
    throw error;
  }
  const lines = content.toString('utf8').split('\n');
  // What follows the last newline was never completed.
  let torn = lines.pop() !== '';
  let bytes = content.lastIndexOf(NEWLINE) + 1;
  const events: RunEvent[] = [];
  for (const [at, line] of lines.entries()) {
    const event = eventOf(line);
    if (event === NO_JSON && at === lines.length - 1 && at > 0 && !torn) {
      // A machine that lost its power may have kept the length of the last line without its content.
      torn = true;
      bytes = content.lastIndexOf(NEWLINE, bytes - 2) + 1;
      break;
    }
    if (typeof event === 'string') return failed(`The journal ${path}, line ${at + 1}: ${event}.`);
    if (event.seq !== at + 1)
      return failed(`The journal ${path}, line ${at + 1}: holds event ${event.seq} instead of ${at + 1}.`);
    events.push(event);
  }
  const [first, ...rest] = events;
  if (first?.type !== 'run.started') return failed(`The journal ${path} does not begin with run.started.`);
  return { status: 'ok', events: [first, ...rest], torn, bytes };
}

const NEWLINE = 0x0a;
const NO_JSON = 'no JSON; the line is torn or damaged';

/** The event of a line, or what is wrong with it. */
function eventOf(line: string): RunEvent | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return NO_JSON;
    throw error;
  }
  const place = Place.safeParse(parsed);
  if (!place.success || typeof parsed !== 'object' || parsed === null) return 'not an event';
  const { seq: _seq, at: _at, ...rest } = parsed as Record<string, unknown>;
  const action = RunAction.safeParse(rest);
  if (!action.success) {
    const [issue] = action.error.issues;
    return `not an event of this version (${issue?.path.join('.')}: ${issue?.message})`;
  }
  return { ...action.data, ...place.data };
}

function failed(message: string): JournalRead {
  return { status: 'failed', message };
}
