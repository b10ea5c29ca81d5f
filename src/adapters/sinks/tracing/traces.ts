/**
 * Sends what a process of a run did as an OpenTelemetry trace, when it ends, to where the standard variables of exporters say:
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/ and
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */

import * as z from 'zod';
import type { Environment } from '../../../domain/environment.ts';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { withoutTail } from '../../../domain/text/shorten.ts';
import { listedPairs } from '../../../domain/text/uri.ts';
import { startOfText } from '../../../files/regular-file.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { EventSink } from '../../../ports.ts';
import {
  type Attributes,
  digestOf,
  otlpAttributes,
  type RunSpansOptions,
  type SpanJson,
  spansOf,
} from './spans.ts';

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

/** Where to send spans, and what they belong to. */
export interface TraceTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly resource: Attributes;
  /** The span that started patchsmith; null without one. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null;
}

/** `off`: no traces are wanted. `failed`: some are, and cannot be sent. */
type TargetRead =
  | { readonly status: 'ok'; readonly target: TraceTarget }
  | { readonly status: 'off' }
  | { readonly status: 'failed'; readonly why: string };

/** `why` does not repeat values: they may contain a login. */
export function readTarget(env: Environment): TargetRead {
  const failed = (why: string): TargetRead => ({ status: 'failed', why });
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const isOff =
    env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER?.trim() === 'none';
  if (isOff || !(own || common)) return { status: 'off' };
  const [, traceId = '', spanId = '', flags = ''] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(env.TRACEPARENT?.trim() ?? '') ?? [];
  const hasParent = /[^0]/.test(traceId) && /[^0]/.test(spanId);
  // The caller that began the trace decided not to keep it.
  if (hasParent && (Number.parseInt(flags, 16) & 1) === 0) return { status: 'off' };
  if (variableFor(env, 'PROTOCOL')?.trim() === 'grpc')
    return failed('OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and patchsmith speaks OTLP over HTTP');
  // The address for traces is used unchanged; the other one is for all signals.
  const variable = `OTEL_EXPORTER_OTLP_${own ? 'TRACES_' : ''}ENDPOINT`;
  const address = own || `${withoutTail(common ?? '', '/')}/v1/traces`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}` !== '')
    return failed(`${variable} is not an http(s) address without a user name`);
  const headers = listedPairs(variableFor(env, 'HEADERS') ?? '');
  if (!headers.every(([name, value]) => /^[\w.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)))
    return failed('OTEL_EXPORTER_OTLP_HEADERS contains characters that are not allowed in an HTTP header');
  if (headers.length > 0 && url.protocol === 'http:' && !LOCAL.includes(url.hostname))
    return failed(`${variable} is plain http to another host, where the headers could be read on the way`);
  const attributes = Object.fromEntries(listedPairs(env.OTEL_RESOURCE_ATTRIBUTES ?? ''));
  const name = env.OTEL_SERVICE_NAME?.trim() || attributes['service.name'] || 'patchsmith';
  const timeout = variableFor(env, 'TIMEOUT')?.trim() ?? '';
  return {
    status: 'ok',
    target: {
      url,
      headers: Object.fromEntries(headers),
      timeoutMs: /^[1-9]\d{0,8}$/.test(timeout) ? Number(timeout) : DEFAULT_TIMEOUT_MS,
      resource: { ...attributes, 'service.name': name },
      parent: hasParent ? { traceId, spanId } : null,
    },
  };
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];
const DEFAULT_TIMEOUT_MS = 10_000;

/** The variable for traces takes precedence over that for all signals. An empty one counts as absent. */
function variableFor(env: Environment, name: string): string | undefined {
  return env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
}
