/**
 * The runner's own way out, to the model and to GitHub: by the proxy that the machine's environment names, as git and curl
 * go. Commands have nothing of it.
 */

import { BlockList, isIP, isIPv4 } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The platform's fetch where no proxy is named. It knows none on every Node that is supported, so a client that does is loaded
 * where one is (`https_proxy` or `HTTPS_PROXY`, with the exceptions of `no_proxy` or `NO_PROXY`).
 */
export async function fetchByEnvironment(env: Environment): Promise<typeof fetch> {
  const named = env.https_proxy || env.HTTPS_PROXY;
  if (!named) return fetch;
  const proxy = parseProxy(named);
  // Who goes around a proxy that cannot be used would go a way that the machine's owner has not meant.
  if (proxy === null) return () => Promise.reject(new TypeError(NOT_A_PROXY));
  const { proxiedFetch } = await import('./proxied-fetch.ts');
  const exceptions = env.no_proxy || env.NO_PROXY || '';
  return proxiedFetch(proxy, (address) => isDirect(address, exceptions));
}

const NOT_A_PROXY =
  'HTTPS_PROXY has to be http://HOST:PORT or https://HOST:PORT, with user name and password where it takes some';

/** True for this machine, for plain HTTP, which is for this machine only, and for what the list of exceptions names. */
export function isDirect({ protocol, hostname, port }: URL, exceptions: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (protocol !== 'https:' || isLoopback(host)) return true;
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && isMeant(entry, host, port || '443'));
}

/** A name stands for itself and for all below it, with or without a dot or `*.` before it; an address may be a range. */
function isMeant(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [, inBrackets, plain = '', givenPort] =
    /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  if (givenPort !== undefined && givenPort !== port) return false;
  const named = inBrackets ?? plain;
  if (isIP(host) !== 0) return isAmong(named, host);
  const domain = named.replace(/^\*?\./, '').replace(/\.$/, '');
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}

/** `range` is an address, or one with the number of its leading bits that count. */
function isAmong(range: string, address: string): boolean {
  const [network = '', bits] = range.split('/');
  if (isIP(network) === 0) return false;
  const most = isIPv4(network) ? 32 : 128;
  const list = new BlockList();
  const length = bits === undefined ? most : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > most) return false;
  list.addSubnet(network, length, isIPv4(network) ? 'ipv4' : 'ipv6');
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function isLoopback(host: string): boolean {
  return /^(?:.+\.)?localhost$/.test(host) || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Null for what is none. A name without a scheme is a proxy that is spoken to in plain HTTP. */
function parseProxy(named: string): URL | null {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : null;
}
