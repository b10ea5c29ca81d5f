/** A proxy as companies have it: the only way to some servers, by CONNECT, for those who log in. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { tempFolder } from '../files/temp-folder.ts';

export interface ConnectProxy {
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  /** A file with the certificate of all servers behind it, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  /** `host:port` of every tunnel that was asked for. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface Behind {
  /** Names below example.test, which no name server knows, and the plain HTTP server that answers for each. */
  readonly servers: Readonly<Record<string, string>>;
  /** `user:password`; null asks for none. */
  readonly login: string | null;
}

export async function startConnectProxy({ servers, login }: Behind): Promise<ConnectProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const expected = login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const proxy = createServer((_request, response) => void response.writeHead(405).end());
  proxy.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  proxy.on('connect', (request, socket: Socket) => {
    asked.push(request.url ?? '');
    const url = servers[(request.url ?? '').replace(/:443$/, '')];
    const isLoggedIn = request.headers['proxy-authorization'] === expected;
    if (!isLoggedIn || url === undefined) {
      const status = isLoggedIn ? '502 Bad Gateway' : '407 Proxy Authentication Required';
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const inside = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE });
    const server = connect(Number(new URL(url).port), '127.0.0.1');
    sockets.add(server);
    for (const [from, to] of [
      [inside, server],
      [server, inside],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const certificate = join(tempFolder(), 'certificate.pem');
  writeFileSync(certificate, CERTIFICATE);
  return {
    host: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    certificate,
    asked,
    async close() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** For *.example.test until 2120, signed by itself; `openssl ca -selfsign` has made it for these tests. */
const CERTIFICATE = new X509Certificate(
  Buffer.from(
    'MIIBazCCARKgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxleGFtcGxlLnRlc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEy' +
      'MDAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDGV4YW1wbGUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIaS/70C9Jud+hh1' +
      'g/t9qD9FRjgT6sYe/2GgDhyMpHRgMG5KVWGrJCIuCFsLbMoeiS+Um/YIY+qTPjJsPcVUxmSjTTBLMA8GA1UdEwEB/wQFMAMBAf8w' +
      'GQYDVR0RBBIwEIIOKi5leGFtcGxlLnRlc3QwHQYDVR0OBBYEFCe2Fukkpkd6kP0Et0V5scoG55juMAoGCCqGSM49BAMCA0cAMEQC' +
      'IE7sPCrPyJnEmps/EsM9EhzrueQ4tWmaRDSFnBkv50PEAiB7zYNrhciqRUaU6TEjxVrq8ZbcnvmF5w6IDhWeQRblrQ==',
    'base64',
  ),
).toString();

const KEY = createPrivateKey({
  key: Buffer.from(
    'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrAH0MUg69urKk7kpQSky5wjcZWkaGRhr5EJwLvAURC6hRANCAASG' +
      'kv+9AvSbnfoYdYP7fag/RUY4E+rGHv9hoA4cjKR0YDBuSlVhqyQiLghbC2zKHokvlJv2CGPqkz4ybD3FVMZk',
    'base64',
  ),
  format: 'der',
  type: 'pkcs8',
}).export({ format: 'pem', type: 'pkcs8' });

/** The options of a server with this certificate. */
export const CERTIFIED = { cert: CERTIFICATE, key: KEY };
