/** A local collector of traces, as strict as the schema of OTLP: what is not in it is refused with a 400. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${digits}}$`))
    .refine((id) => /[^0]/.test(id));
const nanoseconds = z.string().regex(/^\d{19}$/);
const Scalar = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const Value = z.union([Scalar, z.strictObject({ arrayValue: z.strictObject({ values: z.array(Scalar) }) })]);
const Attribute = z.strictObject({ key: z.string().min(1), value: Value });
const AttributeList = z
  .array(Attribute)
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, 'keys are unique');
const SentSpan = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes: AttributeList,
    events: z.array(
      z.strictObject({ name: z.string().min(1), timeUnixNano: nanoseconds, attributes: AttributeList }),
    ),
    status: z.strictObject({ code: z.int().min(0).max(2).optional() }),
  })
  .refine(({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(start) <= BigInt(end));
const Export = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: AttributeList }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(SentSpan).min(1),
        }),
      ),
    }),
  ),
});

/** A span as people read it: attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
}

export interface Collector {
  /** Without `/v1/traces`. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly resource: Readonly<Record<string, unknown>>;
  readonly requests: readonly { readonly headers: IncomingMessage['headers']; readonly body: string }[];
  /** Why requests were refused. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

/** `answers` come first, in place of the collector's own. */
export async function startCollector(
  answers: readonly ((response: ServerResponse) => void)[] = [],
): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: { headers: IncomingMessage['headers']; body: string }[] = [];
  const refused: string[] = [];
  let resource: Readonly<Record<string, unknown>> = {};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    requests.push({ headers: request.headers, body });
    const own = answers[requests.length - 1];
    if (own !== undefined) return own(response);
    const isRight =
      request.method === 'POST' &&
      request.url === '/v1/traces' &&
      request.headers['content-type'] === 'application/json';
    const parsed = Export.safeParse(isRight ? JSON.parse(body) : null);
    if (!parsed.success) {
      refused.push(`${request.method} ${request.url}: ${parsed.error.message}`);
      return response.writeHead(400).end();
    }
    for (const { resource: about, scopeSpans } of parsed.data.resourceSpans) {
      resource = valuesOf(about.attributes);
      spans.push(...scopeSpans.flatMap((scope) => scope.spans.map(received)));
    }
    return response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    refused,
    get resource() {
      return resource;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function received(span: z.infer<typeof SentSpan>): ReceivedSpan {
  return {
    traceId: span.traceId,
    id: span.spanId,
    parent: span.parentSpanId ?? null,
    name: span.name,
    kind: span.kind,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
    endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
    hasFailed: span.status.code === 2,
    attributes: valuesOf(span.attributes),
    events: span.events.map(({ name, attributes }) => ({ name, attributes: valuesOf(attributes) })),
  };
}

function valuesOf(attributes: readonly z.infer<typeof Attribute>[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: z.infer<typeof Value>): unknown {
  if ('arrayValue' in value) return value.arrayValue.values.map(plain);
  return 'intValue' in value ? Number(value.intValue) : Object.values(value)[0];
}
