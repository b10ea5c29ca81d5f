/** Counts what the proxy has refused. Requests by commands are untrusted, so they are kept short and plain. */

import type { RefusedHost } from '../../domain/review/allowed-domain.ts';

/** Maximum number of hosts counted separately; the rest are counted together. */
const MAX_HOSTS = 100;
const MAX_NAME = 120;

/** Counts refused connections by host. It remembers a limited number of hosts; the rest count as one. */
export class Refusals {
  readonly #times = new Map<string, number>();

  add(host: string): void {
    const plain = plainName(host);
    const key = this.#times.has(plain) || this.#times.size < MAX_HOSTS ? plain : 'other hosts';
    this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
  }

  /** In the order in which they were first requested. */
  list(): RefusedHost[] {
    return [...this.#times].map(([host, times]) => ({ host, times }));
  }
}

/** Printable ASCII on one line, cut where it is too long. */
export function plainName(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}...` : plain || '(nothing)';
}
