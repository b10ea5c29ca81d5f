/** The line to a server. Where the server says that its session is over, another takes the place of the first. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { timeoutSignal } from '../../host/timeout-signal.ts';
import { type AddressTransport, addressTransport, type ServerAddress } from './address.ts';
import { totalBytes } from './bounds.ts';
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
  /** The server says that its tools are others now. */
  onChange(): void;
  /** The connection has ended by itself; why is in words. */
  onGone(why: string): void;
}

/** How long a server may take to hear that a session is over. */
const GOODBYE_MS = 1_000;

/** A client and how it speaks to the server: another for each session. */
interface OpenLine {
  readonly client: Client;
  readonly transport: ProgramTransport | AddressTransport;
}

/** Its requests go over the session that is open now. */
export class ServerLine {
  /** The client that the server is greeted with. */
  readonly first: OpenLine;
  readonly #options: ConnectOptions;
  // What a server may send in a run does not begin anew with a session.
  readonly #total = totalBytes();
  #line: OpenLine;
  #isClosing = false;
  /** Calls of one turn find out together. */
  #renewal: { lost: OpenLine; done: Promise<void> } | null = null;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#line = this.#open();
    this.first = this.#line;
  }

  /** Connects for the first time. */
  greet(signal: AbortSignal): Promise<void> {
    return greet(this.#line, { signal, timeout: this.#options.connectMs });
  }

  /** From here on, `onChange` hears of other tools, and `onGone` of the end. */
  watch(): void {
    this.#watch(this.#line);
  }

  /** As the client's, but for a session that is over: then over the next one. */
  readonly request: Client['request'] = async (...asked) => {
    const used = this.#line;
    try {
      return await used.client.request(...asked);
    } catch (error) {
      // The protocol's way to say that a session is over. Nothing was done of the call.
      if (!isStatus(error, 404) || !hasSession(used)) throw error;
      await inTime(this.#renew(used), asked[2]?.signal ?? this.#options.signal);
      return this.#line.client.request(...asked);
    }
  };

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await closeConnection(this.#line);
  }

  #open(): OpenLine {
    const { way, version } = this.#options;
    return {
      client: new Client({ name: 'patchsmith', version }, { capabilities: {} }),
      transport: way.by === 'stdio' ? programTransport(way.run) : addressTransport(way, this.#total),
    };
  }

  #watch(line: OpenLine): void {
    line.client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#options.onChange());
    line.client.onclose = () => {
      if (!this.#isClosing && this.#line === line)
        this.#options.onGone(line.transport.whyGone() ?? 'the connection has ended');
    };
  }

  #renew(lost: OpenLine): Promise<void> {
    if (this.#line !== lost) return Promise.resolve();
    if (this.#renewal?.lost === lost) return this.#renewal.done;
    const done = this.#replace(lost).finally(() => {
      this.#renewal = null;
    });
    this.#renewal = { lost, done };
    return done;
  }

  async #replace(lost: OpenLine): Promise<void> {
    const { connectMs, signal: ofRun } = this.#options;
    const next = this.#open();
    const signal = AbortSignal.any([ofRun, timeoutSignal(connectMs)]);
    try {
      await greet(next, { signal, timeout: connectMs });
      if (this.#isClosing) throw new Error('the run has ended');
    } catch (error) {
      await closeConnection(next);
      throw error;
    }
    this.#watch(next);
    this.#line = next;
    await lost.client.close().catch(() => undefined);
  }
}

async function greet(
  { client, transport }: OpenLine,
  limits: { signal: AbortSignal; timeout: number },
): Promise<void> {
  // The types of the package are not written for exact optional properties.
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

/** Some waits of the library have no limit of their own, such as that for a body. */
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
