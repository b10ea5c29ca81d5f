/** Says where a replayed run differs from its recording. Times, durations and run ids do not count. */

import type { RunEvent } from '../run/events.ts';
import { shortened } from '../text/shorten.ts';

/**
 * One line such as `event 12 (tool.completed toolu_3), outcome.text: expected "a", got "b"`; null if both are the same event. An
 * absent event means that the run had ended.
 */
export function divergenceOf(expected: RunEvent | undefined, got: RunEvent | undefined): string | null {
  const seq = (expected ?? got)?.seq ?? 0;
  if (!expected || !got || expected.type !== got.type)
    return `event ${seq}: expected ${described(expected)}, got ${described(got)}`;
  const differs = firstDifference(comparable(expected), comparable(got), '');
  return differs && `event ${seq} (${described(expected)}), ${differs}`;
}

/** The text with what varies from one execution of a command to the next blanked out: durations, dates and times of day. */
export function withoutTimes(text: string): string {
  return text
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[ ]?[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(
      /\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]?\d (?:\d\d:\d\d(?::\d\d)?|[ ]?\d{4})\b/g,
      '<time>',
    )
    .replace(/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>')
    .replace(/\b(\w*duration_ms)(["']?[:= ]\s*)\d+(?:\.\d+)?/g, '$1$2<time>')
    .replace(/\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|minutes?)\b/g, '<time>');
}

function described(event: RunEvent | undefined): string {
  if (event === undefined) return 'nothing more';
  if (event.type === 'tool.started') return `tool.started ${event.call.name} ${event.call.id}`;
  return event.type === 'tool.completed' ? `tool.completed ${event.call}` : event.type;
}

/** The parts of events that have to be equal, where not all do: facts about the tree, the model and the tools. */
const COMPARED: { readonly [Type in RunEvent['type']]?: readonly string[] } = {
  'run.started': ['base', 'setup', 'verifyBaseline', 'setupChanges'],
  'run.resumed': ['accepted'],
  'turn.retried': ['kind'],
  'verify.completed': ['reports'],
  'budget.reached': ['limit', 'text'],
};

/**
 * What differs from one execution to the next, also with the size of an output; signs of denial are compared with the output that
 * has them. Copies of files have none but git's permissions.
 */
const VARYING = [
  ...['seq', 'at', 'durationMs', 'waitMs', 'attempt', 'awaited'],
  ...['tokens', 'used', 'reserved', 'signs', 'isPrivate'],
];

function comparable(event: RunEvent): unknown {
  const fields = Object.entries(event).filter(([name]) => COMPARED[event.type]?.includes(name) ?? true);
  return JSON.parse(
    JSON.stringify(Object.fromEntries(fields), (name, value) => {
      if (VARYING.includes(name)) return undefined;
      if (name === 'base') return { tree: value.tree };
      if (name === 'changes')
        return value.filter((change: { excluded?: string }) => change.excluded === undefined);
      if (typeof value === 'string')
        return name === 'text' || name === 'output' ? withoutTimes(value) : value;
      // How far a call got before the run was stopped, and whether it had begun, is a matter of timing.
      const end = value?.end ?? value?.command;
      const isCutShort = value?.reason === 'interrupted' || end?.interrupted === true;
      return isCutShort ? { interrupted: true } : value;
    }),
  );
}

/** The first leaf that differs, in the order of the expected fields, with both its values. */
function firstDifference(expected: unknown, got: unknown, at: string): string | null {
  if (Object.is(expected, got)) return null;
  if (!isRecord(expected) || !isRecord(got)) {
    const from = typeof expected === 'string' && typeof got === 'string' ? samePart(expected, got) : 0;
    return `${at}: expected ${shown(expected, from)}, got ${shown(got, from)}`;
  }
  for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    const inner = firstDifference(expected[name], got[name], at === '' ? name : `${at}.${name}`);
    if (inner !== null) return inner;
  }
  return null;
}

/** Where to begin to show both texts: shortly before the first character that differs. */
function samePart(expected: string, got: string): number {
  let same = 0;
  while (same < expected.length && expected[same] === got[same]) same += 1;
  return Math.max(0, same - 20);
}

function shown(value: unknown, from: number): string {
  if (typeof value !== 'string') return shortened(JSON.stringify(value) ?? 'nothing', 160);
  const [before, after] = [from > 0 ? '…' : '', value.length > from + 80 ? '…' : ''];
  return JSON.stringify(`${before}${value.slice(from, from + 80)}${after}`);
}

/** True for objects and arrays: both have named fields. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
