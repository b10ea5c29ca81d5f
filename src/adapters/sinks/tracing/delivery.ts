/**
 * Sends spans to a collector during the run. A run waits for it only at its end, and not for a collector that has
 * been silent before; what cannot be delivered is counted.
 */

import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { startOfText } from '../../../files/read-bytes.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { TraceSpan } from './spans.ts';
import type { TraceTarget } from './target.ts';

/** Where and how to send. */
export interface DeliveryOptions extends Pick<TraceTarget, 'url' | 'headers' | 'timeoutMs'> {
  /** Makes the body of a request. */
  readonly encode: (spans: readonly TraceSpan[]) => string;
  /** Loads the code for the first request. */
  readonly openFetch: () => Promise<typeof fetch>;
  readonly clock: () => number;
}

/** Maximum spans per request. */
const BATCH = 256;
/** Waiting spans are sent when the first of them reaches this age, or when there are enough for a batch. */
const MAX_WAIT_MS = 5_000;
/** Spans above this number are dropped. */
const MAX_QUEUE = 2_048;
/** Failures in a row after which nothing more is sent. */
const MAX_FAILURES = 3;
/** Answers are empty or one sentence. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** The statuses after which OTLP permits a retry. */
const PASSING: readonly number[] = [429, 502, 503, 504];

/** One trace on its way. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #end = new AbortController();
  #queue: TraceSpan[] = [];
  #oldestMs = 0;
  #sending: Promise<void> | null = null;
  #failures = 0;
  #notBeforeMs = 0;
  #lost = 0;
  #delivered = 0;
  #why = 'there was no time left';

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Never waits. */
  add(spans: readonly TraceSpan[]): void {
    const now = this.#options.clock();
    if (this.#queue.length === 0) this.#oldestMs = now;
    const room = this.#hasGivenUp() ? 0 : MAX_QUEUE - this.#queue.length;
    this.#queue.push(...spans.slice(0, room));
    this.#lost += Math.max(0, spans.length - room);
    const isDue = this.#queue.length >= BATCH || now - this.#oldestMs >= MAX_WAIT_MS;
    if (isDue && now >= this.#notBeforeMs) this.#send();
  }

  /**
   * Sends the rest, for at most this many milliseconds. Null if everything has arrived, otherwise what has not, and
   * why.
   */
  async finish(withinMs: number): Promise<string | null> {
    const timer = setTimeout(() => this.#end.abort(), withinMs);
    while (this.#queue.length > 0 && !this.#end.signal.aborted && !this.#hasGivenUp()) {
      const waitMs = this.#notBeforeMs - this.#options.clock();
      if (waitMs > withinMs) break;
      if (waitMs > 0) await delay(waitMs, undefined, { signal: this.#end.signal }).catch(() => undefined);
      this.#send();
      await this.#sending;
    }
    await this.#sending;
    clearTimeout(timer);
    const lost = this.#lost + this.#queue.length;
    return lost === 0
      ? null
      : `${lost} of ${lost + this.#delivered} spans did not reach ${this.#options.url.host}: ${this.#why}`;
  }

  #hasGivenUp(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  #send(): void {
    if (this.#sending !== null || this.#hasGivenUp() || this.#queue.length === 0) return;
    const batch = this.#queue.splice(0, BATCH);
    this.#oldestMs = this.#options.clock();
    this.#sending = this.#post(batch).finally(() => {
      this.#sending = null;
    });
  }

  /** Never rejects. */
  async #post(batch: readonly TraceSpan[]): Promise<void> {
    const { url, headers, timeoutMs, encode, openFetch } = this.#options;
    const timeout = timeoutSignal(timeoutMs);
    try {
      const ask = await openFetch();
      const response = await ask(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: encode(batch),
        // The headers are for this address alone.
        redirect: 'error',
        signal: AbortSignal.any([timeout, this.#end.signal]),
      });
      const answer = await startOfText(response.body, MAX_ANSWER_BYTES);
      if (response.ok) this.#arrived(batch, answer);
      else this.#refused(batch, response);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const isLate = timeout.aborted || this.#end.signal.aborted;
      // Do not wait again for a collector that once did not answer.
      this.#failures = isLate ? MAX_FAILURES : this.#failures + 1;
      this.#why = isLate ? 'no answer in time' : innermostMessage(error);
      this.#queue.unshift(...batch);
    }
  }

  #arrived(batch: readonly TraceSpan[], answer: string): void {
    this.#failures = 0;
    const rejected = rejectedIn(answer, batch.length);
    this.#delivered += batch.length - rejected;
    this.#lost += rejected;
    if (rejected > 0) this.#why = 'the collector rejected them';
  }

  #refused(batch: readonly TraceSpan[], { status, headers }: Response): void {
    this.#failures += 1;
    this.#why = `the collector answered ${status}`;
    if (!PASSING.includes(status)) {
      this.#lost += batch.length;
      return;
    }
    const seconds = Number(headers.get('retry-after') ?? '1');
    this.#notBeforeMs = this.#options.clock() + (Number.isFinite(seconds) ? seconds : 1) * 1_000;
    this.#queue.unshift(...batch);
  }
}

/** How many spans a collector accepted but rejected: `{"partialSuccess":{"rejectedSpans":"3"}}`. */
function rejectedIn(answer: string, most: number): number {
  const parsed = ExportAnswer.safeParse(jsonOrUndefined(answer));
  const rejected = parsed.success ? Number(parsed.data.partialSuccess?.rejectedSpans ?? 0) : 0;
  return rejected > 0 ? Math.min(rejected, most) : 0;
}

const ExportAnswer = z.object({
  partialSuccess: z.object({ rejectedSpans: z.union([z.string(), z.number()]).optional() }).nullish(),
});
