/** A server on this machine, at a port of its own. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `onBug` answers what `serve` rejects with: a bug of the server must not look like an outage that heals with a retry. */
export async function listenLocally(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  onBug: (response: ServerResponse, why: string) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => onBug(response, String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
