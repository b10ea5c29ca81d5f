/**
 * The attributes of spans, by the names of OpenTelemetry's conventions for generative AI; what these have no name for begins with
 * `patchsmith.`.
 */

import type { LlmTurn, Usage } from '../../../domain/conversation/conversation.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import type { SpanMaker } from './trace-ids.ts';

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
