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
  const own = endpoint(env);
  if (
    own === null ||
    env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' ||
    env.OTEL_TRACES_EXPORTER?.trim() === 'none'
  )
    return { status: 'off' };
  const parent = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-|$)/.exec(
    env.TRACEPARENT?.trim() ?? '',
  );
  const [, traceId = '', spanId = '', flags = ''] = parent ?? [];
  const hasParent = /[^0]/.test(traceId) && /[^0]/.test(spanId);
  // The caller that began the trace decided not to keep it.
  if (hasParent && (Number.parseInt(flags, 16) & 1) === 0) return { status: 'off' };
  const { variable, address } = own;
  const protocol = signal(env, 'PROTOCOL')?.trim();
  if (protocol === 'grpc')
    return {
      status: 'failed',
      why: 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and patchsmith speaks OTLP over HTTP',
    };
  const url = URL.canParse(address) ? new URL(address) : null;
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    return { status: 'failed', why: `${variable} is not an http(s) address without a user name` };
  const headers = listedPairs(signal(env, 'HEADERS') ?? '');
  if (!headers.every(([name, value]) => /^[\w.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)))
    return {
      status: 'failed',
      why: 'OTEL_EXPORTER_OTLP_HEADERS contains characters that are not allowed in an HTTP header',
    };
  if (headers.length > 0 && url.protocol === 'http:' && !LOCAL.includes(url.hostname))
    return {
      status: 'failed',
      why: `${variable} is plain http to another host, where the headers could be read on the way`,
    };
  return {
    status: 'ok',
    target: {
      url,
      headers: Object.fromEntries(headers),
      timeoutMs: wholeNumber(signal(env, 'TIMEOUT')) ?? DEFAULT_TIMEOUT_MS,
      resource: resourceOf(env),
      parent: hasParent ? { traceId, spanId } : null,
    },
  };
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];
const DEFAULT_TIMEOUT_MS = 10_000;

/** The address for traces is used unchanged; the other one is for all signals. */
function endpoint(env: Environment): { variable: string; address: string } | null {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  if (own) return { variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', address: own };
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  if (!common) return null;
  return { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', address: `${withoutTail(common, '/')}/v1/traces` };
}

/** The variable for traces takes precedence over that for all signals. An empty one counts as absent. */
function signal(env: Environment, name: string): string | undefined {
  return env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
}

function resourceOf(env: Environment): Attributes {
  const given = Object.fromEntries(listedPairs(env.OTEL_RESOURCE_ATTRIBUTES ?? ''));
  const name = env.OTEL_SERVICE_NAME?.trim() || given['service.name'] || 'patchsmith';
  return { ...given, 'service.name': name };
}

function wholeNumber(value: string | undefined): number | null {
  return value !== undefined && /^[1-9]\d{0,8}$/.test(value.trim()) ? Number(value) : null;
}
