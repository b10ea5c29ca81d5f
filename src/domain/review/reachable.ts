/**
 * Which hosts commands may reach, the entries of `--allow-domain`, and how a requested host is matched against them; and services of this
 * machine, the entries of `--service`.
 */

import * as z from 'zod';

/** Ports allowed by an entry that names none: HTTPS and HTTP. */
const WEB_PORTS = [443, 80];

/** A label of a host name: letters, digits and inner hyphens, at most 63 (RFC 1123). Other scripts come as punycode. */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})+$`);
/** In a private network a host may have a name of one label. */
const PRIVATE_HOST = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);
/** Names of the machine itself, under which it is reached without a network. */
const OWN_NAME = /^(?:.+\.)?localhost$/;

/** What a command requests, in lower case. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** `registry.npmjs.org`, `*.example.com` (everything below it, not itself), each optionally with `:port`. In lower case. */
export const AllowedDomain = hostEntry(problemOf);

/** The same, or `*` for every host: one whose pages may be read. */
export const WebHost = z.union([z.literal('*'), AllowedDomain], {
  error: ({ input }) =>
    `${JSON.stringify(input)}: write a host such as docs.example.com or *.example.com, or * for all`,
});

/** `nexus.corp.example`, `registry:4873`: one host in a private network, with `:port` or for HTTPS and HTTP. In lower case. */
export const AllowedPrivate = hostEntry(problemOfPrivate);

/** What a run, or its settings, permit commands to reach. */
export interface Permitted {
  readonly allowedDomains: readonly string[];
  readonly allowedPrivate: readonly string[];
  readonly services: readonly string[];
}

const FLAGS = {
  allowedDomains: 'allow-domain',
  allowedPrivate: 'allow-private',
  services: 'service',
} as const;

/** What of `wanted` the settings of today permit; for the rest, the entries with their flags. */
export function permittedToday(
  wanted: Permitted,
  today: Permitted,
): Permitted & { readonly missing: readonly { flag: string; entry: string }[] } {
  const missing: { flag: string; entry: string }[] = [];
  const covered = (key: keyof Permitted) =>
    wanted[key].filter((entry) => {
      if (isCovered(entry, today[key])) return true;
      missing.push({ flag: `--${FLAGS[key]}`, entry });
      return false;
    });
  return {
    allowedDomains: covered('allowedDomains'),
    allowedPrivate: covered('allowedPrivate'),
    services: covered('services'),
    missing,
  };
}

/** A target as named in a proxy request (`host:port`), or why it is invalid. Nothing is decoded, completed or corrected. */
export function parseTarget(authority: string, defaultPort: number | null): Target | string {
  if (/[^\x21-\x7e]/.test(authority)) return 'it is not a plain host name';
  const [, host = '', given] = /^([^:]*)(?::(\d{1,5}))?$/.exec(authority.toLowerCase()) ?? [];
  const port = given === undefined ? defaultPort : Number(given);
  if (looksLikeAddress(host) || authority.startsWith('[')) return 'an address is not a host name';
  if (!PRIVATE_HOST.test(host)) return 'it is not a plain host name';
  if (port === null || port < 1 || port > 65_535) return 'its port is missing or out of range';
  return { host, port };
}

/** True if one of the entries matches this host and this port. */
export function permits(entries: readonly string[], { host, port }: Target): boolean {
  return entries.some((entry) => {
    const rule = split(entry);
    const hosts = rule.wildcard ? host.endsWith(`.${rule.host}`) : host === rule.host;
    return hosts && rule.ports.includes(port);
  });
}

/** True if `entry` permits nothing that `entries` do not permit. */
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

/** For messages: without what an address names before its host, which may be a token. */
export function shownEntry(entry: string): string {
  return JSON.stringify(entry.replace(/^((?:[\w-]+=)?(?:[\w+-]+:\/\/)?).*@/, '$1***@'));
}

function hostEntry(whyNot: (entry: string) => string | null) {
  return (
    z
      .string()
      .trim()
      // Checked before lower-casing, which turns some letters of other scripts into ASCII (the Kelvin sign into k).
      .regex(/^[\x20-\x7e]*$/, { error: 'write names in other scripts as punycode (xn--…)', abort: true })
      .superRefine((entry, context) => {
        const problem = whyNot(entry.toLowerCase());
        if (problem !== null)
          context.addIssue({ code: 'custom', message: `${shownEntry(entry)}: ${problem}` });
      })
      .toLowerCase()
  );
}

function problemOfPrivate(entry: string): string | null {
  const [, host = '', port] = /^([^:]*)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (OWN_NAME.test(host)) return 'services of this machine cannot be reached';
  const expected = 'expected a host such as nexus.corp.example, or registry:4873';
  return problemIn(host, port, PRIVATE_HOST, expected);
}

function problemOf(entry: string): string | null {
  const [, host = '', port] = /^(?:\*\.)?([^:*]*)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const expected = 'expected a domain such as registry.npmjs.org, *.example.com or example.com:8443';
  return problemIn(host, port, HOST, expected);
}

function problemIn(host: string, port: string | undefined, form: RegExp, expected: string): string | null {
  if (looksLikeAddress(host)) return 'addresses cannot be allowed, only names';
  if (!form.test(host)) return expected;
  return port !== undefined && (Number(port) < 1 || Number(port) > 65_535)
    ? 'the port is out of range'
    : null;
}

/**
 * Resolvers interpret a name whose last part is decimal or hexadecimal digits as an IPv4 address (WHATWG URL, "ends in a
 * number").
 */
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

/** The flag that would permit the target; null for names of the machine itself. */
export function flagFor({ host, port }: Target, isPrivate = !host.includes('.')): string | null {
  if (OWN_NAME.test(host)) return null;
  return `--allow-${isPrivate ? 'private' : 'domain'} ${WEB_PORTS.includes(port) ? host : `${host}:${port}`}`;
}

/** As in host names, in either case. */
const NAME = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const SERVICE = new RegExp(`^(${NAME})=(?:(/[^\\0\\n:]+)|(${NAME}(?:\\.${NAME})*)):(\\d{1,5})$`);

/** A service, and where it is. */
export interface ServicePlace {
  /** Its name in the sandbox, where it listens at `port` of the loopback interface. */
  readonly name: string;
  readonly port: number;
  /** Outside: the host, with the same port, or the path of a UNIX socket. */
  readonly target: { readonly host: string; readonly port: number } | { readonly path: string };
}

/** `postgres=localhost:5432`, or with a UNIX socket `postgres=/run/postgresql/.s.PGSQL.5432:5432`. */
export const Service = z
  .string()
  .trim()
  .superRefine((entry, context) => {
    const problem = problemOfService(entry);
    if (problem !== null) context.addIssue({ code: 'custom', message: `${shownEntry(entry)}: ${problem}` });
  });

/** The parts of a valid entry. */
export function servicePlace(entry: string): ServicePlace {
  const [, name = '', path, host = '', digits] = SERVICE.exec(entry) ?? [];
  const port = Number(digits);
  return { name, port, target: path === undefined ? { host, port } : { path } };
}

/** Why these cannot be offered side by side, apart from the port that is `taken`; null if they can. */
export function whyNotTogether(services: readonly ServicePlace[], taken: number): string | null {
  const ports = [taken, ...services.map(({ port }) => port)];
  const twice = services.find(({ port }, at) => ports.indexOf(port) <= at);
  return twice === undefined
    ? null
    : `--service ${twice.name}: port ${twice.port} of the sandbox is in use already. Let the service listen at another.`;
}

function problemOfService(entry: string): string | null {
  const { name, port } = servicePlace(entry);
  if (name === '') return 'expected a service such as postgres=localhost:5432';
  if (name.toLowerCase() === 'localhost') return 'localhost is the sandbox itself; choose another name';
  return port < 1 || port > 65_535 ? 'the port is out of range' : null;
}
