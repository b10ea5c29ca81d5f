/**
 * The runner's own connections, to the model and to GitHub: through the proxy named in the machine's environment, as git and
 * curl do. Commands cannot use it.
 */

import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Environment } from '../../domain/environment.ts';
import { percentDecoded } from '../../domain/text/uri.ts';

/**
 * The platform's fetch unless a proxy is set. Not every supported version of Node can use a proxy in fetch, so one
 * that can is loaded if a proxy is set (`https_proxy` or `HTTPS_PROXY`, with the exceptions of `no_proxy` or
 * `NO_PROXY`). With `plainHttp` the requests go over plain HTTP, where `http_proxy` or `HTTP_PROXY` applies.
 */
export async function fetchByEnvironment(
  env: Environment,
  { plainHttp = false }: { plainHttp?: boolean } = {},
): Promise<typeof fetch> {
  const [variable, named] = plainHttp
    ? (['HTTP_PROXY', env.http_proxy || env.HTTP_PROXY] as const)
    : (['HTTPS_PROXY', env.https_proxy || env.HTTPS_PROXY] as const);
  if (!named) return fetch;
  const proxy = parseProxy(named);
  // Bypassing an unusable proxy would take a route that the machine's owner did not intend.
  if (proxy === null) return () => Promise.reject(new TypeError(`${variable} ${NOT_A_PROXY}`));
  const { proxiedFetch } = await import('./proxied-fetch.ts');
  const exceptions = env.no_proxy || env.NO_PROXY || '';
  const addresses = addressesIn(exceptions);
  return proxiedFetch({
    proxy,
    login: loginFor(proxy),
    variable,
    exceptions,
    isDirect: (host) => isDirect(host, addresses),
  });
}

/** Ends a sentence that begins with the variable's name. */
export const NOT_A_PROXY =
  'must be http://HOST:PORT or https://HOST:PORT, with a user name and password if the proxy needs them';

/** Which hosts are reached without the proxy: this machine, and the addresses and ranges in the list of exceptions. */
function isDirect(hostname: string, addresses: BlockList): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return addresses.check(host, isIPv4(host) ? 'ipv4' : 'ipv6');
  return /^(?:.+\.)?localhost\.?$/.test(host);
}

/**
 * Addresses of this machine, plus the addresses and ranges (`10.0.0.0/8`) in `exceptions`, interpreted as curl does. The
 * client only compares text.
 */
function addressesIn(exceptions: string): BlockList {
  const list = new BlockList();
  for (const entry of ['127.0.0.0/8', '::1', ...exceptions.split(/[\s,]+/)]) {
    const [network = '', bits] = entry.split('/');
    const version = isIP(network);
    const most = version === 4 ? 32 : 128;
    const length = bits === undefined ? most : Number(bits);
    if (version === 0 || !Number.isInteger(length) || length < 0 || length > most) continue;
    list.addSubnet(network, length, version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Null if invalid. A name without a scheme means a proxy that speaks plain HTTP. */
export function parseProxy(named: string): URL | null {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : null;
}

/** The value of `Proxy-Authorization`; null if the address has no user name and password. */
export function loginFor({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const words = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(words).toString('base64')}`;
}
