/**
 * What a run did, as OTLP spans in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): the run, and in it each
 * request to the model, tool call and verification. Names are those of OpenTelemetry's conventions for generative AI, or begin with
 * `patchsmith.`. Spans contain no text of prompts, answers, files, commands or messages.
 */

import { createHash } from 'node:crypto';
import type { LlmTurn, Usage } from '../../../domain/conversation/conversation.ts';
import { succeeded } from '../../../domain/conversation/tool.ts';
import type { RunEvent } from '../../../domain/run/events.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import type { RunState } from '../../../domain/run/state.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';

type SpanValue = string | number | readonly string[];

/** Those without a value are left out. */
export type Attributes = Readonly<Record<string, SpanValue | undefined>>;

/** What the spans of a run need to know at its start. */
export interface RunSpansOptions {
  readonly runId: string;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly version: string;
  /** The number of one of several attempts, which share the id of their run; null for a run. */
  readonly attempt: number | null;
  /** Who answers: the provider by the name that the conventions have for it. */
  readonly model: { readonly provider: string; readonly model: string };
  /** The number of model turns that were completed before. */
  readonly iteration: number;
  /** The names of the model's tools; names that it made up are not exported. */
  readonly tools: readonly string[];
  readonly providerName: (provider: string) => string;
  /** The state of the run after the last event. */
  readonly now: () => Pick<RunState, 'phase' | 'review'>;
  readonly redact: Redact;
}

/** A span in OTLP's JSON. */
export type SpanJson = Readonly<Record<string, unknown>>;

/** Makes spans of events. */
interface RunSpans {
  /** Those that end with the event. */
  of(event: RunEvent): SpanJson[];
  /** Those that never ended, and the run's own. */
  rest(result: RunResult, endMs: number): SpanJson[];
}

const AGENT = 'patchsmith';
const UNKNOWN_TOOL = '_OTHER';
const MAX_CALL_ID = 100;
const KINDS = { internal: 1, client: 3 } as const;
const FAILED = 2;

/** What is known of a span when it begins. */
interface Begun {
  readonly name: string;
  readonly startMs: number;
  readonly attributes: Attributes;
  readonly kind?: keyof typeof KINDS;
  readonly events?: readonly object[];
}

/** An answer, or what was spent on a request without one. */
interface ChatEnd {
  readonly turn?: LlmTurn | undefined;
  readonly usage?: Usage | undefined;
  readonly error?: string | null;
  readonly purpose?: 'summary' | 'review' | undefined;
}

/** Builds the spans of one process of a run. `parent` is the caller's span, or null. */
export function spansOf(options: RunSpansOptions, traceId: string, parent: string | null): RunSpans {
  const { runId, startMs, attempt, tools, providerName, now, redact } = options;
  const spanId = (number: number) => digestOf(`${runId}/${startMs}/${attempt ?? ''}/${number}`).slice(0, 16);
  const root = spanId(0);
  const running = new Map<string, Begun>();
  /** The tools of the last turn's calls, by the ids of the calls. */
  let names = new Map<string, string>();
  let { model: answering, iteration } = options;
  const retries: object[] = [];
  let count = 0;
  /** The earliest time at which what is in progress can have started. */
  let since = startMs;

  function ended(begun: Begun, endMs: number, error: string | null, isRun = false): SpanJson {
    const { name, attributes, kind = 'internal', events = [] } = begun;
    const start = Math.max(begun.startMs, startMs);
    const above = isRun ? parent : root;
    const own = isRun ? {} : { 'patchsmith.iteration': iteration };
    return {
      traceId,
      spanId: isRun ? root : spanId(++count),
      ...(above === null ? {} : { parentSpanId: above }),
      name: redact(name),
      kind: KINDS[kind],
      startTimeUnixNano: nanoseconds(start),
      endTimeUnixNano: nanoseconds(Math.max(start, endMs)),
      attributes: otlpAttributes({ ...own, ...attributes, 'error.type': error ?? undefined }, redact),
      events,
      status: error === null ? {} : { code: FAILED },
    };
  }

  function request(at: number, { turn, usage = turn?.usage, error = null, purpose }: ChatEnd): SpanJson {
    const reviewer = purpose === 'review' ? now().review?.use : undefined;
    const { provider, model } =
      reviewer === undefined ? answering : { ...reviewer, provider: providerName(reviewer.provider) };
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.conversation.id': runId,
      'gen_ai.request.model': model,
      'gen_ai.response.finish_reasons': turn && [turn.stop],
      'gen_ai.response.model': turn?.model,
      ...usageAttributes(usage),
      'patchsmith.purpose': purpose,
    };
    const start = turn === undefined ? since : at - turn.durationMs;
    const events = retries.splice(0);
    return ended({ name: `chat ${model}`, kind: 'client', startMs: start, attributes, events }, at, error);
  }

  function call(from: number, id: string, named: string): Begun {
    const name = tools.includes(named) ? named : UNKNOWN_TOOL;
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': id.slice(0, MAX_CALL_ID),
    };
    return { name: `execute_tool ${name}`, startMs: from, attributes };
  }

  function endedBy(event: RunEvent): SpanJson[] {
    const { at } = event;
    switch (event.type) {
      case 'turn.retried': {
        const attributes = {
          'error.type': event.status === null ? event.kind : String(event.status),
          'patchsmith.attempt': event.attempt,
          'patchsmith.wait_ms': Math.round(event.waitMs),
        };
        const said = otlpAttributes(attributes, redact);
        retries.push({ name: 'patchsmith.retry', timeUnixNano: nanoseconds(at), attributes: said });
        return [];
      }
      case 'turn.completed': {
        const { turn } = event;
        iteration += 1;
        names = new Map(turn.calls.map(({ id, name }) => [id, name]));
        return [request(at, { turn, error: turn.stop === 'refusal' ? turn.stop : null })];
      }
      case 'turn.failed':
        return [request(at, { usage: event.spent?.usage, error: event.kind })];
      case 'turn.interrupted': {
        // The event does not say what the request was for.
        const purpose = now().phase.at === 'review' ? 'review' : undefined;
        return [request(at, { usage: event.spent.usage, error: 'interrupted', purpose })];
      }
      case 'context.compacted':
      case 'compaction.failed': {
        if (event.turn === undefined) return [];
        const error = event.type === 'compaction.failed' ? event.kind : null;
        return [request(at, { turn: event.turn, error, purpose: 'summary' })];
      }
      case 'review.completed':
        return [request(at, { turn: event.turn, purpose: 'review' })];
      case 'review.failed': {
        const { kind: error, turn, spent } = event;
        // No request was made: there was nothing to review, or no budget left.
        if (error === 'no_patch' || error === 'budget') return [];
        return [request(at, { turn, usage: turn?.usage ?? spent?.usage, error, purpose: 'review' })];
      }
      case 'model.replaced':
        answering = { provider: providerName(event.to.provider), model: event.to.model };
        return [];
      case 'tool.started':
        running.set(event.call.id, call(at, event.call.id, event.call.name));
        return [];
      case 'tool.completed': {
        const { call: id, outcome, durationMs } = event;
        const begun = running.get(id) ?? call(at - durationMs, id, names.get(id) ?? '');
        running.delete(id);
        // Calls of a turn are reported together, when the last one has ended.
        const end = Math.min(at, Math.max(begun.startMs, startMs) + durationMs);
        return [ended(begun, end, outcome.status === 'failed' ? outcome.reason : null)];
      }
      case 'verify.completed': {
        const failed = event.reports.filter(({ end }) => !succeeded(end)).length;
        const attributes = {
          'patchsmith.verify.commands': event.reports.length,
          'patchsmith.verify.failed': failed,
        };
        return [
          ended({ name: 'verify', startMs: since, attributes }, at, failed > 0 ? 'verify_failed' : null),
        ];
      }
      default:
        return [];
    }
  }

  return {
    of(event) {
      const spans = endedBy(event);
      if (event.type !== 'turn.retried') since = event.at;
      return spans;
    },
    rest(result, endMs) {
      const calls = [...running.values()].map((begun) => ended(begun, endMs, 'interrupted'));
      const error = result.exitCode === 0 ? null : (result.outcome ?? 'unknown');
      const run = { name: `invoke_agent ${AGENT}`, startMs, attributes: runAttributes(options, result) };
      return [...calls, ended(run, endMs, error, true)];
    },
  };
}

function runAttributes({ runId, version, model, attempt }: RunSpansOptions, result: RunResult): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': AGENT,
    'gen_ai.agent.version': version,
    'gen_ai.conversation.id': runId,
    'gen_ai.provider.name': model.provider,
    'gen_ai.request.model': model.model,
    ...usageAttributes(result.tokens),
    'patchsmith.run.id': runId,
    'patchsmith.attempt_number': attempt ?? undefined,
    'patchsmith.outcome': result.outcome ?? undefined,
    'patchsmith.exit_code': result.exitCode ?? undefined,
    'patchsmith.iterations': result.iterations,
    'patchsmith.changed_files': result.changedFiles.length,
    'patchsmith.cost_usd': typeof result.costUsd === 'number' ? result.costUsd : undefined,
  };
}

/** Tokens of the prompt count as input whether or not they were cached. */
function usageAttributes(usage: Usage | undefined): Attributes {
  if (usage === undefined) return {};
  const written = usage.cacheWrite + usage.cacheWrite1h;
  return {
    'gen_ai.usage.input_tokens': usage.input + usage.cacheRead + written,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': written,
  };
}

/** Attributes in OTLP's JSON: 64-bit numbers are strings there. */
export function otlpAttributes(attributes: Attributes, redact: Redact): object[] {
  const text = (value: string) => ({ stringValue: redact(value) });
  const json = (value: SpanValue) => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'number') return { arrayValue: { values: value.map(text) } };
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  };
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: json(value) }],
  );
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}

/** Ids are parts of digests, so that all processes of a run have the same trace. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
