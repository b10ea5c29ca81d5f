/**
 * The machine's own proxy, if its environment names one, as the next hop of the sandbox's proxy: how tunnels and
 * plain requests get through it. It resolves names.
 */

import { type ClientRequest, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Environment } from '../../domain/environment.ts';
import type { Target } from '../../domain/review/allowed-domain.ts';
import { loginFor, NOT_A_PROXY, parseProxy } from './machine-proxy.ts';

/** Which proxy leads to a host. */
export interface Upstream {
  /** Null for a direct connection; a string says why there is no way. `plain` is for a plain HTTP request. */
  routeTo(target: Target, plain: boolean): URL | string | null;
}

/** `HTTPS_PROXY` for tunnels and `HTTP_PROXY` for plain requests, with the exceptions of `NO_PROXY`, as curl reads them. */
export function upstreamByEnvironment(env: Environment): Upstream {
  const tunnels = ['HTTPS_PROXY', env.https_proxy || env.HTTPS_PROXY] as const;
  const requests = ['HTTP_PROXY', env.http_proxy || env.HTTP_PROXY] as const;
  const exceptions = (env.no_proxy || env.NO_PROXY || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    routeTo(target, plain) {
      const [variable, named] = plain ? requests : tunnels;
      if (!named || exceptions.some((entry) => isException(entry, target))) return null;
      // Bypassing an unusable proxy would take a route that the machine's owner did not intend.
      return parseProxy(named) ?? `${variable} ${NOT_A_PROXY}`;
    },
  };
}

/** Only names are matched: requests are never for addresses. */
function isException(entry: string, { host, port }: Target): boolean {
  if (entry === '*') return true;
  const [, name = '', only] = /^(?:\*?\.)?([^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (name === '' || (only !== undefined && Number(only) !== port)) return false;
  return host === name || host.endsWith(`.${name}`);
}

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

/** A request that a proxy gets, with its login. */
export interface ProxyRequest {
  readonly method: string;
  /** `host:port`, or the whole address. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly timeout?: number;
}

/** A request to the proxy itself, over a connection of its own. */
export function askProxy(proxy: URL, { method, path, headers, timeout }: ProxyRequest): ClientRequest {
  const login = loginFor(proxy);
  const isSecure = proxy.protocol === 'https:';
  return (isSecure ? requestByHttps : requestByHttp)({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (isSecure ? 443 : 80),
    method,
    path,
    headers: [...headers, ...(login === null ? [] : ['Proxy-Authorization', login])],
    agent: false,
    ...(timeout === undefined ? {} : { timeout }),
  });
}
