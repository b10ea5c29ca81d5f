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

type SpanValue = string | number | boolean | readonly string[];

/** Those without a value are left out. */
export type Attributes = Readonly<Record<string, SpanValue | undefined>>;

/** Who answers: the provider by the name that the conventions have for it. */
interface AnsweringModel {
  readonly provider: string;
  readonly model: string;
}

/** What the spans of a run need to know at its start. */
export interface RunSpansOptions {
  readonly runId: string;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly version: string;
  readonly model: AnsweringModel;
  /** The number of model turns that were completed before. */
  readonly iteration: number;
  /** The names of the model's tools; names that it made up are not exported. */
  readonly tools: readonly string[];
  readonly providerName: (provider: string) => string;
  /** The state of the run after the last event. */
  readonly now: () => Pick<RunState, 'phase' | 'review'>;
  readonly redact: Redact;
}

/** Where the spans belong. */
export interface SpanPlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span of patchsmith's caller, or of the run to which an attempt belongs; null if there is none. */
  readonly parent: string | null;
  /** The attempts of a run share its id and can begin in the same millisecond. */
  readonly attempt: number | null;
}

/** A span in OTLP's JSON. */
export type SpanJson = Readonly<Record<string, unknown>>;

/** Makes spans of events. */
export interface RunSpans {
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

/** The spans of one process of a run, or of one attempt in it. */
export function spansOf(options: RunSpansOptions, { traceId, parent, attempt }: SpanPlace): RunSpans {
  const { runId, startMs, tools, providerName, now, redact } = options;
  const maker = { runId, startMs, attempt };
  const root = spanIdOf(maker, 0);
  const running = new Map<string, Begun>();
  /** The tools of the last turn's calls, by the ids of the calls. */
  let names = new Map<string, string>();
  let { model: answering, iteration } = options;
  let retries: object[] = [];
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
      spanId: isRun ? root : spanIdOf(maker, ++count),
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

  function chat(from: number, attributes: Attributes, asked = answering): Begun {
    const events = retries;
    retries = [];
    return {
      name: `chat ${asked.model}`,
      kind: 'client',
      startMs: from,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': asked.provider,
        'gen_ai.conversation.id': runId,
        'gen_ai.request.model': asked.model,
        ...attributes,
      },
      events,
    };
  }

  function review(from: number, attributes: Attributes): Begun {
    const by = now().review?.use;
    const reviewer = by && { provider: providerName(by.provider), model: by.model };
    return chat(from, { ...attributes, 'patchsmith.purpose': 'review' }, reviewer ?? answering);
  }

  /** An answer, or what was spent on a request without one. */
  function request(
    make: typeof review,
    at: number,
    { turn, usage }: { turn?: LlmTurn | undefined; usage?: Usage | undefined },
    error: string | null,
    more: Attributes = {},
  ): SpanJson {
    const begun =
      turn === undefined
        ? make(since, { ...usageAttributes(usage), ...more })
        : make(at - turn.durationMs, { ...answerAttributes(turn), ...more });
    return ended(begun, at, error);
  }

  function call(from: number, id: string, named: string): Begun {
    const name = tools.includes(named) ? named : UNKNOWN_TOOL;
    return {
      name: `execute_tool ${name}`,
      startMs: from,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': id.slice(0, MAX_CALL_ID),
      },
    };
  }

  function endedBy(event: RunEvent): SpanJson[] {
    const { at } = event;
    switch (event.type) {
      case 'turn.retried': {
        const { kind, attempt: tried, status, waitMs } = event;
        const attributes = {
          'error.type': status === null ? kind : String(status),
          'patchsmith.attempt': tried,
          'patchsmith.wait_ms': Math.round(waitMs),
        };
        const said = otlpAttributes(attributes, redact);
        retries.push({ name: 'patchsmith.retry', timeUnixNano: nanoseconds(at), attributes: said });
        return [];
      }
      case 'turn.completed': {
        const { turn } = event;
        iteration += 1;
        names = new Map(turn.calls.map(({ id, name }) => [id, name]));
        return [request(chat, at, { turn }, turn.stop === 'refusal' ? turn.stop : null)];
      }
      case 'turn.failed':
        return [request(chat, at, { usage: event.spent?.usage }, event.kind)];
      case 'turn.interrupted': {
        // The event does not say what the request was for.
        const asked = now().phase.at === 'review' ? review : chat;
        return [request(asked, at, { usage: event.spent.usage }, 'interrupted')];
      }
      case 'context.compacted':
      case 'compaction.failed': {
        if (event.turn === undefined) return [];
        const error = event.type === 'compaction.failed' ? event.kind : null;
        return [request(chat, at, event, error, { 'patchsmith.purpose': 'summary' })];
      }
      case 'review.completed':
        return [request(review, at, event, null)];
      case 'review.failed':
        // No request was made: there was nothing to review, or no budget left.
        if (event.kind === 'no_patch' || event.kind === 'budget') return [];
        return [request(review, at, { turn: event.turn, usage: event.spent?.usage }, event.kind)];
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
        const red = event.reports.filter(({ end }) => !succeeded(end)).length;
        const attributes = {
          'patchsmith.verify.commands': event.reports.length,
          'patchsmith.verify.failed': red,
        };
        return [ended({ name: 'verify', startMs: since, attributes }, at, red > 0 ? 'verify_failed' : null)];
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
      const attributes = runAttributes(options, attempt, result);
      const error = result.exitCode === 0 ? null : (result.outcome ?? 'unknown');
      return [...calls, ended({ name: `invoke_agent ${AGENT}`, startMs, attributes }, endMs, error, true)];
    },
  };
}

function runAttributes(
  { runId, version, model }: RunSpansOptions,
  attempt: number | null,
  result: RunResult,
): Attributes {
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

function answerAttributes({ stop, model, usage }: LlmTurn): Attributes {
  return {
    'gen_ai.response.finish_reasons': [stop],
    'gen_ai.response.model': model,
    ...usageAttributes(usage),
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
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value, redact) }],
  );
}

function anyValue(value: SpanValue, redact: Redact): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: redact(value) };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((one) => anyValue(one, redact)) } };
  }
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}

/** The trace of a run without a parent span, the same for all processes of the run. */
export function traceIdOf(runId: string): string {
  return digest(runId).slice(0, 32);
}

/** The span with this number of a process or attempt; 0 is its own. */
export function spanIdOf(
  { runId, startMs, attempt }: { runId: string; startMs: number; attempt: number | null },
  number: number,
): string {
  return digest(`${runId}/${startMs}/${attempt ?? ''}/${number}`).slice(0, 16);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
