/** Puts an answer on the wire, whole or spoiled. */

import type { ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as nextTick } from 'node:timers/promises';
import type { Fault, ScriptedTurn } from './script.ts';

/** Resolves when the response has ended, was destroyed, or (for a stall) when the client or the server gives up. */
export async function sendEvents(
  response: ServerResponse,
  events: readonly Record<string, unknown>[],
  turn: ScriptedTurn,
): Promise<void> {
  const { fault } = turn;
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  const limit = fault ? eventsBefore(fault) : events.length;
  for (const event of events.slice(0, limit)) {
    await write(response, `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`, turn);
    if (response.destroyed) return;
  }
  if (fault) await spoil(response, fault, turn);
  else response.end();
}

/** An error of the API as JSON, or in a proxy's own words. */
export function sendHttpError(response: ServerResponse, fault: Extract<Fault, { kind: 'http' }>): void {
  const { status, retryAfter, rawBody, headers } = fault;
  response.writeHead(status, {
    'content-type': rawBody === undefined ? 'application/json' : 'text/html',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    ...headers,
  });
  response.end(rawBody ?? JSON.stringify(errorBody(fault)));
}

/** Resets the connection under the client instead of closing it. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

async function spoil(response: ServerResponse, fault: Fault, turn: ScriptedTurn): Promise<void> {
  switch (fault.kind) {
    case 'http':
    case 'garbage':
      return;
    case 'error_event':
      await write(
        response,
        `event: error\ndata: ${JSON.stringify(errorBody({ ...fault, status: 0 }))}\n\n`,
        turn,
      );
      response.end();
      return;
    case 'reset':
      // What was written has to arrive first: a reset throws away what is still in the buffers.
      await delay(50);
      reset(response);
      return;
    case 'end':
      response.end();
      return;
    case 'malformed':
      await write(response, 'event: content_block_delta\ndata: {"type":"content_block_del\n\n', turn);
      response.end();
      return;
    case 'stall':
      await new Promise((resolve) => response.once('close', resolve));
  }
}

function eventsBefore(fault: Fault): number {
  return 'afterEvents' in fault && fault.afterEvents !== null ? (fault.afterEvents ?? 1) : 1;
}

async function write(response: ServerResponse, text: string, turn: ScriptedTurn): Promise<void> {
  const bytes = Buffer.from(text);
  const size = turn.chunkBytes ?? bytes.length;
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    response.write(bytes.subarray(at, at + size));
    // A turn of the event loop makes each write a packet of its own.
    if (turn.gapMs !== undefined) await delay(turn.gapMs);
    else if (turn.chunkBytes !== undefined) await nextTick();
  }
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function errorBody(fault: { status: number; type?: string; message?: string; code?: string }): unknown {
  const type = fault.type ?? TYPES[fault.status] ?? 'api_error';
  return {
    type: 'error',
    error: {
      type,
      message: fault.message ?? `scripted ${type}`,
      ...(fault.code === undefined ? {} : { details: { error_code: fault.code } }),
    },
  };
}
