/** Counts what the proxy has refused. Requests by commands are untrusted, so they are kept short and plain. */

import type { RefusedHost } from '../../domain/review/allowed-domain.ts';

/** Maximum number of hosts counted separately; the rest are counted together. */
const MAX_HOSTS = 100;
const MAX_NAME = 120;
const OTHERS = 'other hosts';

/** Why a host was refused, and the flag that would allow it. */
export type Refusal = Pick<RefusedHost, 'why' | 'allow'>;

/** Counts refused connections by host. It remembers a limited number of hosts; the rest count as one. */
export class Refusals {
  readonly #hosts = new Map<string, RefusedHost>();
  #total = 0;

  /** Of all hosts. */
  get total(): number {
    return this.#total;
  }

  add(name: string, refusal: Refusal): void {
    this.#total += 1;
    const plain = plainName(name);
    const host = this.#hosts.has(plain) || this.#hosts.size < MAX_HOSTS ? plain : OTHERS;
    const { why, allow } = host === OTHERS ? MORE : refusal;
    this.#hosts.set(host, { host, times: (this.#hosts.get(host)?.times ?? 0) + 1, why, allow });
  }

  /** In the order in which they were first requested. */
  list(): RefusedHost[] {
    return [...this.#hosts.values()];
  }
}

const MORE: Refusal = { why: `Only the first ${MAX_HOSTS} hosts are listed separately.`, allow: null };

/** Printable ASCII on one line, cut where it is too long. */
export function plainName(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}...` : plain || '(nothing)';
}
