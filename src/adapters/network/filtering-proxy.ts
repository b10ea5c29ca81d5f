/**
 * The only way from a sandbox to the network: an HTTP proxy that permits named hosts and nothing else. It runs outside; its
 * clients are hostile.
 */

import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { servicePlace } from '../../domain/review/reachable.ts';
import type { SandboxNetwork } from '../../ports/network.ts';
import { codeOf, type GateOptions, lookupAmong, type NetworkGate, openGate, type Passed } from './gate.ts';
import { askProxy, proxyAnswer } from './machine-proxy.ts';
import { joinSockets, refuseConnection, refuseRequest, tunnel } from './tunnel.ts';

/**
 * Opens the proxy through which contained commands reach the hosts of `--allow-domain` and the services of `--service`, and nothing
 * else. It listens nowhere.
 */
export function openFilteringProxy(options: GateOptions & { services?: readonly string[] }): SandboxNetwork {
  const gate = openGate(options);
  // A strict parser: what it rejects (two lengths, NUL, bare line feeds, long headers) never gets to the gate.
  const server = createServer({ insecureHTTPParser: false, maxHeaderSize: 16 * 1024 });
  server.on('clientError', (_error, socket: Duplex) => {
    refuseConnection(socket, 400, 'this is not a request that a proxy understands');
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    onConnect(gate, request, socket, head).catch((error: unknown) => socket.destroy(asError(error)));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    onRequest(gate, request, response).catch((error: unknown) => response.destroy(asError(error)));
  });
  return {
    accept(socket: Socket) {
      // A client that disconnects midway wanted nothing more.
      socket.on('error', () => socket.destroy());
      server.emit('connection', socket);
    },
    services: (options.services ?? []).map(servicePlace),
    reach(service, socket: Socket) {
      socket.on('error', () => socket.destroy());
      const host = `${service.name}:${service.port}`;
      const use = (outcome: 'reached' | 'failed', why: string) => options.onUsed?.({ host, outcome, why });
      const outside = connect({ ...service.target, allowHalfOpen: true });
      outside.once('connect', () => use('reached', ''));
      outside.on('error', (error) => {
        if (outside.connecting || !outside.bytesRead)
          use('failed', `${host} cannot be reached (${codeOf(error)})`);
        socket.resetAndDestroy();
      });
      joinSockets(socket, outside);
    },
    lookedUp: gate.lookedUp,
  };
}

/**
 * Maximum number of refused tunnels that get an answer. npm treats the answer as a connection that other requests may
 * use, finds that they cannot, and retries hundreds of times a second; only a broken connection stops that.
 */
const MAX_ANSWERED = 500;

async function onConnect(
  gate: NetworkGate,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0') {
    return refuseConnection(socket, 400, gate.refuse(request.url ?? '', 'CONNECT takes no body'));
  }
  const passed = await gate.judge(request.url ?? '', 'tunnel');
  if (passed.status !== 'ok') {
    if (gate.refusals() <= MAX_ANSWERED) return refuseConnection(socket, passed.code, passed.reason);
    socket.destroy();
    return;
  }
  if (passed.target.port === 80) {
    // In a tunnel, the real host of the request would be invisible.
    const why = 'plain HTTP goes through the proxy as a request, not as a tunnel';
    return refuseConnection(socket, 403, gate.refuse(passed.target.host, why));
  }
  await tunnel(gate, passed, socket, head);
}

async function onRequest(
  gate: NetworkGate,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, authority, path = '/'] = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(request.url ?? '') ?? [];
  if (authority === undefined) {
    const why = 'ask for http://… in full, and for https://… with CONNECT';
    // Some clients ask for https://… like for http://…
    const [, host] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(request.url ?? '') ?? [];
    return refuseRequest(response, 400, host === undefined ? why : gate.refuse(host, why));
  }
  const passed = await gate.judge(authority, 'plain');
  if (passed.status !== 'ok') return refuseRequest(response, passed.code, passed.reason);
  if (passed.target.port === 443) {
    const why = 'port 443 is for TLS, through a tunnel';
    return refuseRequest(response, 403, gate.refuse(passed.target.host, why));
  }
  await forward(gate, passed, path.startsWith('?') ? `/${path}` : path, request, response);
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

/**
 * Forwards one plain HTTP request, for a path with its query, to a host that the gate has permitted, and returns its answer. The
 * request is rewritten, so that no byte of its framing gets through.
 */
async function forward(
  gate: NetworkGate,
  passed: Passed,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
