/** A connection to an MCP server: its tools at the start, and calls to them. Loaded only if servers are configured. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, ListToolsResultSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Failed, failed } from '../../domain/failed.ts';
import type { OfferedTool } from '../../domain/mcp/chosen-tools.ts';
import { asSeen, CallAnswer } from '../../domain/mcp/result-text.ts';
import { shortened } from '../../domain/text/shorten.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import { type ProgramTransport, programTransport, type RunProgram } from './program.ts';

/** How to connect. Times are in milliseconds. */
export interface ConnectOptions {
  readonly way:
    | { readonly by: 'stdio'; readonly run: RunProgram }
    | {
        readonly by: 'http';
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        /** Knows the machine's proxy. */
        readonly fetch: typeof fetch;
      };
  /** Of patchsmith. */
  readonly version: string;
  /** For the connection and the list of tools together. */
  readonly connectMs: number;
  readonly signal: AbortSignal;
  /** The connection has ended by itself; `why` is in words. */
  onGone(why: string): void;
}

/** How a call ended. `message` has no full stop. */
export type CallEnd =
  | { status: 'answered'; answer: CallAnswer }
  | {
      status: 'failed';
      reason: 'timeout' | 'interrupted' | 'invalid_input' | 'unreached' | 'server';
      message: string;
    };

/** More tools than any model can use well, and more characters than those of any server take to describe. */
const MAX_TOOLS = 256;
const MAX_LISTED = 8 * 1024 * 1024;
/** Most bytes of one answer by HTTP, of all answers that have not ended, and most requests by HTTP that wait for one. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
const MAX_WAITING = 256;
/** Time limit for telling a server that a session is over. */
const GOODBYE_MS = 1_000;

/** A client and its transport. */
interface ServerSession {
  readonly client: Client;
  readonly transport: ProgramTransport | StreamableHTTPClientTransport;
  /** Aborted when the session is no longer wanted. */
  readonly stop: AbortController;
}

/** Connects and lists the tools within the given time. On failure, ends what was started. */
export async function connectServer(
  options: ConnectOptions,
): Promise<{ status: 'ok'; connection: ServerConnection } | Failed> {
  const connection = new ServerConnection(options);
  try {
    await connection.open();
    return { status: 'ok', connection };
  } catch (error) {
    return failed(options.signal.aborted ? 'the run was stopped' : messageOf(error));
  }
}

/** A server that was reached. Its calls open a new session if the old one is over, and start a program that rests. */
export class ServerConnection {
  /** As the server lists them at the start, neither cleaned nor chosen. */
  tools: readonly OfferedTool[] = [];
  /** Name and version, according to the server. */
  version: string | null = null;
  readonly #options: ConnectOptions;
  /** The current one; null if the next call has to open one. Several calls of a turn may wait for it. */
  #session: (ServerSession & { readonly opened: Promise<void> }) | null = null;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  /** The current session, or a new one. */
  async open(): Promise<ServerSession> {
    this.#session ??= this.#newSession();
    const own = this.#session;
    try {
      await own.opened;
      return own;
    } catch (error) {
      if (this.#session === own) this.#session = null;
      throw error;
    }
  }

  /** Calls a tool. Never rejects. */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<CallEnd> {
    const request = { method: 'tools/call' as const, params: { name, arguments: { ...input } } };
    const ask = ({ client }: ServerSession) =>
      client.request(request, CallAnswer, {
        ...{ timeout: timeoutMs, maxTotalTimeout: timeoutMs },
        // The library leaves its listeners on the signal, and all calls of a run share one.
        signal: AbortSignal.any([signal]),
      });
    const ended = (reason: Exclude<CallEnd, { status: 'answered' }>['reason'], message: string): CallEnd => ({
      ...{ status: 'failed', reason, message },
    });
    try {
      const session = await inTime(this.open(), signal);
      const answer = await ask(session).catch(async (error: unknown) => {
        // This is how the protocol says that a session is over. The call has not been carried out.
        if (!isStatus(error, 404) || !session.transport.sessionId) throw error;
        if (this.#session === session) this.#session = null;
        session.stop.abort();
        await session.client.close();
        return ask(await inTime(this.open(), signal));
      });
      return { status: 'answered', answer };
    } catch (error) {
      if (signal.aborted) return ended('interrupted', 'the run was stopped');
      const code = error instanceof McpError ? error.code : null;
      if (code === ErrorCode.RequestTimeout)
        return ended('timeout', `there was no answer within ${timeoutMs / 1_000} s`);
      // The platform's words for a missing or lost connection; the statuses come from a gateway, or mean that a session is over.
      const isUnreached =
        (error instanceof TypeError && error.message === 'fetch failed') ||
        isStatus(error, 404, 502, 503, 504);
      if (isUnreached) return ended('unreached', messageOf(error));
      return ended(code === ErrorCode.InvalidParams ? 'invalid_input' : 'server', messageOf(error));
    }
  }

  /** Ends a program with all its processes until the next call. A server by HTTP is left alone. Never rejects. */
  async rest(): Promise<void> {
    if (this.#options.way.by === 'stdio') await this.close();
  }

  /** Ends the session, and the server if it was started here. Never rejects. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    // A call that timed out may have left one that is being opened.
    session?.stop.abort();
    await session?.opened.catch(() => undefined);
    if (session !== null) await closeSession(session);
  }

  #newSession() {
    const { way, version } = this.#options;
    const session = {
      client: new Client({ name: 'patchsmith', version }, { capabilities: {} }),
      transport:
        way.by === 'stdio'
          ? programTransport(way.run)
          : new StreamableHTTPClientTransport(new URL(way.url), {
              requestInit: { headers: { ...way.headers } },
              // Headers go nowhere else.
              redirectPolicy: 'same-origin',
              fetch: bounded(way.fetch),
            }),
      stop: new AbortController(),
    };
    return { ...session, opened: this.#opened(session) };
  }

  async #opened({ client, transport, stop }: ServerSession): Promise<void> {
    const { way, connectMs, signal: ofRun, onGone } = this.#options;
    const isFirst = this.version === null;
    const late = timeoutSignal(connectMs);
    const signal = AbortSignal.any([ofRun, stop.signal, late]);
    try {
      // The package's types do not support exact optional properties.
      await inTime(client.connect(transport as Transport, { timeout: connectMs }), signal);
      if (isFirst) {
        this.tools = await inTime(toolsOf(client, connectMs), signal);
        const { name = '', version = '' } = client.getServerVersion() ?? {};
        this.version = shortened(asSeen(`${name} ${version}`).trim(), 100);
      }
      signal.throwIfAborted();
    } catch (error) {
      const why = late.aborted ? `it was not ready within ${connectMs / 1_000} s` : whyGone(transport);
      await closeSession({ client, transport });
      if (way.by === 'stdio' && !isFirst && !ofRun.aborted && !stop.signal.aborted)
        onGone(`it could not be started again: ${why ?? messageOf(error)}`);
      throw why === null ? error : new Error(why);
    }
    client.onclose = () => {
      if (!stop.signal.aborted) onGone(whyGone(transport) ?? 'the connection has ended');
    };
  }
}

async function toolsOf(client: Client, timeout: number): Promise<OfferedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: OfferedTool[] = [];
  let listed = 0;
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const list = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, { timeout });
    for (const { name, description = '', inputSchema, annotations } of list.tools)
      tools.push({ name, description, inputSchema, isReadOnly: annotations?.readOnlyHint === true });
    if (tools.length > MAX_TOOLS) throw new Error(`it has more than ${MAX_TOOLS} tools`);
    listed += JSON.stringify(list.tools).length;
    if (listed > MAX_LISTED) throw new Error('it describes its tools in more than 8 MiB');
    cursor = list.nextCursor;
    // One that sends empty parts without end is given up when its time to connect is over.
  } while (cursor !== undefined);
  return tools;
}

/**
 * Checks schemas against the meta-schema of draft 2020-12, without compiling them: a model's API refuses the whole request for an
 * invalid one.
 */
export function schemaChecker(): (schema: Readonly<Record<string, unknown>>) => boolean {
  const ajv = new Ajv2020({ strict: false, logger: false });
  return (schema) => ajv.validateSchema({ ...schema }) === true;
}

/** An answer without end would fill the runner's memory, and so would ours to a server that asks without end. */
function bounded(ask: typeof fetch): typeof fetch {
  let waiting = 0;
  let open = 0;
  return async (url, init) => {
    if (waiting >= MAX_WAITING) throw new Error('it asks faster than it takes the answers');
    waiting += 1;
    const response = await ask(url, init).finally(() => {
      waiting -= 1;
    });
    if (response.body === null) return response;
    let bytes = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        open += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) throw new Error('it sent more than 8 MiB in one answer');
        if (open > MAX_OPEN_BYTES) throw new Error('it sent more than 64 MiB in answers that do not end');
        controller.enqueue(chunk);
      },
    });
    const ended = () => {
      open -= bytes;
    };
    // A broken connection ends an answer too; its reader sees the error.
    response.body.pipeTo(counted.writable).then(ended, ended);
    return new Response(counted.readable, response);
  };
}

/** Whether a server answered with one of these statuses. */
function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof StreamableHTTPError && statuses.includes(error.code ?? 0);
}

function whyGone(transport: ServerSession['transport']): string | null {
  return 'whyGone' in transport ? transport.whyGone() : null;
}

async function closeSession({ client, transport }: Omit<ServerSession, 'stop'>): Promise<void> {
  if ('terminateSession' in transport)
    await inTime(transport.terminateSession(), timeoutSignal(GOODBYE_MS)).catch(() => undefined);
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

/** Some waits of the library have no limit, such as the one for a body. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Error('it took too long'));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop));
}

/** What a server says about itself is cleaned and bounded. The cause explains a failed fetch. */
function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return shortened(asSeen(`${said}${cause}`).trim(), 2_000);
}
