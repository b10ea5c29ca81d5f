/** One request and its streamed answer, without any retry: everything that can go wrong is returned as a value. */

import { EventSourceParserStream } from 'eventsource-parser/stream';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { depthOf, jsonOrUndefined } from '../../../domain/text/json.ts';
import { type Answer, type AttemptResult, MAX_CONTENT_BYTES } from './answer.ts';
import type { AttemptParts } from './attempt-parts.ts';
import type { AnswerCount } from './counted.ts';
import { type AttemptFailure, connectionFailure, retryAfterMs, streamFailure } from './failures.ts';
import { type RefusalSaid, refusalSaid } from './refusal-said.ts';
import { MAX_DEPTH } from './tool-input.ts';
import { RequestWatchdog } from './watchdog.ts';
import { AnswerTooLarge, isBodyError, lifeSigns } from './watched-body.ts';

/** Where one request goes, with its timeouts. */
export interface StreamAttempt extends AttemptParts {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ask: typeof fetch;
  /** Looked up in the API's error table. */
  failureOf(refusal: RefusedRequest): AttemptFailure;
}

/** How a server refused a request. */
export interface RefusedRequest {
  /** Null for an error that arrived inside a stream. */
  readonly status: number | null;
  readonly said: RefusalSaid;
  /** The wait that the server requested; null if none. */
  readonly retryAfterMs: number | null;
}

/** The effect of one event: `text` can be shown; all others end the stream. */
export type ReadStep =
  | { status: 'more'; text: string }
  | { status: 'done' }
  | { status: 'broken'; why: string }
  | { status: 'refused'; said: RefusalSaid }
  | { status: 'too_large' };

/** The whole answer; `broken`: another attempt may succeed; `unusable`: none will. */
export type ReadEnd =
  | { status: 'ok'; answer: Answer }
  | { status: 'broken'; why: string }
  | { status: 'unusable'; why: string };

/** Builds one answer from the events of a stream. */
export interface StreamReader {
  readonly count: AnswerCount;
  add(event: object): ReadStep;
  /** Called once, after `done` or at the end of the stream. */
  finish(): ReadEnd;
}

/** Sends one request and reads its answer. `readerOf` gets the bytes of the request. */
export async function attemptStream(
  attempt: StreamAttempt,
  request: object,
  readerOf: (requestBytes: number) => StreamReader,
): Promise<AttemptResult> {
  const watchdog = new RequestWatchdog(attempt.signal);
  const body = JSON.stringify(request);
  const reader = readerOf(Buffer.byteLength(body));
  let requestId: string | null = null;
  const failed = (failure: AttemptFailure): AttemptResult =>
    attempt.signal.aborted
      ? { status: 'interrupted', spent: reader.count.spent }
      : { status: 'failed', failure, spent: reader.count.spent, requestId };
  let response: Response | null = null;
  try {
    const seconds = attempt.idleTimeoutMs / 1_000;
    watchdog.expect(attempt.idleTimeoutMs, `no answer within ${seconds} s (see --idle-timeout)`);
    response = await attempt.ask(attempt.url, {
      method: 'POST',
      headers: { ...attempt.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body,
      signal: watchdog.signal,
      // A redirect would send the conversation to a host that was not chosen.
      redirect: 'manual',
    });
    requestId = response.headers.get('x-request-id');
    if (!response.ok) {
      const said = refusalSaid(attempt.redact(await response.text()));
      const retryAfterMs = said.waitMs ?? waitAsked(response.headers, attempt.clock());
      return failed(attempt.failureOf({ status: response.status, said, retryAfterMs }));
    }
    return await readAnswer(attempt, response, reader, watchdog, failed);
  } catch (error) {
    reader.count.isUnanswered = response === null && (attempt.signal.aborted || watchdog.reason !== null);
    if (attempt.signal.aborted) return { status: 'interrupted', spent: reader.count.spent };
    if (error instanceof AnswerTooLarge) return failed(streamFailure(error.message, 'never'));
    if (response === null && error instanceof Error && isFetchError(error))
      return failed(connectionFailure(watchdog.reason ?? innermostMessage(error)));
    if (isBodyError(error))
      return failed(streamFailure(`The answer broke off: ${watchdog.reason ?? innermostMessage(error)}`));
    throw error;
  } finally {
    watchdog.stop();
  }
}

async function readAnswer(
  attempt: StreamAttempt,
  response: Response,
  reader: StreamReader,
  watchdog: RequestWatchdog,
  failed: (failure: AttemptFailure) => AttemptResult,
): Promise<AttemptResult> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || !type.includes('text/event-stream'))
    return failed(
      streamFailure(
        `The endpoint answered with ${type || 'no content type'} instead of an event stream`,
        'never',
      ),
    );
  const { count } = reader;
  count.hasBegun = true;
  let isFirst = true;
  const events = response.body
    .pipeThrough(lifeSigns(attempt.idleTimeoutMs, watchdog, attempt.onBytes))
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    if (data === '') continue;
    if (data === '[DONE]') break;
    const event = depthOf(data) > MAX_DEPTH ? null : jsonOrUndefined(data);
    if (typeof event !== 'object' || event === null)
      return failed(streamFailure('The answer contains an event that is not valid JSON'));
    const step = reader.add(event);
    if (step.status === 'broken') return failed(streamFailure(step.why));
    if (step.status === 'too_large') throw new AnswerTooLarge('answer', MAX_CONTENT_BYTES);
    if (step.status === 'refused') {
      // A refusal in the stream costs nothing, just like one with an error status.
      count.hasBegun &&= !isFirst;
      const message = attempt.redact(step.said.message);
      const said = { ...step.said, message };
      return failed(attempt.failureOf({ status: null, said, retryAfterMs: said.waitMs }));
    }
    isFirst = false;
    if (step.status === 'done') break;
    if (step.text !== '') attempt.onText(step.text);
  }
  const end = reader.finish();
  switch (end.status) {
    case 'ok':
      return { status: 'ok', answer: end.answer };
    case 'broken':
      return failed(streamFailure(end.why));
    case 'unusable':
      return failed(streamFailure(end.why, 'never'));
  }
}

/** OpenAI also gives the wait in milliseconds, which is more precise. */
function waitAsked(headers: Headers, now: number): number | null {
  const ms = headers.get('retry-after-ms');
  const exact = ms === null || ms.trim() === '' ? Number.NaN : Number(ms);
  return Number.isFinite(exact)
    ? Math.max(0, Math.round(exact))
    : retryAfterMs(headers.get('retry-after'), now);
}

/** What fetch throws if no answer begins: no connection, or an abort by our own watchdog. */
function isFetchError(error: Error): boolean {
  return error.name === 'AbortError' || error instanceof TypeError;
}
