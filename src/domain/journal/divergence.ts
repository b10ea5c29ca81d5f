/** Finds where a replayed run differs from its recording. Times, durations and run ids do not count. */

import { type ToolOutcome, wasInterrupted } from '../conversation/tool.ts';
import type { CommandReport, RunEvent } from '../run/events.ts';
import type { StopReason } from '../run/limits.ts';
import { shortened } from '../text/shorten.ts';

/** `at` names the field; `expected` is the recorded value, `got` the current one, both shortened. */
export interface Divergence {
  readonly seq: number;
  readonly event: string;
  readonly at: string;
  readonly expected: string;
  readonly got: string;
}

/** Null if both are the same event. An absent event means that the run had ended. */
export function divergenceOf(expected: RunEvent | undefined, got: RunEvent | undefined): Divergence | null {
  const seq = (expected ?? got)?.seq ?? 0;
  if (!expected || !got || expected.type !== got.type) {
    const described = (event: RunEvent | undefined) => (event ? describe(event) : 'nothing more');
    return { seq, event: 'event', at: '', expected: described(expected), got: described(got) };
  }
  const difference = firstDifference(comparable(expected), comparable(got), '');
  return difference && { seq, event: describe(expected), ...difference };
}

/** One sentence: `event 12 (tool.completed toolu_3), outcome.text: expected "a", got "b"`. */
export function describeDivergence({ seq, event, at, expected, got }: Divergence): string {
  const where = event === 'event' ? `event ${seq}` : `event ${seq} (${event})`;
  return `${where}${at === '' ? '' : `, ${at}`}: expected ${expected}, got ${got}`;
}

/**
 * The text with durations, dates and times of day blanked out. These vary from one execution of a command to the next; a
 * replay can overlook no other difference.
 */
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

function describe(event: RunEvent): string {
  switch (event.type) {
    case 'tool.started':
      return `tool.started ${event.call.name} ${event.call.id}`;
    case 'tool.completed':
      return `tool.completed ${event.call}`;
    case 'run.stopped':
      return `run.stopped ${event.stop.why}`;
    default:
      return event.type;
  }
}

/** The parts that have to be equal: facts about the tree, the model and the tools. */
function comparable(event: RunEvent): unknown {
  switch (event.type) {
    case 'run.started': {
      const { base, setup, verifyBaseline, setupChanges } = event;
      return {
        base: { tree: base.tree },
        setup: setup.map(comparableReport),
        verifyBaseline: verifyBaseline?.map(comparableReport) ?? null,
        setupChanges,
      };
    }
    case 'run.resumed':
      return { accepted: event.accepted };
    case 'tool.completed':
      return { call: event.call, outcome: comparableOutcome(event.outcome) };
    case 'verify.completed':
      return { reports: event.reports.map(comparableReport) };
    case 'message.added':
      return { text: withoutTimes(event.text) };
    case 'change.recorded':
      return { changes: event.changes.filter(({ excluded }) => excluded === undefined) };
    case 'run.stopped':
      return { stop: comparableStop(event.stop) };
    case 'network.used':
      return {};
    case 'budget.reached':
      return { limit: event.limit, text: event.text };
    default:
      return Object.fromEntries(Object.entries(event).filter(([field]) => !MEASURED.includes(field)));
  }
}

/** What differs from one execution to the next. */
const MEASURED = ['seq', 'at', 'tokens', 'used', 'attempt', 'status', 'waitMs'];

function comparableOutcome(outcome: ToolOutcome): unknown {
  // How far a call got before the run was stopped, and whether it had begun, is a matter of timing.
  if (wasInterrupted(outcome)) return { interrupted: true };
  if (outcome.status === 'finished' || outcome.command === undefined) return outcome;
  const { durationMs: _, ...end } = outcome.command;
  // Signs of denial in the output are compared with the output itself.
  const { signs: __, ...rest } = outcome;
  return { ...rest, text: withoutTimes(outcome.text), command: end };
}

/** Which of the commands that ran together was waited for is a matter of time. */
function comparableStop(stop: StopReason): unknown {
  if (stop.why !== 'deadline') return stop;
  const { awaited: _, ...rest } = stop;
  return rest;
}

function comparableReport({ command, end: { durationMs: _, ...end }, output }: CommandReport): unknown {
  return { command, end, output: end.interrupted ? '' : withoutTimes(output) };
}

type Difference = Pick<Divergence, 'at' | 'expected' | 'got'>;

/** The first leaf that differs, in the order of the expected fields. */
function firstDifference(expected: unknown, got: unknown, at: string): Difference | null {
  if (Object.is(expected, got)) return null;
  if (typeof expected === 'string' && typeof got === 'string') return { at, ...textsAround(expected, got) };
  if (isRecord(expected) && isRecord(got)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const inner = firstDifference(expected[name], got[name], at === '' ? name : `${at}.${name}`);
      if (inner) return inner;
    }
    return null;
  }
  return { at, expected: shown(expected), got: shown(got) };
}

/** Both texts, starting shortly before the first character that differs. */
function textsAround(expected: string, got: string): Pick<Divergence, 'expected' | 'got'> {
  let same = 0;
  while (same < expected.length && expected[same] === got[same]) same += 1;
  const from = Math.max(0, same - 20);
  const piece = (text: string) =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + 80)}${text.length > from + 80 ? '…' : ''}`;
  return { expected: JSON.stringify(piece(expected)), got: JSON.stringify(piece(got)) };
}

function shown(value: unknown): string {
  return shortened(JSON.stringify(value) ?? 'nothing', 160);
}

/** True for objects and arrays: both have named fields. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
