/** What the scripted model says. A run of n turns has n answers; the last one says that the work is done. */

import type { ScriptedTurn } from '../tests/support/claude-server/script.ts';
import { EDITED } from './repositories.ts';

export type TurnKind = 'read' | 'edit' | 'list' | 'search' | 'command';

const END: ScriptedTurn = { text: 'The work is done.' };
const OUTPUT_BYTES = 50_000_000;

/** Turns of these kinds in rotation. No two are alike, as a model that repeats itself would be stopped. */
export function workOf(turns: number, kinds: readonly TurnKind[]): ScriptedTurn[] {
  return [...kindsOf(turns, kinds).map(turnOf), END];
}

/** The kind of each turn of `workOf` but the last. */
export function kindsOf(turns: number, kinds: readonly TurnKind[]): TurnKind[] {
  return Array.from({ length: turns - 1 }, (_, at) => kinds[at % kinds.length] ?? 'read');
}

/** Eight commands of 0.2 s at a time. */
export function parallelCommands(turns: number): ScriptedTurn[] {
  const calls = (turn: number) =>
    Array.from({ length: 8 }, (_, at) => command(`sleep 0.2; echo ${turn} ${at}`));
  return [...Array.from({ length: turns - 1 }, (_, turn) => ({ calls: calls(turn) })), END];
}

export function largeOutput(): ScriptedTurn[] {
  return [{ calls: [command(`yes 'a line of output, and not the last' | head -c ${OUTPUT_BYTES}`)] }, END];
}

/** Commands with so many bytes of output each. */
export function outputsOf(turns: number, bytes: number): ScriptedTurn[] {
  const calls = (turn: number) => [command(`yes 'output of turn ${turn}' | head -c ${bytes}`)];
  return [...Array.from({ length: turns - 1 }, (_, turn) => ({ calls: calls(turn) })), END];
}

/** What a reviewer says who has found nothing. */
export const NOTHING_FOUND: ScriptedTurn = { calls: [{ name: 'submit_review', input: { findings: [] } }] };

/** What a model may do first that knows nothing of the repository: an assumption, and no measurement of one. */
export const LOOKS: ScriptedTurn[] = [
  { calls: [{ name: 'list_files', input: { path: '.' } }] },
  { calls: [{ name: 'search', input: { pattern: '"test":', path: '.' } }] },
  { calls: [command('node --version; npm --version; git --version')] },
];

/** Each fault once, with a good turn after it, so that no two of them add up. Limits on the rate are another matter. */
export const FAULTS: readonly (readonly [name: string, fault: NonNullable<ScriptedTurn['fault']>])[] = [
  ['HTTP 500', { kind: 'http', status: 500 }],
  ['HTTP 529', { kind: 'http', status: 529 }],
  ['reset before the answer', { kind: 'reset', afterEvents: null }],
  ['reset in the answer', { kind: 'reset', afterEvents: 3 }],
  ['answer ends early', { kind: 'end', afterEvents: 3 }],
  ['error event', { kind: 'error_event', type: 'overloaded_error', afterEvents: 2 }],
  ['malformed event', { kind: 'malformed', afterEvents: 2 }],
];

export function faults(): ScriptedTurn[] {
  return [...FAULTS.flatMap(([, fault], at) => [{ fault }, turnOf('read', at)]), END];
}

function turnOf(kind: TurnKind, at: number): ScriptedTurn {
  switch (kind) {
    case 'read':
      return { calls: [{ name: 'read_file', input: { path: `src/part-0/file-${at % 50}.ts` } }] };
    case 'edit': {
      // The line grows by a digit, so that it is found once whatever was written before.
      const [find, replace] = ['export const count = ', `export const count = ${at % 10}`];
      return { calls: [{ name: 'edit_file', input: { path: EDITED, find, replace } }] };
    }
    case 'list':
      return { calls: [{ name: 'list_files', input: { path: 'src/part-0' } }] };
    case 'search':
      return {
        calls: [{ name: 'search', input: { pattern: `value${at % 12} = ${at} *;`, path: 'src/part-0' } }],
      };
    case 'command':
      return { calls: [command(`echo command ${at}`)] };
  }
}

function command(line: string) {
  return { name: 'run_command', input: { command: line } };
}
