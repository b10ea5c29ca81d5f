/** How tunnels and plain requests get through the machine's own proxy, which resolves names. */

import { type ClientRequest, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Target } from '../../domain/review/allowed-domain.ts';
import { loginFor } from './machine-proxy.ts';

/** The proxy did not make the tunnel; the message says what it answered. */
export class TunnelRefused extends Error {
  override readonly name = 'TunnelRefused';
}

/** A tunnel through the proxy. Rejects with `TunnelRefused`, or with the system's error if the proxy cannot be reached. */
export async function tunnelThrough(
  proxy: URL,
  { host, port }: Target,
  signal: AbortSignal,
): Promise<Socket> {
  const path = `${host}:${port}`;
  const asking = askProxy(proxy, { method: 'CONNECT', path, headers: ['Host', path] });
  // Not an option of the request, since that would apply to the tunnel too.
  const stop = () => asking.destroy(signal.reason);
  signal.addEventListener('abort', stop);
  asking.end();
  const answered = new Promise<Socket>((resolve, reject) => {
    asking.once('error', reject);
    asking.once('connect', ({ statusCode = 0, statusMessage = '' }, socket: Socket, head: Buffer) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      } else {
        socket.destroy();
        reject(new TunnelRefused(proxyAnswer(proxy, statusCode, statusMessage)));
      }
    });
    // The standard forbids this for CONNECT, but proxies that refuse it may answer as to any request.
    asking.once('response', ({ statusCode = 0, statusMessage = '' }) => {
      asking.destroy();
      reject(new TunnelRefused(proxyAnswer(proxy, statusCode, statusMessage)));
    });
  });
  return answered.finally(() => signal.removeEventListener('abort', stop));
}

/** What a proxy answered when it refused a request. */
export function proxyAnswer({ host }: URL, code: number, message: string): string {
  return `the proxy of this machine (${host}) answered ${code} ${message}`.trim();
}

/**
 * A request to the proxy itself, with its login, over a connection of its own. `path` is `host:port` or the whole address; headers are
 * names and values in turn.
 */
export function askProxy(
  proxy: URL,
  { headers, ...request }: { method: string; path: string; headers: readonly string[]; timeout?: number },
): ClientRequest {
  const login = loginFor(proxy);
  const isSecure = proxy.protocol === 'https:';
  return (isSecure ? requestByHttps : requestByHttp)({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (isSecure ? 443 : 80),
    ...request,
    headers: [...headers, ...(login === null ? [] : ['Proxy-Authorization', login])],
    agent: false,
  });
}
