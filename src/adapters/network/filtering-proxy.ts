/**
 * The only way from a sandbox to the network: an HTTP proxy that permits named hosts and nothing else. It runs outside; its
 * clients are hostile.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { servicePlace } from '../../domain/review/service.ts';
import type { SandboxNetwork } from '../../ports/network.ts';
import { forward } from './forward.ts';
import { codeOf, type GateOptions, type NetworkGate, openGate } from './gate.ts';
import { refuseConnection, refuseRequest } from './refusal.ts';
import { joinSockets, tunnel } from './tunnel.ts';

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
  await forward(gate, passed, {
    request,
    response,
    path: path.startsWith('?') ? `/${path}` : path,
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
