/** A connection to an MCP server: its tools as they were at the start, and calls to them. Loaded only where servers are configured. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type Failed, failed } from '../../domain/failed.ts';
import { asSeen } from '../../domain/mcp/foreign-text.ts';
import { CallAnswer, ResourceContents } from '../../domain/mcp/result-text.ts';
import { shortened } from '../../domain/text/shorten.ts';
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

/** A tool as its server describes it: nothing of it is clean or bounded yet. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The server says that it changes nothing. */
  readonly isReadOnly: boolean;
}

/** A server that is there. */
export interface ServerConnection {
  readonly tools: readonly ListedTool[];
  readonly hasResources: boolean;
  /** Name and version, as it says. */
  readonly version: string;
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    limits: CallLimits,
  ): Promise<CallEnd<CallAnswer>>;
  read(uri: string, limits: CallLimits): Promise<CallEnd<ResourceContents>>;
  /** Ends the server, if it was started here. Never rejects. */
  close(): Promise<void>;
}

/** When to give up a call. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a call ended. `message` has no full stop. */
export type CallEnd<Answer> =
  | { status: 'answered'; answer: Answer }
  | {
      status: 'failed';
      reason: 'timeout' | 'interrupted' | 'invalid_input' | 'unreached' | 'server';
      message: string;
    };

/** More tools than any model can use well. */
const MAX_TOOLS = 256;
/** A list in more parts than this never ends. */
const MAX_PAGES = 32;
/** How long a server may take to hear that a session is over. */
const GOODBYE_MS = 1_000;

/** Connects and lists the tools, in the given time. What was started is ended when that fails. */
export async function connectServer(
  options: ConnectOptions,
): Promise<({ status: 'ok' } & ServerConnection) | Failed> {
  const { way, version, connectMs, onChange, onGone } = options;
  // What a server may send in a run does not begin anew with a session.
  const total = totalBytes();
  const newLine = (): OpenLine => ({
    client: new Client({ name: 'patchsmith', version }, { capabilities: {} }),
    transport: way.by === 'stdio' ? programTransport(way.run) : addressTransport(way, total),
  });
  let line = newLine();
  const { client, transport } = line;
  const timeout = timeoutSignal(connectMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    await greet(line, { signal, timeout: connectMs });
    const tools = await inTime(listTools(client, { signal, timeout: connectMs }), signal);
    let isClosing = false;
    const watch = (one: OpenLine) => {
      one.client.setNotificationHandler(ToolListChangedNotificationSchema, () => onChange());
      one.client.onclose = () => {
        if (!isClosing && line === one) onGone(one.transport.whyGone() ?? 'the connection has ended');
      };
    };
    watch(line);
    const replaced = async (lost: OpenLine) => {
      const next = newLine();
      const own = AbortSignal.any([options.signal, timeoutSignal(connectMs)]);
      try {
        await greet(next, { signal: own, timeout: connectMs });
        if (isClosing) throw new Error('the run has ended');
      } catch (error) {
        await closeConnection(next);
        throw error;
      }
      watch(next);
      line = next;
      await lost.client.close().catch(() => undefined);
    };
    // Calls of one turn find out together.
    let renewal: { lost: OpenLine; done: Promise<void> } | null = null;
    const renew = (lost: OpenLine): Promise<void> => {
      if (line !== lost) return Promise.resolve();
      if (renewal?.lost === lost) return renewal.done;
      const done = replaced(lost).finally(() => {
        renewal = null;
      });
      renewal = { lost, done };
      return done;
    };
    const request: Client['request'] = async (...asked) => {
      const used = line;
      try {
        return await used.client.request(...asked);
      } catch (error) {
        // The protocol's way to say that a session is over. Nothing was done of the call.
        if (!isStatus(error, 404) || !hasSession(used)) throw error;
        await inTime(renew(used), asked[2]?.signal ?? options.signal);
        return line.client.request(...asked);
      }
    };
    const { name = '', version: own = '' } = client.getServerVersion() ?? {};
    return {
      status: 'ok',
      tools,
      hasResources: client.getServerCapabilities()?.resources !== undefined,
      version: shortened(asSeen(`${name} ${own}`).trim(), 100),
      call: (tool, input, limits) =>
        ending(limits, (given) =>
          request(
            { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
            CallAnswer,
            given,
          ),
        ),
      read: (uri, limits) =>
        ending(limits, (given) =>
          request({ method: 'resources/read', params: { uri } }, ResourceContents, given),
        ),
      async close() {
        isClosing = true;
        await closeConnection(line);
      },
    };
  } catch (error) {
    const why = transport.whyGone();
    await closeConnection(line);
    if (options.signal.aborted) return failed('the run was stopped');
    if (timeout.aborted) return failed(`it was not ready within ${connectMs / 1_000} s`);
    return failed(why ?? messageOf(error));
  }
}

async function listTools(
  client: Client,
  limits: { signal: AbortSignal; timeout: number },
): Promise<ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const list = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, {
      ...limits,
      signal: AbortSignal.any([limits.signal]),
    });
    for (const { name, description = '', inputSchema, annotations } of list.tools)
      tools.push({ name, description, inputSchema, isReadOnly: annotations?.readOnlyHint === true });
    if (tools.length > MAX_TOOLS) throw new Error(`it has more than ${MAX_TOOLS} tools`);
    cursor = list.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error('its list of tools does not end');
}

async function ending<Answer>(
  { timeoutMs, signal }: CallLimits,
  ask: (limits: { timeout: number; maxTotalTimeout: number; signal: AbortSignal }) => Promise<Answer>,
): Promise<CallEnd<Answer>> {
  try {
    // The library leaves its listeners on the signal, and that of a run is there for all calls.
    const own = AbortSignal.any([signal]);
    const answer = await ask({ timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: own });
    return { status: 'answered', answer };
  } catch (error) {
    if (signal.aborted) return { status: 'failed', reason: 'interrupted', message: 'the run was stopped' };
    const code = error instanceof McpError ? error.code : null;
    if (code === ErrorCode.RequestTimeout)
      return {
        status: 'failed',
        reason: 'timeout',
        message: `there was no answer within ${timeoutMs / 1_000} s`,
      };
    // The platform's words for a connection that is not there, or not any more; the statuses are a gateway's, or of a session that is over.
    const isUnreached =
      (error instanceof TypeError && error.message === 'fetch failed') || isStatus(error, 404, 502, 503, 504);
    if (isUnreached) return { status: 'failed', reason: 'unreached', message: messageOf(error) };
    const reason = code === ErrorCode.InvalidParams ? 'invalid_input' : 'server';
    return { status: 'failed', reason, message: messageOf(error) };
  }
}

/** Some waits of the library have no limit of their own, such as that for a body. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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

/** A client and how it speaks to the server: another for each session. */
interface OpenLine {
  readonly client: Client;
  readonly transport: ProgramTransport | AddressTransport;
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

function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof StreamableHTTPError && statuses.includes(error.code ?? 0);
}

async function closeConnection({ client, transport }: OpenLine): Promise<void> {
  if ('terminateSession' in transport)
    await inTime(transport.terminateSession(), timeoutSignal(GOODBYE_MS)).catch(() => undefined);
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

/** What a server says of itself is cleaned and bounded. The cause says what a failed fetch means. */
function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return shortened(asSeen(`${said}${cause}`).trim(), 2_000);
}
