/** A local server that answers a vendor's clients from a script, and refuses what breaks the vendor's rules. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault, Script, ScriptedTurn } from '../claude-server/script.ts';
import { listenLocally } from './local-server.ts';

type Fields = Record<string, unknown>;
type HttpFault = Extract<Fault, { kind: 'http' }>;

/** A request, as it comes. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: string | undefined;
  readonly body: Fields;
}

/** What differs between vendors. */
export interface VendorRules {
  readonly name: string;
  readonly turns: Script;
  /** Throws a refusal where the request breaks a rule. */
  check(asked: Asked): void;
  /** How an error of `check` is answered; null for any other error. */
  refusalOf(error: unknown): { readonly message: string; readonly fault: Omit<HttpFault, 'kind'> } | null;
  refuse(response: ServerResponse, fault: HttpFault): void;
  /** Sends the answer of a turn, as far as its fault lets it. */
  answer(
    response: ServerResponse,
    turn: ScriptedTurn,
    asked: Asked & { readonly index: number },
  ): Promise<void>;
}

export interface ScriptedServer {
  readonly url: string;
  /** All requests so far, with why one was refused by the rules. */
  readonly requests: readonly { path: string; body: Fields; refused: string | null }[];
  close(): Promise<void>;
}

export async function startScriptedServer(rules: VendorRules): Promise<ScriptedServer> {
  const { name, turns, refuse } = rules;
  const requests: { path: string; body: Fields; refused: string | null }[] = [];
  let accepted = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Fields;
    const [path = '', query] = (request.url ?? '').split('?');
    const seen = { path, body, refused: null as string | null };
    requests.push(seen);
    response.setHeader('x-request-id', `req_${requests.length}`);
    const asked = { request, path, query, body };
    try {
      rules.check(asked);
    } catch (error) {
      const refusal = rules.refusalOf(error);
      if (refusal === null) throw error;
      seen.refused = refusal.message;
      return refuse(response, { kind: 'http', message: refusal.message, ...refusal.fault });
    }
    const index = accepted++;
    const turn = typeof turns === 'function' ? turns(body, index) : turns[index];
    if (turn === undefined)
      return refuse(response, { kind: 'http', status: 400, message: 'The script is over.' });
    const { fault } = turn;
    if (fault?.kind === 'http') return refuse(response, fault);
    if (fault?.kind === 'garbage') return fault.send(response);
    await rules.answer(response, turn, { ...asked, index });
  }

  const { url, close } = await listenLocally(serve, (response, why) => {
    refuse(response, { kind: 'http', status: 400, message: `${name} bug: ${why}` });
  });
  return { url, requests, close };
}
