/** One request and its streamed answer, without any retry: everything that can go wrong is returned as a value. */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import type { SpentTokens } from '../../../domain/run/budget.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { formatNumber } from '../../../domain/text/words.ts';
import { startOfText } from '../../../files/regular-file.ts';
import type { Clock } from '../../../ports.ts';
import {
  type AttemptFailure,
  connectionFailure,
  isUnreachable,
  type RefusalTable,
  refusalFailure,
  refusalSaid,
  retryAfterMs,
  streamFailure,
} from './failures.ts';
import { type Answer, errorIn, type StreamReader } from './reader.ts';

/** One request, and what becomes of its answer. */
export interface StreamAttempt {
  /** Resolves with the answer's beginning. Rejects with `AttemptFailed`, or as fetch does. */
  send(signal: AbortSignal): Promise<Response>;
  readonly reader: StreamReader;
  readonly table: RefusalTable;
  /** Longest silence before and during the answer; any byte ends a silence. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For text from the other side, which may repeat a secret. */
  readonly redact: Redact;
  /** Whether anything has ever answered there; set when something does. */
  readonly contact: { isMade: boolean };
  /** Called with the number of bytes received so far. */
  onBytes(bytes: number): void;
}

/** `spent` is what a broken answer used; `requestId` is the API's name for the request. */
export type AttemptResult =
  | { status: 'ok'; answer: Answer }
  | {
      status: 'failed';
      failure: AttemptFailure;
      spent: SpentTokens | undefined;
      requestId: string | null;
    }
  | { status: 'interrupted'; spent: SpentTokens | undefined };

/** Thrown through a vendor's client, and by one that failed before anything was sent. */
export class AttemptFailed extends Error {
  readonly failure: AttemptFailure;

  constructor(failure: AttemptFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** An API error has a few hundred bytes; anything longer comes from a proxy and does not help. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** A fetch for servers that may send an endless error: its text is cut off after 64 KiB, decompressed. */
export function withBoundedRefusals(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init);
    if (response.ok || response.body === null) return response;
    // Without its text, the status says enough.
    const text = (): Promise<string> => startOfText(response.body, MAX_REFUSAL_BYTES).catch(() => '');
    return Object.defineProperty(response, 'text', { value: text });
  };
}

/** Sends one request and reads its answer. */
export async function attemptStream(attempt: StreamAttempt): Promise<AttemptResult> {
  const { signal, reader, idleTimeoutMs } = attempt;
  const idle = new IdleTimer(signal, idleTimeoutMs);
  let response: Response | null = null;
  let requestId: string | null = null;
  const failed = (failure: AttemptFailure): AttemptResult =>
    signal.aborted
      ? { status: 'interrupted', spent: reader.count.spent }
      : { status: 'failed', failure, spent: reader.count.spent, requestId };
  try {
    idle.expect(`no answer within ${idleTimeoutMs / 1_000} s`);
    response = await attempt.send(idle.signal);
    attempt.contact.isMade = true;
    requestId = REQUEST_IDS.map((name) => response?.headers.get(name)).find(Boolean) ?? null;
    if (!response.ok) return failed(await refusalIn(response, attempt));
    const end = await readAnswer(attempt, response, idle);
    return 'message' in end ? failed(end) : { status: 'ok', answer: end };
  } catch (error) {
    reader.count.isUnanswered = response === null && (signal.aborted || idle.reason !== null);
    if (signal.aborted) return { status: 'interrupted', spent: reader.count.spent };
    if (error instanceof AttemptFailed) return failed(error.failure);
    if (response === null && isFetchError(error)) {
      const isNew = !attempt.contact.isMade && idle.reason === null && isUnreachable(error);
      const why = attempt.redact(idle.reason ?? innermostMessage(error));
      return failed(connectionFailure(why, isNew ? 'unreachable' : 'outage'));
    }
    throw error;
  } finally {
    idle.stop();
  }
}

const REQUEST_IDS = ['request-id', 'x-request-id', 'x-amzn-requestid'];

/** What fetch throws if no answer begins: no connection, or an abort by our own timer. */
function isFetchError(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'AbortError' || error instanceof TypeError);
}

async function refusalIn(
  response: Response,
  { redact, clock, table }: StreamAttempt,
): Promise<AttemptFailure> {
  const { status, headers } = response;
  const said = refusalSaid(redact(await response.text()));
  return refusalFailure({ status, said, retryAfterMs: said.waitMs ?? retryAfterMs(headers, clock()) }, table);
}

async function readAnswer(
  attempt: StreamAttempt,
  response: Response,
  idle: IdleTimer,
): Promise<Answer | AttemptFailure> {
  const { reader, redact } = attempt;
  const type = response.headers.get('content-type') || 'no content type';
  if (response.body === null || !type.includes('text/event-stream'))
    return streamFailure(`The endpoint answered with ${type} instead of an event stream`, 'never');
  reader.count.hasBegun = true;
  let isFirst = true;
  for await (const { event: name, data } of eventsIn(response.body, attempt, idle)) {
    // Comments and fields without data are legal and have no meaning.
    if (data === '') continue;
    if (data === '[DONE]') break;
    const event = jsonOrUndefined(data);
    if (typeof event !== 'object' || event === null)
      return streamFailure('The answer contains an event that is not valid JSON');
    const said = errorIn(name, event);
    const step = said === null ? reader.add(event) : ({ status: 'refused', said } as const);
    if (step.status === 'broken') return streamFailure(step.why);
    if (reader.count.answerBytes > MAX_CONTENT_BYTES) throw tooLarge('answer', MAX_CONTENT_BYTES);
    if (step.status === 'refused') {
      // A refusal in the stream costs nothing, just like one with an error status.
      reader.count.hasBegun &&= !isFirst;
      const shown = { ...step.said, message: redact(step.said.message) };
      return refusalFailure({ status: null, said: shown, retryAfterMs: shown.waitMs }, attempt.table);
    }
    isFirst &&= 'type' in event && event.type === 'ping';
    if (step.status === 'done') break;
  }
  const end = reader.finish();
  if (end.status === 'ok') return end.answer;
  return streamFailure(end.why, end.status === 'broken' ? 'broken' : 'never');
}

/**
 * Maximum bytes of text, thinking and tool input in one answer. The largest answer a model can give is less than a megabyte;
 * a larger one would use several times its size before any tool could refuse it.
 */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a whole stream, most of which is overhead around small pieces. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;

/** The events of a body, which is limited and watched for silence. Every chunk is a sign of life. */
async function* eventsIn(
  body: ReadableStream<Uint8Array>,
  { idleTimeoutMs, onBytes }: StreamAttempt,
  idle: IdleTimer,
): AsyncGenerator<EventSourceMessage> {
  const found: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void found.push(event) });
  const decoder = new TextDecoder();
  const chunks = body.getReader();
  let bytes = 0;
  let lineBytes = 0;
  for (;;) {
    idle.expect(`nothing came for ${idleTimeoutMs / 1_000} s`);
    // Whatever a stream throws, also one that a vendor's client has unwrapped, means that it broke off.
    const { done, value } = await chunks.read().catch((error: unknown) => {
      const why = idle.reason ?? (error instanceof Error ? innermostMessage(error) : String(error));
      throw new AttemptFailed(streamFailure(`The answer broke off: ${why}`));
    });
    if (done) return;
    bytes += value.byteLength;
    onBytes(bytes);
    if (bytes > MAX_STREAM_BYTES) throw tooLarge('stream', MAX_STREAM_BYTES);
    // A line is an event, of which memory holds several copies before it is counted; escapes can double its size.
    const lineEnd = value.lastIndexOf(NEWLINE);
    lineBytes = lineEnd === -1 ? lineBytes + value.byteLength : value.byteLength - lineEnd - 1;
    if (lineBytes > 2 * MAX_CONTENT_BYTES) throw tooLarge('answer', MAX_CONTENT_BYTES);
    parser.feed(decoder.decode(value, { stream: true }));
    yield* found.splice(0);
  }
}

/** Another attempt would cost the same, and most likely end the same way. */
function tooLarge(what: string, bytes: number): AttemptFailed {
  const why = `The model's ${what} exceeds the limit of ${formatNumber(bytes)} bytes; ask for smaller steps in the plan`;
  return new AttemptFailed(streamFailure(why, 'never'));
}

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Its `signal` aborts when a wait takes too long or the outer signal aborts. */
class IdleTimer {
  /** Why it aborted; null if it did not. */
  reason: string | null = null;
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #idleTimeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal, idleTimeoutMs: number) {
    this.#idleTimeoutMs = Math.min(idleTimeoutMs, MAX_TIMER_MS);
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
  }

  /** Requires something to happen in time; replaces the previous expectation. */
  expect(reason: string): void {
    clearTimeout(this.#timer);
    if (this.reason !== null) return;
    this.#timer = setTimeout(() => {
      this.reason ??= `${reason} (see --idle-timeout)`;
      this.#controller.abort();
    }, this.#idleTimeoutMs);
  }

  /** Closes whatever is left of the request, and removes the timer. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }
}
