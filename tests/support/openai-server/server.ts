/** A local OpenAI with both of its APIs, as strict as the real one; it answers from a script, and breaks as the real one does. */

import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Script } from '../claude-server/script.ts';
import { type ScriptedServer, startScriptedServer } from '../http/scripted-server.ts';
import { chatEvents, responsesEvents } from './answer.ts';
import { checkChat, checkResponses, OpenAiRefusal } from './check-request.ts';

type Fields = Record<string, unknown>;

export interface OpenAiServerOptions {
  readonly turns: Script;
  /** Null: a server that knows no keys, and is sent none. */
  readonly apiKey: string | null;
  /** As Azure wants it: with this version in the address, and the key in a header of its own. */
  readonly azureVersion?: string;
  /** Default: true. */
  readonly isReasoning?: boolean;
}

/** Its URL is the base URL, with its `/v1`. */
export async function startOpenAiServer(options: OpenAiServerOptions): Promise<ScriptedServer> {
  const sent = new Set<string>();
  const server = await startScriptedServer({
    name: 'openai-server',
    turns: options.turns,
    refuse,
    check({ request, path, query, body }) {
      const { apiKey, azureVersion } = options;
      const given = azureVersion === undefined ? request.headers.authorization : request.headers['api-key'];
      const wanted = azureVersion === undefined && apiKey !== null ? `Bearer ${apiKey}` : apiKey;
      if (query !== (azureVersion && `api-version=${azureVersion}`))
        throw new OpenAiRefusal('Resource not found', 404);
      if ((given ?? null) !== wanted)
        throw new OpenAiRefusal('Incorrect API key provided.', 401, 'invalid_api_key');
      const isReasoning = options.isReasoning ?? true;
      if (path === '/v1/chat/completions') checkChat(body, isReasoning, ['reasoning_content']);
      else if (path === '/v1/responses') checkResponses(body, isReasoning, sent);
      else throw new OpenAiRefusal(`Invalid URL (POST ${path})`, 404);
    },
    refusalOf: (error) =>
      error instanceof OpenAiRefusal
        ? { message: error.message, fault: { status: error.status, ...codeOf(error) } }
        : null,
    async answer(response, turn, { path, index, body }) {
      const { fault } = turn;
      const isChat = path === '/v1/chat/completions';
      const { events, items } = isChat
        ? { events: chatEvents(turn, index, body), items: [] }
        : responsesEvents(turn, index, body);
      if (fault === undefined) for (const item of items) sent.add(JSON.stringify(item));
      const all = (turn.events ?? events)
        .map((event) => frame(event, isChat))
        .concat(isChat ? ['data: [DONE]\n\n'] : []);
      await sendFrames(response, all, fault);
    },
  });
  return { ...server, url: `${server.url}/v1` };
}

function codeOf({ code }: OpenAiRefusal): { code?: string } {
  return code === null ? {} : { code };
}

function refuse(response: ServerResponse, fault: Extract<Fault, { kind: 'http' }>): void {
  const {
    status,
    message = 'scripted',
    type = 'invalid_request_error',
    code = null,
    retryAfter,
    rawBody,
  } = fault;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    ...fault.headers,
  });
  response.end(rawBody ?? JSON.stringify({ error: { message, type, param: null, code } }));
}

function frame(event: Fields, isChat: boolean): string {
  return `${isChat ? '' : `event: ${String(event.type)}\n`}data: ${JSON.stringify(event)}\n\n`;
}

/** Streams frames as far as the fault lets it. */
export async function sendFrames(
  response: ServerResponse,
  frames: readonly string[],
  fault: Fault | undefined,
): Promise<void> {
  if (fault?.kind === 'stall' && fault.afterEvents === null) return;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  const before = fault !== undefined && 'afterEvents' in fault ? (fault.afterEvents ?? 0) : frames.length;
  for (const one of frames.slice(0, before)) response.write(one);
  if (fault?.kind === 'stall') return;
  if (fault?.kind === 'malformed') response.write('data: {"broken\n\n');
  if (fault?.kind === 'error_event')
    response.write(
      `data: ${JSON.stringify({ type: 'error', error: { code: fault.code ?? null, type: fault.type, message: fault.message ?? '' } })}\n\n`,
    );
  if (fault?.kind === 'reset') {
    await delay(50);
    response.socket?.resetAndDestroy();
  } else response.end();
}
