/** Which hosts commands may reach: the entries of `--allow-domain`, and how a host that a command asks for is held against them. */

import * as z from 'zod';

/** Ports that an entry without one stands for: HTTPS and HTTP. */
const WEB_PORTS = [443, 80];

/** A label of a host name: letters, digits and inner hyphens, at most 63 (RFC 1123). Other scripts come as punycode. */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})+$`);

/** What a command asks for, in small letters. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** `registry.npmjs.org`, `*.example.com` (everything below it, not itself), each also with `:port`. In small letters. */
export const AllowedDomain = z
  .string()
  .trim()
  // Before small letters are made: those of some letters of other scripts are ASCII (the Kelvin sign's is k).
  .regex(/^[\x20-\x7e]*$/, { error: 'write names in other scripts as punycode (xn--…)', abort: true })
  .toLowerCase()
  .superRefine((entry, context) => {
    const problem = problemOf(entry);
    if (problem !== null)
      context.addIssue({ code: 'custom', message: `${JSON.stringify(entry)}: ${problem}` });
  });

/** A target as a proxy request names it (`host:port`), or why it is none. Nothing is decoded, completed or mended. */
export function parseTarget(authority: string, defaultPort: number | null): Target | string {
  if (/[^\x21-\x7e]/.test(authority)) return 'it is not a plain host name';
  const [, host = '', given] = /^([^:]*)(?::(\d{1,5}))?$/.exec(authority.toLowerCase()) ?? [];
  const port = given === undefined ? defaultPort : Number(given);
  if (looksLikeAddress(host) || authority.startsWith('[')) return 'an address is not a host name';
  if (!HOST.test(host)) return 'it is not a plain host name';
  if (port === null || port < 1 || port > 65_535) return 'its port is missing or out of range';
  return { host, port };
}

/** True when one of the entries names this host and this port. */
export function permits(entries: readonly string[], { host, port }: Target): boolean {
  return entries.some((entry) => {
    const rule = split(entry);
    const hosts = rule.wildcard ? host.endsWith(`.${rule.host}`) : host === rule.host;
    return hosts && rule.ports.includes(port);
  });
}

/** True when `entry` opens nothing that `entries` do not open. */
export function isCovered(entry: string, entries: readonly string[]): boolean {
  const inner = split(entry);
  return inner.ports.every((port) =>
    entries.map(split).some((outer) => {
      const below = outer.wildcard && inner.host.endsWith(`.${outer.host}`);
      const same = inner.host === outer.host && inner.wildcard === outer.wildcard;
      return (same || below) && outer.ports.includes(port);
    }),
  );
}

function problemOf(entry: string): string | null {
  const [, wildcard, host = '', port] = /^(\*\.)?([^:*]*)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (looksLikeAddress(host)) return 'addresses cannot be allowed, only names';
  if (!HOST.test(host))
    return 'expected a domain such as registry.npmjs.org, *.example.com or example.com:8443';
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return 'the port is out of range';
  // A whole top-level domain is anybody's.
  return wildcard !== undefined && !host.includes('.')
    ? 'a wildcard needs a domain of two parts or more'
    : null;
}

/** Resolvers take a last part in digits, or in hexadecimal ones, for an IPv4 address (WHATWG URL, "ends in a number"). */
function looksLikeAddress(host: string): boolean {
  return /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/.test(host);
}

function split(entry: string): { wildcard: boolean; host: string; ports: readonly number[] } {
  const [name = '', port] = entry.split(':');
  const wildcard = name.startsWith('*.');
  return {
    wildcard,
    host: wildcard ? name.slice(2) : name,
    ports: port === undefined ? WEB_PORTS : [Number(port)],
  };
}

const Refused = z.strictObject({
  host: z.string().describe('As it was asked for, shortened where it is long'),
  times: z.int().positive(),
});
/** A host that commands have asked for in vain. */
export type RefusedHost = z.infer<typeof Refused>;

/** What the result says of the network. */
export const NetworkUse = z.strictObject({
  allowed: z.array(z.string()).describe('Domains that commands may reach; none means no network at all'),
  refused: z.array(Refused).describe('What commands asked the proxy for in vain; at most 101 entries'),
});
export type NetworkUse = z.infer<typeof NetworkUse>;
