/**
 * Spans in OTLP's JSON format: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Ids are hexadecimal,
 * 64-bit numbers are strings, and enumerations are numbers.
 */

import type { Redact } from '../../../domain/secrets/redact.ts';
import type { Attributes, SpanValue } from './span-attributes.ts';
import type { TraceSpan } from './spans.ts';

/** What all spans of a process share. */
export interface TraceOrigin {
  readonly traceId: string;
  /** About the process: `service.name` and the like. */
  readonly resource: Attributes;
  readonly version: string;
  readonly redact: Redact;
}

const KINDS = { internal: 1, client: 3 } as const;
const FAILED = 2;

/** The body of a request with these spans. */
export function otlpJson(
  spans: readonly TraceSpan[],
  { traceId, resource, version, redact }: TraceOrigin,
): string {
  const attributes = (all: Attributes) =>
    Object.entries(all).flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, value: anyValue(value, redact) }],
    );
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
        scopeSpans: [
          {
            scope: { name: 'patchsmith', version },
            spans: spans.map((span) => ({
              traceId,
              spanId: span.id,
              ...(span.parent === null ? {} : { parentSpanId: span.parent }),
              name: redact(span.name),
              kind: KINDS[span.kind],
              startTimeUnixNano: nanoseconds(span.startMs),
              endTimeUnixNano: nanoseconds(span.endMs),
              attributes: attributes(span.attributes),
              events: span.moments.map(({ name, atMs, attributes: own }) => ({
                name,
                timeUnixNano: nanoseconds(atMs),
                attributes: attributes(own),
              })),
              status: span.hasFailed ? { code: FAILED } : {},
            })),
          },
        ],
      },
    ],
  });
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
