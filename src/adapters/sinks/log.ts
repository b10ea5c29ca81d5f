/**
 * What happened, one line per event: `patchsmith.log` for people who examine a run afterwards, and lines on stderr on
 * request. Each has the run and, if there is one, the model turn and the call, to find related lines.
 */

import { blockingAmong } from '../../domain/findings/review.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type Redact, redactedJson } from '../../domain/secrets/redact.ts';
import type { EventSink } from '../../ports.ts';

/** Where to log, and how much. Both levels are one of pino's, or `silent`. */
export interface LogOptions {
  readonly path: string;
  readonly level: string;
  /** `print` gets lines such as `12:03:04 INF tool: completed run=… iteration=2 call=… status=ok`, in the local time. */
  readonly people: { readonly level: string; print(line: string): void };
  readonly runId: string;
  /** Earlier completed model turns. */
  readonly iteration: number;
  readonly redact: Redact;
}

/**
 * File contents and model text are in the journal, not here, except at level `debug`. What cannot be written, for
 * example because the disk is full, is missing from the log and stops nothing.
 */
export async function openLog({
  path,
  level,
  people,
  runId,
  redact,
  ...from
}: LogOptions): Promise<EventSink> {
  // Loaded while the model works.
  const { default: pino } = await import('pino');
  const destination = pino.destination({ dest: path, sync: true, mode: 0o600 });
  destination.on('error', () => {});
  const redacted = (object: Record<string, unknown>): Record<string, unknown> =>
    JSON.parse(redactedJson(object, redact));
  const formatters = { log: redacted };
  const base = { run: runId };
  const file = pino({ level, base, formatters }, destination);
  const lines = { write: (json: string) => people.print(lineOf(JSON.parse(json))) };
  const logs = [file, pino({ level: people.level, base, formatters }, lines)];
  let { iteration } = from;
  return {
    accept(event: RunEvent): void {
      const { type, seq } = event;
      if (type === 'turn.completed') iteration += 1;
      const level = WARNINGS.includes(type) ? 'warn' : 'info';
      for (const log of logs) {
        log[level]({ seq, iteration, ...essenceOf(event) }, type);
        log.debug({ iteration, event }, 'event');
      }
    },
    close(result: RunResult): void {
      const { outcome, exitCode, errorCode, reason } = result;
      for (const log of logs)
        log.info({ outcome, exitCode, ...(errorCode !== null && { errorCode }), reason }, 'result');
      destination.end();
    },
  };
}

/** What pino writes, as a line for people: the source of a message is what the event is about. */
function lineOf({ level, time, msg, ...fields }: Record<string, unknown>): string {
  const name = String(msg);
  const [source = name, ...rest] = name.split('.');
  const what = rest.length === 0 ? [] : [rest.join('.')];
  const values = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${shownValue(value)}`],
  );
  return `${new Date(Number(time)).toTimeString().slice(0, 8)} ${LEVEL_NAMES[Number(level)] ?? level} ${source}: ${[...what, ...values].join(' ')}`;
}

function shownValue(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'TRC',
  20: 'DBG',
  30: 'INF',
  40: 'WRN',
  50: 'ERR',
  60: 'FTL',
};

const WARNINGS: readonly RunEvent['type'][] = [
  'turn.retried',
  'turn.failed',
  'compaction.failed',
  'model.replaced',
  'review.failed',
  'budget.warned',
  'budget.reached',
  'warning.raised',
];

function essenceOf(event: RunEvent): Record<string, unknown> {
  switch (event.type) {
    case 'run.started':
      return { runId: event.runId, model: event.model, sandbox: event.sandbox, base: event.base };
    case 'run.resumed':
      return {
        base: event.base.tree,
        ...some(event.accepted.map(({ path }) => path)),
      };
    case 'turn.completed': {
      const { stop, usage, durationMs, calls } = event.turn;
      const prompt = usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h;
      const cachedShare = prompt === 0 ? 0 : Math.round((usage.cacheRead / prompt) * 100) / 100;
      return { stop, calls: calls.length, usage, cachedShare, durationMs };
    }
    case 'turn.failed':
      return { kind: event.kind, message: event.message, spent: event.spent };
    case 'turn.retried': {
      const { attempt, kind, status, cause, waitMs, spent } = event;
      return { attempt, kind, status, cause, waitMs, spent };
    }
    case 'context.compacted': {
      const { how, why, tokens, cut, turn } = event;
      return { how, why, tokens, cut, usage: turn?.usage, durationMs: turn?.durationMs };
    }
    case 'compaction.failed':
      return { kind: event.kind, message: event.message, usage: event.turn?.usage, spent: event.spent };
    case 'review.completed': {
      const { findings, leftOut, turn } = event;
      const blocking = blockingAmong(findings).length;
      return { findings: findings.length, blocking, leftOut, usage: turn.usage, durationMs: turn.durationMs };
    }
    case 'review.failed': {
      const { kind, message, again, turn, spent } = event;
      return { kind, message, again, usage: turn?.usage, spent };
    }
    case 'model.replaced':
      return { why: event.why, reason: event.reason, to: event.to };
    case 'budget.warned':
      return { limit: event.limit, value: event.value, used: event.used };
    case 'budget.reached':
      return { limit: event.limit, value: event.value, used: event.used, needed: event.needed };
    case 'request.sent':
      return { reserved: event.reserved };
    case 'turn.interrupted':
      return { spent: event.spent };
    case 'tool.started':
      return { call: event.call.id, tool: event.call.name, iteration: event.iteration };
    case 'change.recorded':
      return some(event.changes.map((change) => `${change.kind} ${change.path}`));
    case 'changes.put_back':
      return { ...some(event.changes.map(({ path }) => path)), stuck: event.stuck };
    case 'files.hidden':
      return some(event.paths);
    case 'network.used':
      return {
        ...some(event.hosts.map(({ host }) => host)),
        calls: event.hosts.flatMap(({ calls }) => calls),
      };
    case 'tool.completed': {
      const { status } = event.outcome;
      return { call: event.call, status, durationMs: event.durationMs };
    }
    case 'verify.completed':
      return { reports: event.reports.map(({ command, end }) => ({ command, ...end })) };
    case 'message.added':
      return { characters: event.text.length };
    case 'run.interrupted':
      return { interruption: event.interruption };
    case 'changes.limited':
      return { limit: event.limit, value: event.value, used: event.used, folder: event.folder };
    case 'warning.raised':
      return { message: event.message };
    case 'run.stopped':
      return { stop: event.stop };
  }
}

/** Maximum number of paths named in a line; a command can change any number, and the journal has them all. */
const MAX_PATHS = 100;

function some(paths: readonly string[]): { paths: readonly string[]; morePaths?: number } {
  return paths.length > MAX_PATHS
    ? { paths: paths.slice(0, MAX_PATHS), morePaths: paths.length - MAX_PATHS }
    : { paths };
}
