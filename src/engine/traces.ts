/** The trace of a run, where a collector for it is named in the environment. Nothing of it is loaded otherwise. */

import { PROVIDERS, providerNamed } from '../adapters/providers/registry.ts';
import type { RunState } from '../domain/run/state.ts';
import { warning } from '../domain/warnings/warning.ts';
import type { EventSink } from '../ports.ts';
import type { Ready } from './ready.ts';
import type { Session } from './session.ts';

/** Milliseconds at the end of a run, and at that of one that is being ended. */
const DELIVERY_MS = 2_000;
const HASTY_DELIVERY_MS = 500;

/** No sink, or the one. */
export async function tracesOf(
  session: Session,
  { start, beginning }: Pick<Ready, 'start' | 'beginning'>,
  stateNow: () => RunState,
): Promise<EventSink[]> {
  const { input, runId, startedAt, redact, progress } = session;
  const { env, version, now, attempt, providers = PROVIDERS } = input;
  if (!env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT && !env.OTEL_EXPORTER_OTLP_ENDPOINT) return [];
  const { openTraces, readTarget } = await import('../adapters/sinks/tracing/traces.ts');
  const read = readTarget(env);
  if (read.status === 'off') return [];
  if (read.status === 'failed') {
    progress.warn(warning('WARN_TRACE_NOT_SENT', `No trace is sent: ${read.why}.`));
    return [];
  }
  const { target } = read;
  const providerName = (name: string) => providerNamed(name, providers)?.telemetryName ?? name;
  const { state } = beginning;
  const { provider, model } = state.models.at(-1) ?? start;
  const traces = openTraces({
    target,
    runId,
    version,
    startMs: input.attemptsBeganAt ?? startedAt,
    attempt: attempt?.number ?? null,
    model: { provider: providerName(provider), model },
    iteration: state.iterations,
    tools: start.tools.map(({ name }) => name),
    providerName,
    now: stateNow,
    redact,
    clock: now,
    async openFetch() {
      const { fetchByEnvironment } = await import('../adapters/network/machine-proxy.ts');
      return fetchByEnvironment(env, { plainHttp: target.url.protocol === 'http:' });
    },
  });
  progress.note(`trace ${traces.traceId} goes to ${target.url.host}`);
  return [traces];
}

/** Sends the remaining spans. Reports those that could not be sent; this does not affect the run. */
export async function deliverTraces({ sinks, interrupt, progress }: Session): Promise<void> {
  const withinMs = interrupt.aborted ? HASTY_DELIVERY_MS : DELIVERY_MS;
  for (const sink of sinks) {
    const undelivered = (await sink.deliver?.(withinMs)) ?? null;
    if (undelivered !== null) progress.warn(warning('WARN_TRACE_NOT_SENT', `${undelivered}.`));
  }
}
