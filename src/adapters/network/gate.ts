/** Decides who gets through the proxy, and to which addresses. */

import { lookup } from 'node:dns/promises';
import { connect as connectSocket, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { flagFor, parseTarget, permits, type Target } from '../../domain/review/allowed-domain.ts';
import { listed } from '../../domain/text/listed.ts';
import { isPublicAddress } from './public-address.ts';
import { plainName, type Refusal, Refusals } from './refusals.ts';
import type { Upstream } from './upstream.ts';

/** What the gate permits. The functions default to the machine's own. */
export interface GateOptions {
  /** Entries of `--allow-domain`. */
  readonly allowed: readonly string[];
  /** The addresses of a host; rejects when there are none. */
  readonly resolve?: (host: string) => Promise<string[]>;
  /** Whether a host may have this address. */
  readonly mayConnect?: (address: string) => boolean;
  /** Opens a connection to one of the checked addresses. */
  readonly connect?: (passed: Passed) => Socket;
  /** The machine's own proxy. Default: none. */
  readonly upstream?: Upstream;
}

/** A permitted host, reachable at these addresses only: its name is not resolved again. */
export interface Passed {
  readonly status: 'ok';
  readonly target: Target;
  readonly addresses: readonly string[];
  /** The proxy that leads to it, which resolves its name; null for the direct way. */
  readonly via: URL | null;
}

/** How a client asks: for a tunnel, or by a request of plain HTTP. */
export type Asked = 'tunnel' | 'plain';

/** `code` is an HTTP status; `reason` is for readers of the command's output. */
export interface HeldBack {
  readonly status: 'held';
  readonly code: 403 | 502;
  readonly reason: string;
}

/** How long a name may take that is to be resolved elsewhere. */
const LOOKUP_MS = 1_000;
const MAX_KNOWN = 1_000;
/** Maximum number of entries named in a refusal. */
const MAX_NAMED = 10;

/** Decides whether a host may be reached: by its name on the list, then by its resolved addresses. Counts refusals. */
export class NetworkGate {
  readonly refusals = new Refusals();
  readonly #allowed: readonly string[];
  readonly #resolve: (host: string) => Promise<string[]>;
  readonly #mayConnect: (address: string) => boolean;
  readonly #upstream: Upstream;
  readonly #known = new Map<string, Promise<string[]>>();
  readonly connect: (passed: Passed) => Socket;

  constructor({
    allowed,
    resolve = resolveByMachine,
    mayConnect = isPublicAddress,
    connect = connectTo,
    upstream = { routeTo: () => null },
  }: GateOptions) {
    this.#allowed = allowed;
    this.#resolve = resolve;
    this.#mayConnect = mayConnect;
    this.connect = connect;
    this.#upstream = upstream;
  }

  /** Names are resolved only if they are on the list: a DNS query carries data too. */
  async judge(authority: string, asked: Asked): Promise<Passed | HeldBack> {
    const target = parseTarget(authority, asked === 'plain' ? 80 : null);
    if (typeof target === 'string') return held(403, this.refuse(authority, target));
    if (!permits(this.#allowed, target)) {
      const name = target.port === 443 || target.port === 80 ? target.host : authority;
      return held(403, this.#refuseUnlisted(name, flagFor(target)));
    }
    const via = this.#upstream.routeTo(target, asked === 'plain');
    if (typeof via === 'string') return held(502, `${target.host} cannot be reached: ${via}`);
    if (via !== null) return this.#judgeBehind(via, target);
    let found: string[];
    try {
      found = await this.#resolve(target.host);
    } catch (error) {
      return held(502, `${target.host} has no address (${codeOf(error)})`);
    }
    const addresses = found.filter(this.#mayConnect);
    if (addresses.length > 0) return { status: 'ok', target, addresses, via: null };
    return held(403, this.refuse(target.host, whyNotPublic(found)));
  }

  /**
   * The proxy resolves the name, and whether it connects to an address is its own affair. Where this machine knows the name,
   * none of its addresses may be one that is refused; a machine behind a proxy often knows no names of the internet.
   */
  async #judgeBehind(via: URL, target: Target): Promise<Passed | HeldBack> {
    const known = await this.#lookUpAside(target.host);
    const closed = known.filter((address) => !this.#mayConnect(address));
    if (closed.length > 0) return held(403, this.refuse(target.host, whyNotPublic(closed)));
    return { status: 'ok', target, addresses: [], via };
  }

  /** What is known here of a name that is resolved elsewhere; asked once, since it may take a second to find nothing. */
  #lookUpAside(host: string): Promise<string[]> {
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    const known =
      this.#known.get(host) ??
      Promise.race([this.#resolve(host).catch(() => []), setTimeout(LOOKUP_MS, [], { ref: false })]);
    this.#known.set(host, known);
    return known;
  }

  /** Counts a refusal; returns it in words, with the host in printable form. */
  refuse(host: string, why: string, allow: Refusal['allow'] = null): string {
    const words = `${plainName(host)}: ${why}`;
    this.refusals.add(host, { why: words, allow });
    return words;
  }

  #refuseUnlisted(host: string, allow: string): string {
    const why =
      this.#allowed.length === 0
        ? 'is refused: no host is allowed'
        : `is not one of the allowed domains (${listed(this.#allowed, MAX_NAMED)})`;
    const words = `${plainName(host)} ${why}; to allow it: ${allow}`;
    this.refusals.add(host, { why: words, allow });
    return words;
  }
}

/** Connects to one of the checked addresses, whatever a name server says by now. */
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

async function resolveByMachine(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function whyNotPublic(addresses: readonly string[]): string {
  return `it resolves to ${listed(addresses, 3)}, which is not public`;
}

function held(code: HeldBack['code'], reason: string): HeldBack {
  return { status: 'held', code, reason };
}
