/** The line to a server. If the server says that its session is over, a new one replaces it. */

import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { timeoutSignal } from '../../files/time-limit.ts';
import { type GivenUp, MAX_MESSAGE_BYTES, withBoundedAnswers } from './bounds.ts';
import { type ProgramTransport, programTransport, type RunProgram } from './program.ts';

/** How to connect. Times are in milliseconds. */
export interface ConnectOptions {
  readonly way:
    | { readonly by: 'stdio'; readonly run: RunProgram }
    | ({ readonly by: 'http' } & ServerAddress);
  /** Of patchsmith. */
  readonly version: string;
  /** For the connection and the list of tools together. */
  readonly connectMs: number;
  readonly signal: AbortSignal;
  /** The connection has ended by itself; `why` is in words. */
  onGone(why: string): void;
}

/** Time limit for telling a server that a session is over. */
const GOODBYE_MS = 1_000;

/** A client and its transport, one pair for each session. */
interface OpenLine {
  readonly client: Client;
  readonly transport: ProgramTransport | AddressTransport;
}

/** Its requests use the current session. */
export class ServerLine {
  /** The client that greets the server. */
  readonly first: OpenLine;
  readonly #options: ConnectOptions;
  #line: OpenLine;
  #isClosing = false;
  /** The program was ended on purpose, and the next request starts it. */
  #isResting = false;
  /** Several calls of a turn notice this at the same time. */
  #renewal: { lost: OpenLine; done: Promise<void>; stop: AbortController } | null = null;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#line = this.#open();
    this.first = this.#line;
  }

  /** Connects for the first time. */
  greet(signal: AbortSignal): Promise<void> {
    return greet(this.#line, { signal, timeout: this.#options.connectMs });
  }

  /** From now on, calls `onGone` at the end. */
  watch(): void {
    this.#watch(this.#line);
  }

  /** Like the client's, except that it uses a new session if the current one is over, and starts a program that rests. */
  readonly request: Client['request'] = async (...asked) => {
    const signal = asked[2]?.signal ?? this.#options.signal;
    if (this.#isResting) await inTime(this.#renew(this.#line), signal);
    const used = this.#line;
    try {
      return await used.client.request(...asked);
    } catch (error) {
      // This is how the protocol says that a session is over. The call has not been carried out.
      if (!isStatus(error, 404) || !hasSession(used)) throw error;
      await inTime(this.#renew(used), signal);
      return this.#line.client.request(...asked);
    }
  };

  /** Ends a program with all its processes until the next request. A server by HTTP is left alone. Never rejects. */
  async rest(): Promise<void> {
    if (this.#options.way.by === 'http') return;
    this.#isResting = true;
    // A call that timed out may have left one behind.
    this.#renewal?.stop.abort();
    await this.#renewal?.done.catch(() => undefined);
    await closeConnection(this.#line);
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await closeConnection(this.#line);
  }

  #open(): OpenLine {
    const { way, version } = this.#options;
    return {
      client: new Client({ name: 'patchsmith', version }, { capabilities: {} }),
      transport: way.by === 'stdio' ? programTransport(way.run) : addressTransport(way),
    };
  }

  #watch(line: OpenLine): void {
    line.client.onclose = () => {
      if (!this.#isClosing && !this.#isResting && this.#line === line)
        this.#options.onGone(line.transport.whyGone() ?? 'the connection has ended');
    };
  }

  #renew(lost: OpenLine): Promise<void> {
    if (this.#line !== lost) return Promise.resolve();
    if (this.#renewal?.lost === lost) return this.#renewal.done;
    const stop = new AbortController();
    const done = this.#replace(lost, stop.signal).finally(() => {
      this.#renewal = null;
    });
    this.#renewal = { lost, done, stop };
    return done;
  }

  async #replace(lost: OpenLine, stopped: AbortSignal): Promise<void> {
    const { connectMs, signal: ofRun, onGone } = this.#options;
    const next = this.#open();
    const given = AbortSignal.any([ofRun, stopped]);
    try {
      await greet(next, { signal: AbortSignal.any([given, timeoutSignal(connectMs)]), timeout: connectMs });
      if (this.#isClosing || stopped.aborted) throw new Error('the run has ended');
    } catch (error) {
      const why = next.transport.whyGone();
      await closeConnection(next);
      if (this.#isResting && !this.#isClosing && !given.aborted)
        onGone(`it could not be started again: ${why ?? `it was not ready within ${connectMs / 1_000} s`}`);
      throw error;
    }
    this.#watch(next);
    this.#line = next;
    this.#isResting = false;
    await lost.client.close().catch(() => undefined);
  }
}

async function greet(
  { client, transport }: OpenLine,
  limits: { signal: AbortSignal; timeout: number },
): Promise<void> {
  // The package's types do not support exact optional properties.
  await inTime(client.connect(transport as Transport, limits), limits.signal);
}

function hasSession({ transport }: OpenLine): boolean {
  return 'sessionId' in transport && transport.sessionId !== undefined;
}

/** Whether a server answered with one of these statuses. */
export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof StreamableHTTPError && statuses.includes(error.code ?? 0);
}

async function closeConnection({ client, transport }: OpenLine): Promise<void> {
  if ('terminateSession' in transport)
    await inTime(transport.terminateSession(), timeoutSignal(GOODBYE_MS)).catch(() => undefined);
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

/** Some waits of the library have no limit, such as the one for a body. */
export async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Error('it took too long'));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Where a server is, and how to get there. */
interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Knows the machine's proxy. */
  readonly fetch: typeof fetch;
}

/** The transport, and what is known of its end. */
type AddressTransport = StreamableHTTPClientTransport & GivenUp;

/**
 * Minimum time between two listening streams: a server chooses how soon the next one is opened, and may choose no
 * wait at all.
 */
const BETWEEN_STREAMS_MS = 1_000;

/** Redirects are followed within the origin only, so that headers go nowhere else. */
function addressTransport({ url, headers, fetch }: ServerAddress): AddressTransport {
  let why: string | null = null;
  let listensFrom = Number.NEGATIVE_INFINITY;
  const giveUp = (reason: string) => {
    why ??= reason;
    void transport.close();
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin',
    fetch: async (input, init) => {
      if (init?.method === 'GET') {
        const wait = listensFrom + BETWEEN_STREAMS_MS - performance.now();
        listensFrom = performance.now() + Math.max(0, wait);
        if (wait > 0)
          await setTimeout(wait, undefined, { ref: false, ...(init.signal ? { signal: init.signal } : {}) });
      }
      return bounded(await fetch(input, init), giveUp);
    },
  });
  return withBoundedAnswers(Object.assign(transport, { whyGone: () => why, giveUp }));
}

/** The same answer with a body that breaks off at the limit for one message. */
function bounded(answer: Response, giveUp: (why: string) => void): Response {
  if (answer.body === null) return answer;
  let size = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk);
      controller.terminate();
      giveUp(`it sent more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB in one answer`);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}
