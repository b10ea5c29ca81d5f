/**
 * Forwards a plain HTTP request to a permitted host. The request is rewritten, so that no byte of its framing gets
 * through.
 */

import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { codeOf, lookupAmong, type NetworkGate, type Passed } from './gate.ts';
import { refuseRequest } from './refusal.ts';
import { askProxy, proxyAnswer } from './upstream.ts';

/** One plain HTTP request to the proxy, and the answer to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Includes the query. */
  readonly path: string;
}

/** Headers about one connection, not about the message (RFC 9110 §7.6.1), and those for the proxy itself. */
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

/** Forwards one plain HTTP request to a host that the gate has permitted, and returns its answer. */
export async function forward(gate: NetworkGate, passed: Passed, exchange: Exchange): Promise<void> {
  const { request, response, path } = exchange;
  const { target, addresses, via } = passed;
  const { host, port } = target;
  const authority = port === 80 ? host : `${host}:${port}`;
  const method = request.method ?? 'GET';
  // The host that was checked, not the client's header.
  const headers = [
    ...endToEnd(request, ['host', 'content-length']),
    ...framing(request),
    ...['Host', authority, 'Connection', 'close'],
  ];
  const upstream =
    via === null
      ? openRequest({
          ...{ host, port, path, method, headers },
          ...{ lookup: lookupAmong(addresses), agent: false, timeout: IDLE_MS },
        })
      : askProxy(via, { method, path: `http://${authority}${path}`, headers, timeout: IDLE_MS });
  upstream.on('timeout', () => upstream.destroy());
  response.once('close', () => upstream.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.on('error', reject);
    // No error is emitted if the host switches protocols, which was not requested.
    upstream.once('close', () => reject(new Error('The host closed the connection.')));
  });
  request.pipe(upstream);
  try {
    const answer = await answered;
    gate.reached(target);
    // The login is the machine's; a client that got this answer would prompt its user.
    if (via !== null && answer.statusCode === 407) {
      answer.destroy();
      return refuseRequest(response, 502, proxyAnswer(via, 407, answer.statusMessage ?? ''));
    }
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', endToEnd(answer, []));
    await pipeline(answer, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else {
      gate.failed(target, `cannot be reached (${codeOf(error)})`);
      refuseRequest(response, 502, `${host}:${port} cannot be reached (${codeOf(error)})`);
    }
  }
}

/**
 * The headers that delimit the body. Node writes none for GET and the like, and the body would be read as another
 * request.
 */
function framing({ headers }: IncomingMessage): string[] {
  const length = headers['content-length'];
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  return length === undefined ? [] : ['Content-Length', length];
}

/** Names and values in turn, as received, without those that end here. */
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
