/** Sends what a process of a run did as an OpenTelemetry trace, when it ends. */

import * as z from 'zod';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { startOfText } from '../../../files/regular-file.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { EventSink } from '../../../ports.ts';
import { digestOf, otlpAttributes, type RunSpansOptions, type SpanJson, spansOf } from './spans.ts';
import type { TraceTarget } from './target.ts';

/** What to report about a run, and where. */
interface TracesOptions extends RunSpansOptions {
  readonly target: TraceTarget;
  readonly clock: () => number;
  /** Loads what sends requests to the target's address. */
  readonly openFetch: () => Promise<typeof fetch>;
}

/** Maximum spans per request. */
const BATCH = 512;
/** Answers are empty or one sentence. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The sink of one process of a run, and the id of its trace. */
export function openTraces({ target, clock, openFetch, ...options }: TracesOptions): EventSink & {
  readonly traceId: string;
} {
  const { runId, version, redact } = options;
  const traceId = target.parent?.traceId ?? digestOf(runId).slice(0, 32);
  const resource = { attributes: otlpAttributes({ ...target.resource, 'service.version': version }, redact) };
  const spans = spansOf(options, traceId, target.parent?.spanId ?? null);
  const made: SpanJson[] = [];
  return {
    traceId,
    accept: (event) => void made.push(...spans.of(event)),
    close: (result) => void made.push(...spans.rest(result, clock())),
    async deliver(withinMs) {
      const end = timeoutSignal(withinMs);
      const ask = await openFetch();
      for (let sent = 0; sent < made.length; sent += BATCH) {
        const scope = { name: 'patchsmith', version };
        const scopeSpans = [{ scope, spans: made.slice(sent, sent + BATCH) }];
        const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
        const why = await post(ask, target, body, end);
        if (why !== null)
          return `${made.length - sent} of ${made.length} spans did not reach ${target.url.host}: ${why}`;
      }
      return null;
    },
  };
}

/** Null if the collector took them, otherwise why not. */
async function post(
  ask: typeof fetch,
  { url, headers, timeoutMs }: TraceTarget,
  body: string,
  end: AbortSignal,
): Promise<string | null> {
  const signal = AbortSignal.any([timeoutSignal(timeoutMs), end]);
  try {
    const response = await ask(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      // The headers are for this address alone.
      redirect: 'error',
      signal,
    });
    const answer = await startOfText(response.body, MAX_ANSWER_BYTES);
    if (!response.ok) return `the collector answered ${response.status}`;
    const parsed = ExportAnswer.safeParse(jsonOrUndefined(answer));
    const rejected = parsed.success ? Number(parsed.data.partialSuccess?.rejectedSpans ?? 0) : 0;
    return rejected > 0 ? `the collector rejected ${rejected}` : null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return signal.aborted ? 'no answer in time' : innermostMessage(error);
  }
}

const ExportAnswer = z.object({
  partialSuccess: z.object({ rejectedSpans: z.coerce.number().optional() }).nullish(),
});
