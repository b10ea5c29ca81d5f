/** Decides who gets through the proxy, and to which addresses. */

import { lookup } from 'node:dns/promises';
import { connect as connectSocket, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type HostUse, lookedUpHost, type OnUsed } from '../../domain/review/egress.ts';
import { flagFor, parseTarget, permits, type Target } from '../../domain/review/reachable.ts';
import { listed } from '../../domain/text/words.ts';
import type { Upstream } from './machine-proxy.ts';
import { type AddressKind, addressKind } from './public-address.ts';

/** What the gate permits. The functions default to the machine's own. */
export interface GateOptions {
  /** Entries of `--allow-domain`. */
  readonly allowed: readonly string[];
  /** Entries of `--allow-private`. Default: none. */
  readonly privateHosts?: readonly string[];
  /** The addresses of a host; rejects when there are none. */
  readonly resolve?: (host: string) => Promise<string[]>;
  /** Whether a host may have this address; `isPrivate` for one of `privateHosts`. */
  readonly mayConnect?: (address: string, isPrivate: boolean) => boolean;
  /** Opens a connection to one of the checked addresses. */
  readonly connect?: (passed: Passed) => Socket;
  /** The machine's own proxy. Default: none. */
  readonly upstream?: Upstream;
  /** Default: requests are not reported. */
  readonly onUsed?: OnUsed;
}

/** A permitted host, reachable only at these addresses: its name is not resolved again. */
export interface Passed {
  readonly status: 'ok';
  readonly target: Target;
  readonly addresses: readonly string[];
  /** The proxy on the way to it, which resolves its name; null for a direct connection. */
  readonly via: URL | null;
}

/** What a client sends: a request for a tunnel, or a plain HTTP request. */
export type Asked = 'tunnel' | 'plain';

/** `code` is an HTTP status; `reason` is for readers of the command's output. */
export interface HeldBack {
  readonly status: 'held';
  readonly code: 403 | 502;
  readonly reason: string;
}

/** Special-use names, and names that stand for addresses. */
const NO_ONES = /(?:^|\.)(?:invalid|localhost|local|arpa)$/;
/** Time limit for looking up a name that is resolved elsewhere. */
const LOOKUP_MS = 1_000;
const MAX_KNOWN = 1_000;
/** Maximum number of entries named in a refusal. */
const MAX_NAMED = 10;

/** Decides which hosts may be reached, and reports what becomes of each request. */
export type NetworkGate = ReturnType<typeof openGate>;

/** A gate that judges a host by its name, which has to be on the list, and then by its resolved addresses. */
export function openGate({
  allowed,
  privateHosts = [],
  resolve = resolveByMachine,
  mayConnect = isPermittedAddress,
  connect = connectTo,
  upstream = { routeTo: () => null },
  onUsed = () => undefined,
}: GateOptions) {
  let refusals = 0;
  const looked = new Map<string, Promise<string[]>>();
  const entries = [...allowed, ...privateHosts];
  return {
    connect,
    judge,
    failed,
    refuse,
    /** How many requests were refused. */
    refusals: () => refusals,
    /** Reports a permitted host that answered, or a tunnel to it. */
    reached({ host, port }: Target): void {
      onUsed({ host: nameOf(host, port), outcome: 'reached', why: '' });
    },
    /** Counts a name that a program looked up, unless it is allowed or no name server has it. */
    lookedUp(name: string): void {
      const target = parseTarget(name, 443);
      if (typeof target === 'string' || !target.host.includes('.') || NO_ONES.test(target.host)) return;
      if (entries.some((entry) => permits([entry.replace(/:\d+$/, '')], target))) return;
      const { host, why, allow } = lookedUpHost(target.host);
      onUsed({ host, outcome: 'refused', why, allow });
    },
  };

  /** Names are resolved only if they are on the list: a DNS query carries data too. */
  async function judge(authority: string, asked: Asked): Promise<Passed | HeldBack> {
    const target = parseTarget(authority, asked === 'plain' ? 80 : null);
    if (typeof target === 'string') return held(403, refuse(authority, target));
    const isPrivate = permits(privateHosts, target);
    if (!isPrivate && !permits(allowed, target)) return held(403, refuseUnlisted(target));
    // A host in this machine's network is reached directly: only an address that is looked up here can be checked.
    const via = isPrivate ? null : upstream.routeTo(target, asked === 'plain');
    if (typeof via === 'string') return held(502, failed(target, `cannot be reached: ${via}`));
    if (via !== null) return judgeBehind(via, target);
    let found: string[];
    try {
      found = await resolve(target.host);
    } catch (error) {
      return held(502, failed(target, `has no address (${codeOf(error)})`));
    }
    const addresses = found.filter((address) => mayConnect(address, isPrivate));
    if (addresses.length > 0) return { status: 'ok', target, addresses, via: null };
    return held(403, refuseAddresses(target, found, isPrivate));
  }

  /**
   * The proxy resolves the name and decides where to connect. If this machine can resolve the name, none of its
   * addresses may be a refused one; a machine behind a proxy often cannot resolve names of the internet.
   */
  async function judgeBehind(via: URL, target: Target): Promise<Passed | HeldBack> {
    const closed = (await lookUpAside(target.host)).filter((address) => !mayConnect(address, false));
    if (closed.length > 0) return held(403, refuseAddresses(target, closed, false));
    return { status: 'ok', target, addresses: [], via };
  }

  /** What this machine knows about a name that is resolved elsewhere; looked up once, since finding nothing may take a second. */
  function lookUpAside(host: string): Promise<string[]> {
    if (looked.size > MAX_KNOWN) looked.clear();
    const known =
      looked.get(host) ??
      Promise.race([resolve(host).catch(() => []), setTimeout(LOOKUP_MS, [], { ref: false })]);
    looked.set(host, known);
    return known;
  }

  /** Reports a permitted host that gave no answer; returns that in words. */
  function failed({ host, port }: Target, why: string): string {
    onUsed({ host: nameOf(host, port), outcome: 'failed', why: `${host} ${why}` });
    return `${host} ${why}`;
  }

  /** Counts a refusal; returns it in words, with the host in printable form. */
  function refuse(host: string, why: string, allow: HostUse['allow'] = null): string {
    return refused(host, `${plainName(host)}: ${why}`, allow);
  }

  /** Requests by commands are untrusted, so they are kept short and plain. */
  function refused(host: string, why: string, allow: HostUse['allow']): string {
    refusals += 1;
    onUsed({ host: plainName(host), outcome: 'refused', why, allow });
    return why;
  }

  function refuseUnlisted(target: Target): string {
    const host = nameOf(target.host, target.port);
    const allow = flagFor(target);
    const why =
      entries.length === 0
        ? 'is refused: no host is allowed'
        : `is not one of the allowed domains (${listed(entries, MAX_NAMED)})`;
    return refused(
      host,
      `${plainName(host)} ${why}${allow === null ? '' : `; to allow it: ${allow}`}`,
      allow,
    );
  }

  /** The name is allowed, but its address is not. */
  function refuseAddresses(target: Target, addresses: readonly string[], isPrivate: boolean): string {
    const kinds = new Set(addresses.map(addressKind));
    const canBeAllowed = !isPrivate && kinds.size === 1 && kinds.has('private');
    const allow = canBeAllowed ? flagFor(target, true) : null;
    const what = [...kinds].map((kind) => ADDRESS_MEANINGS[kind]);
    const why = `it resolves to ${listed(addresses, 3)}: ${listed(what, MAX_NAMED)}`;
    return refuse(target.host, allow === null ? why : `${why}; to allow it: ${allow}`, allow);
  }
}

const MAX_NAME = 120;

/** Printable ASCII on one line, cut where it is too long. */
function plainName(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}...` : plain || '(nothing)';
}

/** A host as it is recorded. */
function nameOf(host: string, port: number): string {
  return port === 443 || port === 80 ? host : `${host}:${port}`;
}

/** Connects to one of the checked addresses, even if a name server now says otherwise. */
function connectTo({ target, addresses }: Pick<Passed, 'target' | 'addresses'>): Socket {
  return connectSocket({ ...target, lookup: lookupAmong(addresses), allowHalfOpen: true });
}

/** Replaces the machine's resolver. */
export function lookupAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, callback) => {
    const [first] = all;
    if (options.all === true) callback(null, all);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/** The system's code of an error, such as `ECONNREFUSED`. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

/** The addresses of a host; rejects when there are none. */
export async function resolveByMachine(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function isPermittedAddress(address: string, isPrivate: boolean): boolean {
  const kind = addressKind(address);
  return kind === 'public' || (isPrivate && kind === 'private');
}

/** What an address is, to follow it in a sentence. */
export const ADDRESS_MEANINGS: Readonly<Record<AddressKind, string>> = {
  public: 'a public address',
  private: 'an address in a private network',
  metadata: 'an address at which clouds serve credentials, which is never allowed',
  machine: 'this machine, which is never allowed',
  special: 'not an address that a host can have',
};

function held(code: HeldBack['code'], reason: string): HeldBack {
  return { status: 'held', code, reason };
}
