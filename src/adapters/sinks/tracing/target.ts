/**
 * Where traces go, according to the standard variables of OpenTelemetry exporters:
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/ and
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */

import type { Environment } from '../../../domain/environment.ts';
import { withoutTail } from '../../../domain/text/shorten.ts';
import { listedPairs } from '../../../domain/text/uri.ts';
import type { Attributes } from './spans.ts';

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
export type TargetRead =
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
  if (signal(env, 'PROTOCOL')?.trim() === 'grpc')
    return failed('OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and patchsmith speaks OTLP over HTTP');
  // The address for traces is used unchanged; the other one is for all signals.
  const variable = `OTEL_EXPORTER_OTLP_${own ? 'TRACES_' : ''}ENDPOINT`;
  const address = own || `${withoutTail(common ?? '', '/')}/v1/traces`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}` !== '')
    return failed(`${variable} is not an http(s) address without a user name`);
  const headers = listedPairs(signal(env, 'HEADERS') ?? '');
  if (!headers.every(([name, value]) => /^[\w.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)))
    return failed('OTEL_EXPORTER_OTLP_HEADERS contains characters that are not allowed in an HTTP header');
  if (headers.length > 0 && url.protocol === 'http:' && !LOCAL.includes(url.hostname))
    return failed(`${variable} is plain http to another host, where the headers could be read on the way`);
  const attributes = Object.fromEntries(listedPairs(env.OTEL_RESOURCE_ATTRIBUTES ?? ''));
  const name = env.OTEL_SERVICE_NAME?.trim() || attributes['service.name'] || 'patchsmith';
  const timeout = signal(env, 'TIMEOUT')?.trim() ?? '';
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
function signal(env: Environment, name: string): string | undefined {
  return env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
}
