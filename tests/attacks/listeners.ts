/** Listeners outside for what an attacker sends: TCP on both loopbacks, UDP, and sockets with and without a name. */

import { createSocket } from 'node:dgram';
import { chmodSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/files/repository.ts';

export interface Listeners {
  /** The same for TCP on 127.0.0.1 and ::1, and for UDP. */
  readonly port: number;
  /** A Unix socket. */
  readonly socket: string;
  /** A Unix socket in no folder, without its leading NUL. */
  readonly abstract: string;
  /** Everything that has arrived. */
  heard(): string;
  close(): void;
}

export async function startListeners(): Promise<Listeners> {
  let heard = '';
  const servers: Server[] = [];
  const listen = async (where: { host: string; port: number } | { path: string }) => {
    const server = createServer((connection) => {
      connection.on('data', (data) => {
        heard += data.toString('latin1');
        connection.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
      });
      connection.on('error', () => {});
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(where, resolve);
    });
    servers.push(server);
    return server;
  };
  const { port } = (await listen({ host: '127.0.0.1', port: 0 })).address() as AddressInfo;
  const socket = join(temporaryFolder(), 'listener');
  const abstract = `patchsmith-listener-${port}`;
  await listen({ path: socket });
  // Only the sandbox keeps a plain user away from it, as whom root starts the runner.
  chmodSync(dirname(socket), 0o755);
  chmodSync(socket, 0o777);
  await listen({ path: `\0${abstract}` });
  const datagrams = createSocket('udp4');
  datagrams.on('message', (data) => {
    heard += data.toString('latin1');
  });
  await new Promise<void>((resolve) => datagrams.bind(port, '127.0.0.1', resolve));
  return {
    port,
    socket,
    abstract,
    heard: () => heard,
    close() {
      for (const server of servers) server.close();
      datagrams.close();
    },
  };
}
