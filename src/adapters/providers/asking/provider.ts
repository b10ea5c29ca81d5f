/** A provider made of an API's dialect and of the way there. */

import { bytesBeyondTokens } from '../../../domain/images/shown.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';
import type { LlmProvider, TurnRequest } from '../../../ports.ts';
import type { EndpointOptions } from './endpoint.ts';
import type { AttemptFailure, RefusalTable } from './failures.ts';
import { askPatiently } from './patience.ts';
import { AnswerCount, type StreamReader } from './reader.ts';
import { attemptStream } from './stream.ts';

/** How an API is spoken. */
export interface Dialect {
  readonly table: RefusalTable;
  /** The body of the next request. The same conversation gives the same bytes, which keeps the cache valid. */
  body(request: TurnRequest, maxTokens: number): object;
  reader(request: TurnRequest, count: AnswerCount): StreamReader;
  /** Why the conversation cannot be continued here; null if it can. */
  objection?(request: TurnRequest): string | null;
  /** True if the next body leaves out what was refused, so that it is worth sending at once. */
  learns?(failure: AttemptFailure): boolean;
}

/** Where an API is, and how it is reached. */
export interface Access {
  /** As shown to people. */
  readonly host: string;
  /** For text from the server, which may repeat the key. */
  readonly redact: Redact;
  /** Rejects with `AttemptFailed`, or as fetch does. */
  send(body: object, signal: AbortSignal, request: TurnRequest): Promise<Response>;
}

/** A provider without its name, which is that of its entry in the registry. */
export type NamelessProvider = Omit<LlmProvider, 'name'>;

/** Asks a model for its turns. */
export function providerOf(options: EndpointOptions, access: Access, dialect: Dialect): NamelessProvider {
  const { model, idleTimeoutMs = 120_000, clock = Date.now } = options;
  const { redact } = access;
  const where = `model ${model} at ${access.host}`;
  const contact = { isMade: false };
  function attemptOnce(request: TurnRequest, maxTokens: number) {
    const body = dialect.body(request, maxTokens);
    const beyond = bytesBeyondTokens(request.conversation);
    const count = new AnswerCount(() => Buffer.byteLength(JSON.stringify(body)) - beyond);
    return attemptStream({
      send: (signal) => access.send(body, signal, request),
      reader: dialect.reader(request, count),
      table: dialect.table,
      idleTimeoutMs,
      clock,
      signal: request.signal,
      redact,
      contact,
      onBytes: (bytes) => request.onProgress({ type: 'received', bytes }),
    });
  }
  async function attempt(request: TurnRequest, maxTokens: number) {
    for (;;) {
      const result = await attemptOnce(request, maxTokens);
      if (result.status !== 'failed' || !dialect.learns?.(result.failure)) return result;
    }
  }
  return {
    model,
    complete: async (request) => {
      const objection = dialect.objection?.(request) ?? null;
      if (objection !== null)
        return { status: 'failed', kind: 'invalid_request', message: `${objection} (${where}).` };
      return askPatiently(
        { patience: options, redact, where, attempt: (maxTokens) => attempt(request, maxTokens) },
        request,
      );
    },
  };
}

/** Sends with fetch to one address. */
export function posting(
  ask: typeof fetch,
  url: URL,
  headers: Readonly<Record<string, string>>,
): Access['send'] {
  return (body, signal) =>
    ask(url.href, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
      signal,
      // A redirect would send the conversation to a host that was not chosen.
      redirect: 'manual',
    });
}
