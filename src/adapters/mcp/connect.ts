/** A connection to an MCP server: its tools at the start, and calls to them. Loaded only if servers are configured. */

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, ListToolsResultSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Failed, failed } from '../../domain/failed.ts';
import type { OfferedTools } from '../../domain/mcp/chosen-tools.ts';
import { asSeen } from '../../domain/mcp/foreign-text.ts';
import { CallAnswer } from '../../domain/mcp/result-text.ts';
import { shortened } from '../../domain/text/shorten.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import { type ConnectOptions, inTime, isStatus, ServerLine } from './server-line.ts';

/** A connected server, whose tools are not yet cleaned or bounded. */
export interface ServerConnection extends OfferedTools {
  /** Name and version, according to the server. */
  readonly version: string;
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    limits: CallLimits,
  ): Promise<CallEnd<CallAnswer>>;
  /** Ends a server that was started here until the next call, which starts it again. Never rejects. */
  rest(): Promise<void>;
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

/** Connects and lists the tools within the given time. On failure, ends what was started. */
export async function connectServer(
  options: ConnectOptions,
): Promise<({ status: 'ok' } & ServerConnection) | Failed> {
  const { connectMs } = options;
  const line = new ServerLine(options);
  const { client, transport } = line.first;
  const timeout = timeoutSignal(connectMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    await line.greet(signal);
    const tools = await inTime(listTools(client, { signal, timeout: connectMs }), signal);
    line.watch();
    const { name = '', version: own = '' } = client.getServerVersion() ?? {};
    return {
      status: 'ok',
      tools,
      version: shortened(asSeen(`${name} ${own}`).trim(), 100),
      call: (tool, input, limits) =>
        ending(limits, (given) =>
          line.request(
            { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
            CallAnswer,
            given,
          ),
        ),
      rest: () => line.rest(),
      close: () => line.close(),
    };
  } catch (error) {
    const why = transport.whyGone();
    await line.close();
    if (options.signal.aborted) return failed('the run was stopped');
    if (timeout.aborted) return failed(`it was not ready within ${connectMs / 1_000} s`);
    return failed(why ?? messageOf(error));
  }
}

async function listTools(
  client: Client,
  limits: { signal: AbortSignal; timeout: number },
): Promise<OfferedTools['tools']> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: OfferedTools['tools'][number][] = [];
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const list = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, {
      ...limits,
      signal: AbortSignal.any([limits.signal]),
    });
    for (const { name, description = '', inputSchema, annotations } of list.tools)
      tools.push({ name, description, inputSchema, isReadOnly: annotations?.readOnlyHint === true });
    if (tools.length > MAX_TOOLS) throw new Error(`it has more than ${MAX_TOOLS} tools`);
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

async function ending<Answer>(
  { timeoutMs, signal }: CallLimits,
  ask: (limits: { timeout: number; maxTotalTimeout: number; signal: AbortSignal }) => Promise<Answer>,
): Promise<CallEnd<Answer>> {
  try {
    // The library leaves its listeners on the signal, and all calls of a run share one.
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
    // The platform's words for a missing or lost connection; the statuses come from a gateway, or mean that a session
    // is over.
    const isUnreached =
      (error instanceof TypeError && error.message === 'fetch failed') || isStatus(error, 404, 502, 503, 504);
    if (isUnreached) return { status: 'failed', reason: 'unreached', message: messageOf(error) };
    const reason = code === ErrorCode.InvalidParams ? 'invalid_input' : 'server';
    return { status: 'failed', reason, message: messageOf(error) };
  }
}

/** What a server says about itself is cleaned and bounded. The cause explains a failed fetch. */
function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return shortened(asSeen(`${said}${cause}`).trim(), 2_000);
}
