/** One request and its answer, without any retry: everything that can go wrong is returned as a value. */

import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { APIError, APIUserAbortError } from '@anthropic-ai/sdk/error';
import { Stream } from '@anthropic-ai/sdk/streaming';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { type AttemptResult, MAX_CONTENT_BYTES } from '../asking/answer.ts';
import type { AttemptParts } from '../asking/attempt-parts.ts';
import { AnswerCount } from '../asking/counted.ts';
import { type AttemptFailure, connectionFailure, retryAfterMs, streamFailure } from '../asking/failures.ts';
import { RequestWatchdog } from '../asking/watchdog.ts';
import { AnswerTooLarge, isBodyError, lifeSigns } from '../asking/watched-body.ts';
import { AnswerBuilder } from './answer.ts';
import { clientFailure, failureOf, loginMissing } from './failures.ts';
import { LoginFailed } from './federated-login.ts';
import type { RequestBody } from './request.ts';

/** One request to the API, with its timeouts. */
export interface Attempt extends AttemptParts {
  /** Without the SDK's resources, which are most of its code and not needed for a single kind of request. */
  readonly client: BaseAnthropic;
  readonly body: RequestBody;
  /** Bytes of the request that are not tokens. */
  readonly beyondTokens: number;
  /**
   * The client converts the event stream from another framing. Whatever it throws while doing so means that the
   * answer broke off.
   */
  readonly isTranscoded: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of earlier calls in the conversation. */
  readonly earlierCalls: ReadonlySet<string>;
}

/** The SDK's own timer is not used. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Sends one request and reads the streamed answer. Does not retry; failures are values. */
export async function attemptTurn(attempt: Attempt): Promise<AttemptResult> {
  const watchdog = new RequestWatchdog(attempt.signal);
  const builder = new AnswerBuilder(
    new AnswerCount(() => Buffer.byteLength(JSON.stringify(attempt.body)) - attempt.beyondTokens),
  );
  let requestId: string | null = null;
  let begun = false;
  const failed = (failure: AttemptFailure): AttemptResult => {
    const { spent } = builder.count;
    return attempt.signal.aborted
      ? { status: 'interrupted', spent }
      : { status: 'failed', failure, spent, requestId };
  };
  try {
    watchdog.expect(
      attempt.idleTimeoutMs,
      `no answer within ${attempt.idleTimeoutMs / 1000} s (see --idle-timeout)`,
    );
    // `messages.create` sends the same request, but also prints warnings to stderr, once per turn.
    const answer = attempt.client
      .post('/v1/messages', {
        body: attempt.body,
        headers: attempt.headers,
        signal: watchdog.signal,
        timeout: NO_TIMEOUT_MS,
      })
      .asResponse();
    const response = await Promise.race([answer, onceAborted(watchdog.signal)]);
    begun = true;
    requestId = response.headers.get('request-id') ?? response.headers.get('x-amzn-requestid');
    return await readAnswer(attempt, response, { builder, watchdog, failed });
  } catch (error) {
    builder.count.isUnanswered = !begun && (attempt.signal.aborted || watchdog.reason !== null);
    if (attempt.signal.aborted) return { status: 'interrupted', spent: builder.count.spent };
    if (isApiError(error)) {
      requestId = error.requestID ?? requestId;
      return failed(refusalOf(error, watchdog, attempt));
    }
    if (error instanceof AnswerTooLarge) return failed(streamFailure(error.message, 'never'));
    if (error instanceof LoginFailed) return failed(error.failure);
    if (isBodyError(error) || (attempt.isTranscoded && begun && error instanceof Error)) {
      return failed(streamFailure(`The answer broke off: ${watchdog.reason ?? innermostMessage(error)}`));
    }
    if (!begun && error instanceof Error)
      return failed(clientFailure(attempt.redact(innermostMessage(error))));
    throw error;
  } finally {
    watchdog.stop();
  }
}

/** How long a client that was interrupted may take to say what it knows, such as a status without a body. */
const LAST_WORDS_MS = 250;

/** The login of a cloud, which its client waits for before the request, knows no signal. */
function onceAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => void setTimeout(() => reject(new APIUserAbortError()), LAST_WORDS_MS).unref();
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

interface AnswerReading {
  readonly builder: AnswerBuilder;
  readonly watchdog: RequestWatchdog;
  failed(failure: AttemptFailure): AttemptResult;
}

async function readAnswer(
  attempt: Attempt,
  response: Response,
  { builder, watchdog, failed }: AnswerReading,
): Promise<AttemptResult> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || !type.includes('text/event-stream')) {
    return failed(
      streamFailure(
        `The endpoint answered with ${type || 'no content type'} instead of an event stream`,
        'never',
      ),
    );
  }
  const { count } = builder;
  count.hasBegun = true;
  let isFirst = true;
  const refused = (data: string) => {
    // A refusal in the stream costs nothing, just like one with an error status.
    count.hasBegun &&= !isFirst;
    return failed(errorEvent(attempt.redact(data)));
  };
  const body = response.body.pipeThrough(lifeSigns(attempt.idleTimeoutMs, watchdog, attempt.onBytes));
  for await (const { event, data } of Stream.rawEvents(new Response(body))) {
    if (event === 'error') return refused(data);
    const parsed = parseEvent(data);
    // Comments and fields without data are legal and have no meaning.
    if (parsed === 'empty') continue;
    if (parsed === 'malformed')
      return failed(streamFailure('The answer contains an event that is not valid JSON'));
    if (parsed.type === 'error') return refused(data);
    const step = builder.add(parsed);
    isFirst &&= parsed.type === 'ping';
    if (step.status === 'broken') return failed(streamFailure(step.why));
    if (step.status === 'too_large') throw new AnswerTooLarge('answer', MAX_CONTENT_BYTES);
    if (step.status === 'more') {
      if (step.text !== '') attempt.onText(step.text);
      continue;
    }
    const finished = builder.finish(attempt.earlierCalls);
    switch (finished.status) {
      case 'ok':
        return { status: 'ok', answer: finished.answer };
      case 'broken':
        return failed(streamFailure(finished.why));
      case 'unknown_stop':
        return failed(
          streamFailure(`The answer ended with the unknown stop reason "${finished.reason}"`, 'never'),
        );
    }
  }
  return failed(streamFailure('The answer ended before it was complete'));
}

function parseEvent(data: string): { type: string } | 'empty' | 'malformed' {
  if (data === '') return 'empty';
  const value = jsonOrUndefined(data);
  if (typeof value !== 'object' || value === null || !('type' in value)) return 'malformed';
  return typeof value.type === 'string' ? { ...value, type: value.type } : 'malformed';
}

function errorEvent(data: string): AttemptFailure {
  const body = parseEvent(data);
  const error = typeof body === 'object' && 'error' in body ? body.error : null;
  const field = (name: string): string | null => stringField(error, name);
  const details = typeof error === 'object' && error !== null && 'details' in error ? error.details : null;
  return failureOf({
    status: null,
    type: field('type'),
    code: stringField(details, 'error_code'),
    message: field('message') ?? data,
    retryAfterMs: null,
  });
}

function stringField(value: unknown, name: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const field: unknown = Reflect.get(value, name);
  return typeof field === 'string' ? field : null;
}

/** The clients of other clouds come with their own SDK, with different classes. */
function isApiError(error: unknown): error is APIError {
  if (error instanceof APIError) return true;
  return error instanceof Error && 'requestID' in error && 'status' in error && 'headers' in error;
}

/** What these clients say when they find no cloud login; retrying does not help. */
const NO_LOGIN = /^Failed to (?:resolve AWS|acquire Google OAuth) credentials/;

function refusalOf(error: APIError, watchdog: RequestWatchdog, { clock, redact }: Attempt): AttemptFailure {
  if (NO_LOGIN.test(error.message)) return loginMissing(redact(innermostMessage(error)));
  if (error.status === undefined) {
    return connectionFailure(watchdog.reason ?? innermostMessage(error));
  }
  return failureOf({
    status: error.status,
    type: error.type,
    code: error.errorCode,
    message: redact(error.apiMessage ?? error.message),
    retryAfterMs: retryAfterMs(error.headers?.get('retry-after') ?? null, clock()),
  });
}
