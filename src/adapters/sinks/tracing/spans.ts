/**
 * What a run did, as spans: the run, and in it each answer of the model, tool call and verification. Names and
 * attributes are those of OpenTelemetry's conventions for generative AI; names of our own begin with `patchsmith.`.
 * Spans contain no text of prompts, answers, files, commands or messages.
 */

import type { LlmTurn, Usage } from '../../../domain/conversation/conversation.ts';
import { succeeded, type ToolOutcome } from '../../../domain/conversation/tool.ts';
import type { RunEvent } from '../../../domain/run/events.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import type { RunState } from '../../../domain/run/state.ts';
import {
  AGENT,
  type AnsweringModel,
  type Attributes,
  answerAttributes,
  runAttributes,
  type SpanMaker,
  spanIdOf,
  usageAttributes,
} from './span-attributes.ts';

/** Something that took time. Times are Unix milliseconds. */
export interface TraceSpan {
  /** 16 hexadecimal digits, as are those of `parent`; null without one. */
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly moments: readonly {
    readonly name: string;
    readonly atMs: number;
    readonly attributes: Attributes;
  }[];
  readonly hasFailed: boolean;
}

/** What the spans of a run need to know at its start. */
export interface RunSpansOptions extends SpanMaker {
  readonly version: string;
  /** The span of patchsmith's caller, or of the run to which an attempt belongs; null if there is none. */
  readonly parent: string | null;
  readonly model: AnsweringModel;
  /** The number of model turns that were completed before. */
  readonly iteration: number;
  /** The names of the model's tools; names that it made up are not exported. */
  readonly tools: readonly string[];
  readonly providerName: (provider: string) => string;
  /** The state of the run after the last event. */
  readonly now: () => Pick<RunState, 'phase' | 'review'>;
}

type SpanMoment = TraceSpan['moments'][number];
type Begun = Omit<TraceSpan, 'endMs' | 'hasFailed'>;

/** Turns events into spans; each is returned once it has ended. */
export class RunSpans {
  readonly #options: RunSpansOptions;
  readonly #root: string;
  readonly #tools = new Map<string, Begun>();
  /** The tools of the last turn's calls, by the ids of the calls. */
  #names = new Map<string, string>();
  #count = 0;
  #model: AnsweringModel;
  #iteration: number;
  #retries: SpanMoment[] = [];
  /** The earliest time at which what is in progress can have started. */
  #sinceMs: number;

  constructor(options: RunSpansOptions) {
    this.#options = options;
    this.#model = options.model;
    this.#iteration = options.iteration;
    this.#sinceMs = options.startMs;
    this.#root = this.#newId();
  }

  /** The spans that end with the event. */
  of(event: RunEvent): TraceSpan[] {
    const spans = this.#ended(event);
    if (event.type !== 'turn.retried') this.#sinceMs = event.at;
    return spans;
  }

  /** The spans that never ended, and the run's own. */
  rest(result: RunResult, endMs: number): TraceSpan[] {
    const { startMs, parent } = this.#options;
    const failed = result.exitCode !== 0;
    const calls = [...this.#tools.values()].map((span) => ended(span, endMs, 'interrupted'));
    this.#tools.clear();
    const run = {
      id: this.#root,
      parent,
      name: `invoke_agent ${AGENT}`,
      kind: 'internal',
      startMs,
      moments: [],
      attributes: runAttributes(this.#options, result),
    } as const;
    return [...calls, ended(run, endMs, failed ? (result.outcome ?? 'unknown') : null)];
  }

  #ended(event: RunEvent): TraceSpan[] {
    const { at } = event;
    switch (event.type) {
      case 'turn.retried': {
        const { kind, attempt, status, waitMs } = event;
        const attributes = {
          'error.type': status === null ? kind : String(status),
          'patchsmith.attempt': attempt,
          'patchsmith.wait_ms': Math.round(waitMs),
        };
        this.#retries.push({ name: 'patchsmith.retry', atMs: at, attributes });
        return [];
      }
      case 'turn.completed': {
        this.#iteration += 1;
        const { durationMs, stop, calls } = event.turn;
        this.#names = new Map(calls.map(({ id, name }) => [id, name]));
        const chat = this.#chat(at - durationMs, answerAttributes(event.turn));
        return [ended(chat, at, stop === 'refusal' ? stop : null)];
      }
      case 'turn.failed':
        return [ended(this.#chat(this.#sinceMs, usageAttributes(event.spent?.usage)), at, event.kind)];
      case 'turn.interrupted':
        return [ended(this.#asked(this.#sinceMs, usageAttributes(event.spent.usage)), at, 'interrupted')];
      case 'context.compacted':
        return this.#summary(event, null);
      case 'compaction.failed':
        return this.#summary(event, event.kind);
      case 'review.completed':
        return [ended(this.#reviewed(at, event.turn, undefined), at, null)];
      case 'review.failed':
        // No request was made: there was nothing to review, or no budget left.
        if (event.kind === 'no_patch' || event.kind === 'budget') return [];
        return [ended(this.#reviewed(at, event.turn, event.spent), at, event.kind)];
      case 'model.replaced': {
        const { provider, model } = event.to;
        this.#model = { provider: this.#options.providerName(provider), model };
        return [];
      }
      case 'tool.started': {
        const { id, name } = event.call;
        this.#tools.set(id, this.#call(at, id, name));
        return [];
      }
      case 'tool.completed': {
        const { call, outcome, durationMs } = event;
        const begun = this.#tools.get(call) ?? this.#call(at - durationMs, call, this.#names.get(call) ?? '');
        this.#tools.delete(call);
        // Calls of a turn are reported together, when the last one has ended.
        return [ended(begun, Math.min(at, begun.startMs + durationMs), errorOf(outcome))];
      }
      case 'verify.completed': {
        const { reports } = event;
        const red = reports.filter(({ end }) => !succeeded(end)).length;
        const counts = { 'patchsmith.verify.commands': reports.length, 'patchsmith.verify.failed': red };
        const verify = this.#begun('verify', 'internal', this.#sinceMs, counts);
        return [ended(verify, at, red > 0 ? 'verify_failed' : null)];
      }
      default:
        return [];
    }
  }

  /** The request for a summary; empty if none was made. */
  #summary({ at, turn }: { at: number; turn?: LlmTurn }, failure: string | null): TraceSpan[] {
    if (turn === undefined) return [];
    const attributes = { ...answerAttributes(turn), 'patchsmith.purpose': 'summary' };
    return [ended(this.#chat(at - turn.durationMs, attributes), at, failure)];
  }

  /** The request for a review, with or without an answer. */
  #reviewed(at: number, turn: LlmTurn | undefined, spent: { usage: Usage } | undefined): Begun {
    return turn === undefined
      ? this.#review(this.#sinceMs, usageAttributes(spent?.usage))
      : this.#review(at - turn.durationMs, answerAttributes(turn));
  }

  /** A request that was cut off: its event does not say what it was for. */
  #asked(startMs: number, attributes: Attributes): Begun {
    const isReview = this.#options.now().phase.at === 'review';
    return isReview ? this.#review(startMs, attributes) : this.#chat(startMs, attributes);
  }

  #review(startMs: number, attributes: Attributes): Begun {
    const { review } = this.#options.now();
    const reviewer = review && {
      provider: this.#options.providerName(review.use.provider),
      model: review.use.model,
    };
    return this.#chat(startMs, { ...attributes, 'patchsmith.purpose': 'review' }, reviewer ?? this.#model);
  }

  #chat(startMs: number, attributes: Attributes, asked = this.#model): Begun {
    const { provider, model } = asked;
    const begun = this.#begun(`chat ${model}`, 'client', startMs, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.conversation.id': this.#options.runId,
      'gen_ai.request.model': model,
      ...attributes,
    });
    return { ...begun, moments: this.#retries.splice(0) };
  }

  #call(startMs: number, id: string, named: string): Begun {
    const name = this.#options.tools.includes(named) ? named : UNKNOWN_TOOL;
    return this.#begun(`execute_tool ${name}`, 'internal', startMs, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': id.slice(0, MAX_CALL_ID),
    });
  }

  #begun(name: string, kind: TraceSpan['kind'], startMs: number, attributes: Attributes): Begun {
    return {
      id: this.#newId(),
      parent: this.#root,
      name,
      kind,
      startMs: Math.max(startMs, this.#options.startMs),
      moments: [],
      attributes: { ...attributes, 'patchsmith.iteration': this.#iteration },
    };
  }

  #newId(): string {
    return spanIdOf(this.#options, this.#count++);
  }
}

const UNKNOWN_TOOL = '_OTHER';
const MAX_CALL_ID = 100;

function ended(begun: Begun, endMs: number, error: string | null): TraceSpan {
  const attributes = error === null ? begun.attributes : { ...begun.attributes, 'error.type': error };
  return { ...begun, endMs: Math.max(begun.startMs, endMs), attributes, hasFailed: error !== null };
}

function errorOf(outcome: ToolOutcome): string | null {
  return outcome.status === 'failed' ? outcome.reason : null;
}
