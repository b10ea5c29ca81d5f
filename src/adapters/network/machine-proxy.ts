/**
 * The proxy that the machine's environment names, as git and curl read it: for the runner's own connections, and as the next hop of
 * the sandbox's proxy. Commands cannot use it.
 */

import { type ClientRequest, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net';
import type { Environment } from '../../domain/environment.ts';
import { innermostMessage } from '../../domain/errors/innermost-message.ts';
import type { Target } from '../../domain/review/reachable.ts';
import { percentDecoded } from '../../domain/text/uri.ts';

/** Which proxy leads to a host. */
export interface Upstream {
  /** Null for a direct connection; a string says why there is no way. `plain` is for a plain HTTP request. */
  routeTo(target: Target, plain: boolean): URL | string | null;
}

/** `HTTPS_PROXY` for tunnels and `HTTP_PROXY` for plain requests, with the exceptions of `NO_PROXY`. This machine is reached directly. */
export function upstreamByEnvironment(env: Environment): Upstream {
  const exceptions = [
    '127.0.0.0/8',
    '::1',
    'localhost',
    ...(env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/),
  ]
    .filter(Boolean)
    .map((entry) => exception(entry.toLowerCase()));
  return {
    routeTo(target, plain) {
      const [variable, named] = proxyNamed(env, plain);
      if (!named || exceptions.some((isFor) => isFor(target))) return null;
      // Bypassing an unusable proxy would take a route that the machine's owner did not intend.
      return parseProxy(named) ?? `${variable} ${NOT_A_PROXY}`;
    },
  };
}

/**
 * The platform's fetch unless a proxy is set. Not every supported version of Node can use a proxy in fetch, so one
 * that can is loaded if a proxy is set. Addresses of the other kind are reached directly: those over plain HTTP, or with `plainHttp` all
 * others.
 */
export async function fetchByEnvironment(
  env: Environment,
  { plainHttp = false }: { plainHttp?: boolean } = {},
): Promise<typeof fetch> {
  const [variable, named] = proxyNamed(env, plainHttp);
  if (!named) return fetch;
  const proxy = parseProxy(named);
  if (proxy === null) return () => Promise.reject(new TypeError(`${variable} ${NOT_A_PROXY}`));
  // Larger than everything else. A bundle gives a CommonJS module no other name.
  const { Agent, fetch: ask, ProxyAgent } = (await import('undici')).default;
  const agent = new ProxyAgent(proxyOptions(proxy, !plainHttp));
  const { routeTo } = upstreamByEnvironment(env);
  const isProxied = (address: string | URL = '') => {
    const { protocol, hostname, port } = new URL(address);
    const host = hostname.replace(/^\[|\]$/g, '');
    const target = { host, port: Number(port) || (plainHttp ? 80 : 443) };
    return protocol === (plainHttp ? 'http:' : 'https:') && routeTo(target, plainHttp) !== null;
  };
  // Asked for each address that an answer leads on to.
  const dispatcher = new Agent().compose((direct) => (options, handler) => {
    return isProxied(options.origin) ? agent.dispatch(options, handler) : direct(options, handler);
  });
  const proxied = (input: string | URL, init?: object) =>
    ask(input, { ...init, dispatcher }).catch((error: unknown) => {
      if (!(error instanceof TypeError) || !isProxied(input)) throw error;
      // With the client's message innermost, such as the proxy's own status; which way it took, the client does not say.
      const cause = new Error(`${innermostMessage(error)} (${variable} is ${proxy.host})`);
      throw new TypeError(error.message, { cause });
    });
  // The types of the package and of the platform's copy of it differ only in name.
  return proxied as unknown as typeof fetch;
}

/** The variable that names the proxy, and its value. */
function proxyNamed(
  env: Environment,
  plain: boolean,
): readonly [variable: string, value: string | undefined] {
  return plain
    ? ['HTTP_PROXY', env.http_proxy || env.HTTP_PROXY]
    : ['HTTPS_PROXY', env.https_proxy || env.HTTPS_PROXY];
}

/** For an agent of undici. A proxy for plain HTTP gets the requests themselves: many refuse tunnels to such addresses. */
export function proxyOptions(proxy: URL, proxyTunnel: boolean) {
  const token = loginFor(proxy);
  return { uri: proxy.origin, proxyTunnel, ...(token === null ? {} : { token }) };
}

/** Ends a sentence that begins with the variable's name. */
const NOT_A_PROXY =
  'must be http://HOST:PORT or https://HOST:PORT, with a user name and password if the proxy needs them';

/** Whether an entry of NO_PROXY is about a target: a name, which includes its subdomains, an address or a range (`10.0.0.0/8`). */
function exception(entry: string): (target: Target) => boolean {
  if (entry === '*') return () => true;
  const [range = '', bits] = entry.split('/');
  const [, inBrackets, named, only] = isIPv6(range)
    ? [entry, range]
    : (/^(?:\[(.*)\]|(?:\*?\.)?([^:]*))(?::(\d+))?$/.exec(range) ?? []);
  const place = inBrackets ?? named ?? '';
  const isPort = ({ port }: Target) => only === undefined || Number(only) === port;
  const version = isIP(place);
  if (version === 0)
    return (target) =>
      place !== '' && isPort(target) && (target.host === place || target.host.endsWith(`.${place}`));
  const length = bits === undefined ? (version === 4 ? 32 : 128) : Number(bits);
  const list = new BlockList();
  if (Number.isInteger(length) && length >= 0 && length <= (version === 4 ? 32 : 128))
    list.addSubnet(place, length, version === 4 ? 'ipv4' : 'ipv6');
  return (target) =>
    isPort(target) &&
    isIP(target.host) !== 0 &&
    list.check(target.host, isIPv4(target.host) ? 'ipv4' : 'ipv6');
}

/** Null if invalid. A name without a scheme means a proxy that speaks plain HTTP. */
function parseProxy(named: string): URL | null {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : null;
}

/** The value of `Proxy-Authorization`; null if the address has no user name and password. */
function loginFor({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const words = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(words).toString('base64')}`;
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
