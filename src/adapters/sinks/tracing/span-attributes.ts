/**
 * The ids and attributes of spans. Ids are derived from the run's id, so that all its processes share one trace; attributes
 * have the names of OpenTelemetry's conventions for generative AI, or begin with `patchsmith.`.
 */

import { createHash } from 'node:crypto';
import type { LlmTurn, Usage } from '../../../domain/conversation/conversation.ts';
import type { RunResult } from '../../../domain/run/result.ts';

/** The agent's name in traces. */
export const AGENT = 'patchsmith';

/** A value that a span can have. */
export type SpanValue = string | number | boolean | readonly string[];

/** Those without a value are left out. */
export type Attributes = Readonly<Record<string, SpanValue | undefined>>;

/** Who answers: the provider by the name that the conventions have for it. */
export interface AnsweringModel {
  readonly provider: string;
  readonly model: string;
}

/** Of the whole run. */
export function runAttributes(
  { runId, version, attempt, model }: SpanMaker & { version: string; model: AnsweringModel },
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

/** Of a complete answer. */
export function answerAttributes({
  stop,
  model,
  usage,
}: Pick<LlmTurn, 'stop' | 'model' | 'usage'>): Attributes {
  return {
    'gen_ai.response.finish_reasons': [stop],
    'gen_ai.response.model': model,
    ...usageAttributes(usage),
  };
}

/** Tokens of the prompt count as input whether or not they were cached. */
export function usageAttributes(usage: Usage | undefined): Attributes {
  if (usage === undefined) return {};
  const written = usage.cacheWrite + usage.cacheWrite1h;
  return {
    'gen_ai.usage.input_tokens': usage.input + usage.cacheRead + written,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': written,
  };
}

/** The trace of a run without a parent span: 32 hexadecimal digits. */
export function traceIdOf(runId: string): string {
  return digest(runId).slice(0, 32);
}

/** Who numbers spans: a process of a run, or one of several attempts in it. */
export interface SpanMaker {
  readonly runId: string;
  readonly startMs: number;
  /** The attempts of a run share its id and can begin in the same millisecond. */
  readonly attempt: number | null;
}

/** The span with this number (0 is the numberer's own): 16 hexadecimal digits. */
export function spanIdOf({ runId, startMs, attempt }: SpanMaker, number: number): string {
  const maker = attempt === null ? `${startMs}` : `${startMs}/${attempt}`;
  return digest(`${runId}/${maker}/${number}`).slice(0, 16);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
