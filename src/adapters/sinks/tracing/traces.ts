/** Sends what a run did as an OpenTelemetry trace: each span when it has ended, in the background. */

import type { Redact } from '../../../domain/secrets/redact.ts';
import type { EventSink } from '../../../ports.ts';
import { Delivery } from './delivery.ts';
import { otlpJson } from './otlp.ts';
import { RunSpans, type RunSpansOptions, type TraceSpan } from './spans.ts';
import type { TraceTarget } from './target.ts';
import { spanIdOf, traceIdOf } from './trace-ids.ts';

/** A trace that can be found by its id. */
export interface Traces extends EventSink {
  readonly traceId: string;
}

/** What to report about a run, and where. */
export interface TracesOptions extends Omit<RunSpansOptions, 'parent' | 'attempt'> {
  /** One of several attempts of a run that began at `runStartMs`; null for a run. */
  readonly attempt: { readonly number: number; readonly runStartMs: number } | null;
  readonly target: TraceTarget;
  readonly redact: Redact;
  readonly clock: () => number;
  /** What sends requests to the target's address. */
  readonly openFetch: () => Promise<typeof fetch>;
}

/** The sink of one process of a run. */
export function openTraces({ target, redact, clock, openFetch, attempt, ...options }: TracesOptions): Traces {
  const { parent, url, headers, timeoutMs } = target;
  const { runId, version } = options;
  const traceId = parent?.traceId ?? traceIdOf(runId);
  const resource = { ...target.resource, 'service.version': version };
  const encode = (batch: readonly TraceSpan[]) => otlpJson(batch, { traceId, resource, version, redact });
  const delivery = new Delivery({ url, headers, timeoutMs, encode, openFetch, clock });
  const above =
    attempt === null
      ? (parent?.spanId ?? null)
      : spanIdOf({ runId, startMs: attempt.runStartMs, attempt: null }, 0);
  const spans = new RunSpans({ ...options, parent: above, attempt: attempt?.number ?? null });
  return {
    traceId,
    accept: (event) => delivery.add(spans.of(event)),
    close: (result) => delivery.add(spans.rest(result, clock())),
    deliver: (withinMs) => delivery.finish(withinMs),
  };
}
