/**
 * A local Claude API that is as strict as the real one: it checks every request, keeps a prompt cache and a bill,
 * answers from a script, and breaks in every way the real one does. For tests and for trying things by hand.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Usage } from '../../../src/domain/conversation/conversation.ts';
import { answerTo, eventsOf, messageOf, type ScriptedAnswer } from './answer.ts';
import { PromptCache } from './checks/cache.ts';
import { type CheckedRequest, checkRequest } from './checks/check-request.ts';
import type { Bound } from './checks/prefix.ts';
import { invalid, Refusal } from './checks/refusal.ts';
import { answerModel } from './model-question.ts';
import type { Script, ScriptedTurn } from './script.ts';
import { reset, sendEvents, sendHttpError } from './send.ts';
import { type FederationRule, TokenExchange } from './token-exchange.ts';
import { addUsage, costOf, noUsage } from './usage.ts';

export interface ClaudeServerOptions {
  readonly turns: Script;
  /** Any key will do without it, unless there is a federation. */
  readonly apiKey?: string;
  /** Access tokens in exchange for identity tokens, in place of a key. */
  readonly federation?: FederationRule;
  /** Milliseconds, for the lifetime of cache entries. */
  readonly clock?: () => number;
}

/** A request as it arrived, with what the server made of it. */
export interface SeenRequest {
  readonly headers: IncomingMessage['headers'];
  readonly bytes: string;
  /** Null when the bytes were no JSON. */
  readonly body: Record<string, unknown> | null;
  /** Why it was refused by the rules; null when it was accepted (a scripted fault is no refusal). */
  readonly refused: { status: number; type: string; message: string } | null;
  /** What it cost; null when nothing was charged. */
  readonly usage: Usage | null;
}

export interface ClaudeServer {
  /** The base URL: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** All requests so far, refused ones included, in their order. */
  readonly requests: readonly SeenRequest[];
  /** Bodies of all exchanges so far, refused ones included. */
  readonly exchanges: readonly unknown[];
  /** What has been charged so far; `usd` is null when a model's price is not known. */
  bill(): { usage: Usage; usd: number | null };
  /** Ends every connection, stalled ones too. Can be called twice. */
  close(): Promise<void>;
}

const MAX_BYTES = 32 * 1024 * 1024;
const VERSIONS = ['2023-06-01', '2026-10-21'];

export async function startClaudeServer(options: ClaudeServerOptions): Promise<ClaudeServer> {
  const desk = new Desk(options);
  const server = createServer((request, response) => {
    desk.serve(request, response).catch((error: unknown) => {
      // A bug of the server must not look like an outage that heals with a retry.
      sendHttpError(response, { kind: 'http', status: 400, message: `claude-server bug: ${String(error)}` });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: desk.requests,
    exchanges: desk.exchange.requests,
    bill: () => desk.bill(),
    close: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

class Desk {
  readonly requests: SeenRequest[] = [];
  readonly exchange: TokenExchange;
  readonly #options: ClaudeServerOptions;
  readonly #cache: PromptCache;
  readonly #sent = new Set<string>();
  readonly #paused = new Set<string>();
  readonly #compacted = new Map<string, Bound>();
  #accepted = 0;
  #usage: Usage = noUsage;
  #usd: number | null = 0;

  constructor(options: ClaudeServerOptions) {
    this.#options = options;
    this.exchange = new TokenExchange(options.federation ?? null, options.clock ?? Date.now);
    this.#cache = new PromptCache(options.clock ?? Date.now);
  }

  bill(): { usage: Usage; usd: number | null } {
    return { usage: this.#usage, usd: this.#usd };
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readBody(request);
    if (this.exchange.isFor(request)) return this.exchange.answer(request, bytes ?? '', response);
    response.setHeader('request-id', `req_${this.requests.length + 1}`);
    if (request.method === 'GET') return answerModel(request, response, this.#options.apiKey);
    const seen = { headers: request.headers, bytes: bytes ?? '', body: jsonObject(bytes ?? '') };
    try {
      const checked = this.#check(request, bytes, seen.body);
      const turn = this.#nextTurn(checked);
      // Recorded before it is answered, so that whoever has the answer finds the request.
      const respond = this.#prepare(checked, turn, seen);
      await respond(response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, type, message } = error;
      this.requests.push({ ...seen, refused: { status, type, message }, usage: null });
      sendHttpError(response, { kind: 'http', status, type, message });
    }
  }

  #check(request: IncomingMessage, bytes: string | null, body: unknown): CheckedRequest {
    const { headers } = request;
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'POST' || path !== '/v1/messages')
      throw new Refusal(404, 'not_found_error', 'Not Found');
    const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? headers['x-api-key'];
    const { apiKey, federation } = this.#options;
    if (federation !== undefined) this.exchange.check(String(key), String(headers['anthropic-beta'] ?? ''));
    else if (key === undefined || (apiKey !== undefined && key !== apiKey))
      throw new Refusal(401, 'authentication_error', 'invalid x-api-key');
    if (bytes === null) throw new Refusal(413, 'request_too_large', 'Request exceeds the maximum size');
    if (!String(headers['content-type'] ?? '').startsWith('application/json'))
      throw invalid('content-type: application/json is required');
    const version = headers['anthropic-version'];
    if (version === undefined) throw invalid('anthropic-version: header is required');
    if (!VERSIONS.includes(String(version)))
      throw invalid(`anthropic-version: "${String(version)}" is not a valid version`);
    if (body === null) throw invalid('The request body is not valid JSON');
    const betas = String(headers['anthropic-beta'] ?? '').split(/\s*,\s*/);
    return checkRequest(body, betas, {
      sent: this.#sent,
      paused: this.#paused,
      compacted: this.#compacted,
    });
  }

  #nextTurn({ body }: CheckedRequest): ScriptedTurn {
    const { turns } = this.#options;
    const index = this.#accepted;
    this.#accepted += 1;
    const turn = typeof turns === 'function' ? turns({ ...body }, index) : turns[index];
    if (turn === undefined)
      throw invalid(`The script of this server ends before request ${index + 1}: write one more turn`);
    return turn;
  }

  #prepare(
    checked: CheckedRequest,
    turn: ScriptedTurn,
    seen: Omit<SeenRequest, 'refused' | 'usage'>,
  ): (response: ServerResponse) => Promise<void> {
    const { fault } = turn;
    const early =
      fault?.kind === 'http' ||
      fault?.kind === 'garbage' ||
      ((fault?.kind === 'reset' || fault?.kind === 'stall') && fault.afterEvents === null);
    if (early) {
      this.requests.push({ ...seen, refused: null, usage: null });
      return async (response) => {
        if (fault.kind === 'http') sendHttpError(response, fault);
        else if (fault.kind === 'garbage') fault.send(response);
        else if (fault.kind === 'reset') reset(response);
        else await new Promise((resolve) => response.once('close', resolve));
      };
    }
    const { body, rules, positions } = checked;
    const charge = this.#cache.charge(positions, body.cache_control, rules.minCacheTokens);
    charge.commit();
    const thinking = body.thinking as { type?: string; display?: string } | undefined;
    const answer = answerTo(
      {
        index: this.#accepted - 1,
        model: body.model,
        thinks: rules.bound && thinking?.type !== 'disabled',
        showsThinking: thinking?.display === 'summarized',
        positions,
        promptUsage: charge.usage,
        compacts: body.compaction !== undefined,
      },
      turn,
    );
    const [first] = answer.content;
    const last = positions.at(-1);
    if (first?.type === 'compaction' && last !== undefined)
      this.#compacted.set(String(first.signature), last.bound);
    const usage = fault ? { ...answer.usage, output: 1 } : answer.usage;
    this.#charge(body.model, usage);
    this.requests.push({ ...seen, refused: null, usage });
    if (!fault) this.#remember(answer);
    return async (response) => {
      if (body.stream === true) return sendEvents(response, eventsOf(answer, turn), turn);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(messageOf(answer)));
    };
  }

  #charge(model: string, usage: Usage): void {
    const usd = costOf(model, usage);
    this.#usage = addUsage(this.#usage, usage);
    this.#usd = this.#usd === null || usd === null ? null : this.#usd + usd;
  }

  #remember(answer: ScriptedAnswer): void {
    for (const block of answer.content) this.#sent.add(JSON.stringify(block));
    const last = answer.content.at(-1);
    if (answer.stop === 'pause_turn' && last) this.#paused.add(JSON.stringify(last));
  }
}

/** Null when it is larger than the API takes; the rest is read and dropped. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
  }
  return size > MAX_BYTES ? null : Buffer.concat(chunks).toString('utf8');
}

function jsonObject(bytes: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(bytes);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
