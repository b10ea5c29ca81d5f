/** Carries a plain HTTP request to a host that may be reached. It is written anew, so that no byte of its framing gets through. */

import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { codeOf, lookupAmong, type Passed } from './gate.ts';
import { refuseRequest } from './refusal.ts';

/** One plain HTTP request to the proxy, and the answer to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** With its query. */
  readonly path: string;
}

/** About one connection, not about the message (RFC 9110 §7.6.1); and what is for the proxy itself. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const IDLE_MS = 300_000;

/** Passes one plain HTTP request on to a host that the gate has let through, and its answer back. */
export async function forward({ target, addresses }: Passed, exchange: Exchange): Promise<void> {
  const { request, response, path } = exchange;
  const { host, port } = target;
  const upstream = openRequest({
    host,
    port,
    path,
    method: request.method ?? 'GET',
    // The host that was judged, whatever the client says in its header.
    headers: [
      ...endToEnd(request, ['host', 'content-length']),
      ...framing(request),
      'Host',
      port === 80 ? host : `${host}:${port}`,
      'Connection',
      'close',
    ],
    lookup: lookupAmong(addresses),
    agent: false,
    timeout: IDLE_MS,
  });
  upstream.on('timeout', () => upstream.destroy());
  response.once('close', () => upstream.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.on('error', reject);
    // Without an error where the host switches protocols, for which nobody has asked.
    upstream.once('close', () => reject(new Error('The host closed the connection.')));
  });
  request.pipe(upstream);
  try {
    const answer = await answered;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', endToEnd(answer, []));
    await pipeline(answer, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else refuseRequest(response, 502, `${host}:${port} cannot be reached (${codeOf(error)})`);
  }
}

/** What says where the body ends. Node writes one without it for GET and its like, and the body would be read as a further request. */
function framing({ headers }: IncomingMessage): string[] {
  const length = headers['content-length'];
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  return length === undefined ? [] : ['Content-Length', length];
}

/** Names and values in turn, as they came, without those that end here. */
function endToEnd({ rawHeaders, headers }: IncomingMessage, also: readonly string[]): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named, ...also]);
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
