/**
 * The only way from a sandbox to the network: an HTTP proxy on a UNIX socket that permits named hosts and nothing else. It
 * runs outside; its clients are hostile.
 */

import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { LOOKED_UP } from '../../domain/review/egress.ts';
import type { Egress } from '../../ports/network.ts';
import { forward } from './forward.ts';
import { type GateOptions, NetworkGate, type Passed } from './gate.ts';
import { refuseConnection, refuseRequest } from './refusal.ts';
import { tunnel } from './tunnel.ts';

/** What the proxy permits, and where its socket is. */
export interface ProxyOptions extends GateOptions {
  /** A private folder in which the socket is created; created if missing. */
  readonly folder: string;
}

/** Maximum number of simultaneous connections; more are dropped. */
const MAX_CONNECTIONS = 512;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_MS = 30_000;

/** Starts the proxy through which contained commands reach the hosts of `--allow-domain`, and nothing else. */
export async function openFilteringProxy(options: ProxyOptions): Promise<Egress> {
  const gate = new NetworkGate(options);
  // A strict parser: what it rejects (two lengths, NUL, bare line feeds, long headers) never gets to the gate.
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: 0,
  });
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client that disconnects midway wanted nothing more.
    socket.on('error', () => socket.destroy());
  });
  server.on('clientError', (_error, socket: Duplex) => {
    refuseConnection(socket, 400, 'this is not a request that a proxy understands');
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    onConnect(gate, request, socket, head).catch((error: unknown) => socket.destroy(asError(error)));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    onRequest(gate, request, response).catch((error: unknown) => response.destroy(asError(error)));
  });
  const { path, letGo } = await listen(server, options.folder);
  // A run that ends before its sandbox is open does not wait for a connection.
  server.unref();
  let closing: Promise<void> | null = null;
  return {
    socket: path,
    refused: () => gate.refusals.list(),
    close() {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }).then(letGo);
      return closing;
    },
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
    if (gate.refusals.total <= MAX_ANSWERED) return refuseConnection(socket, passed.code, passed.reason);
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
    const { url = '' } = request;
    const asked = url.slice(LOOKED_UP.length);
    if (url.startsWith(LOOKED_UP) && /^[a-z0-9.-]+$/.test(asked)) {
      gate.lookedUp(asked);
      response.writeHead(204, { connection: 'close' }).end();
      return;
    }
    const why = 'ask for http://… in full, and for https://… with CONNECT';
    // Some clients ask for https://… like for http://…
    const [, host] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
    return refuseRequest(response, 400, host === undefined ? why : gate.refuse(host, why));
  }
  const passed = await gate.judge(authority, 'plain');
  if (passed.status !== 'ok') return refuseRequest(response, passed.code, passed.reason);
  if (passed.target.port === 443) {
    const why = 'port 443 is for TLS, through a tunnel';
    return refuseRequest(response, 403, gate.refuse(passed.target.host, why));
  }
  await forward(gate, passed satisfies Passed, {
    request,
    response,
    path: path.startsWith('?') ? `/${path}` : path,
  });
}

/**
 * A socket address has at most 107 bytes, and a folder's path may be longer: the address uses a descriptor of the folder.
 */
async function listen(server: Server, folder: string): Promise<{ path: string; letGo: () => void }> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const name = 'proxy.sock';
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(`/proc/self/fd/${descriptor}/${name}`, resolve);
    });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return { path: join(folder, name), letGo: () => closeSync(descriptor) };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
