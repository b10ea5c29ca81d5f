import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Delivery } from '../../../../src/adapters/sinks/tracing/delivery.ts';
import { otlpJson } from '../../../../src/adapters/sinks/tracing/otlp.ts';
import type { TraceSpan } from '../../../../src/adapters/sinks/tracing/spans.ts';
import { startCollector } from '../../../support/otlp/collector.ts';
import { withEnoughTime } from '../../../support/waiting/enough-time.ts';

const span = (id: number): TraceSpan => ({
  id: String(id).padStart(16, 'a'),
  parent: null,
  name: 'x',
  kind: 'internal',
  startMs: 1_800_000_000_000,
  endMs: 1_800_000_000_001,
  attributes: {},
  moments: [],
  hasFailed: false,
});
const spans = (count: number) => Array.from({ length: count }, (_, id) => span(id));

function deliveryTo(url: string, { clock = Date.now, timeoutMs = 5_000 } = {}): Delivery {
  const origin = { traceId: 'a'.repeat(32), resource: {}, version: '0', redact: (text: string) => text };
  return new Delivery({
    url: new URL(`${url}/v1/traces`),
    headers: {},
    timeoutMs,
    clock,
    encode: (batch) => otlpJson(batch, origin),
    openFetch: async () => fetch,
  });
}

/** What is said at the end about ten spans, and how many requests there were. */
async function delivered(
  answers: readonly ((response: ServerResponse) => void)[],
  options: { timeoutMs?: number; withinMs?: number } = {},
): Promise<[said: string | null, requests: number]> {
  const collector = await startCollector(answers);
  try {
    const delivery = deliveryTo(collector.url, options);
    delivery.add(spans(10));
    const said = await delivery.finish(options.withinMs ?? 5_000);
    return [said?.replace(/127\.0\.0\.1:\d+/, 'HOST') ?? null, collector.requests.length];
  } finally {
    await collector.close();
  }
}

test('spans are sent while the run continues: a batch of them, or when the first has waited for five seconds', async () => {
  const collector = await startCollector();
  let now = 0;
  const delivery = deliveryTo(collector.url, { clock: () => now });
  delivery.add(spans(255));
  expect(collector.requests).toHaveLength(0);
  delivery.add(spans(1));
  await expect.poll(() => collector.spans.length).toBe(256);
  delivery.add(spans(1));
  expect(collector.requests).toHaveLength(1);
  now = 5_000;
  // Whatever happens next in the run.
  const next = () => {
    delivery.add([]);
    return collector.spans.length;
  };
  await expect.poll(next).toBe(257);
  await collector.close();
});

test('a busy collector gets the request again, at the time that it named', async () => {
  const busy = (response: ServerResponse) => response.writeHead(503, { 'retry-after': '0' }).end();
  expect(await delivered([busy, busy])).toEqual([null, 3]);
  expect(await delivered([busy, busy, busy])).toEqual([
    '10 of 10 spans did not reach HOST: the collector answered 503',
    3,
  ]);
  const later = (response: ServerResponse) => response.writeHead(429, { 'retry-after': '3600' }).end();
  expect(await delivered([later])).toEqual([
    '10 of 10 spans did not reach HOST: the collector answered 429',
    1,
  ]);
});

test('one that refuses, or accepts only a part, gets no second request', async () => {
  expect(await delivered([(response) => response.writeHead(401).end()])).toEqual([
    '10 of 10 spans did not reach HOST: the collector answered 401',
    1,
  ]);
  const partly = '{"partialSuccess":{"rejectedSpans":"4","errorMessage":"##[error]"}}';
  expect(await delivered([(response) => response.end(partly)])).toEqual([
    '4 of 10 spans did not reach HOST: the collector rejected them',
    1,
  ]);
});

test('one that is silent, slow or never stops talking uses up its time limit only once', async () => {
  const silent = () => undefined;
  const endless = (response: ServerResponse) => {
    const chunk = 'x'.repeat(16_384);
    const more = () => response.write(chunk, (error) => void (error ? null : setImmediate(more)));
    more();
  };
  const late = '10 of 10 spans did not reach HOST: no answer in time';
  for (const limit of ['withinMs', 'timeoutMs'])
    expect(
      await withEnoughTime(
        (ms) => delivered([silent], { [limit]: ms }),
        ([, requests]) => requests > 0,
      ),
    ).toEqual([late, 1]);
  expect(await delivered([endless])).toEqual([null, 1]);
});

test('redirects are not followed, and a missing collector is given up', async () => {
  const elsewhere = (response: ServerResponse) =>
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
  expect((await delivered([elsewhere, elsewhere, elsewhere]))[0]).toMatch(/^10 of 10 spans .*redirect/);
  const gone = await startCollector();
  await gone.close();
  const delivery = deliveryTo(gone.url);
  delivery.add(spans(10));
  expect(await delivery.finish(5_000)).toMatch(/^10 of 10 spans .*ECONNREFUSED/);
});

test('the queue is bounded, and what did not fit is counted', async () => {
  const collector = await startCollector([() => undefined]);
  const delivery = deliveryTo(collector.url, { timeoutMs: 200 });
  for (let at = 0; at < 100; at += 1) delivery.add(spans(100));
  expect(await delivery.finish(5_000)).toMatch(/^10000 of 10000 spans/);
  await collector.close();
});
