/** Counts what the proxy has refused. Requests by commands are untrusted, so they are kept short and plain. */

import { countedAs, type RefusedHost } from '../../domain/review/egress.ts';

const MAX_NAME = 120;

/** Why a host was refused, and the flag that would allow it. */
export type Refusal = Pick<RefusedHost, 'why' | 'allow'>;

/** Called for each refusal, when it happens. */
export type OnRefused = (refused: RefusedHost) => void;

/** Counts refused connections by host. It remembers a limited number of hosts; the rest count as one. */
export class Refusals {
  readonly #hosts = new Map<string, RefusedHost>();
  readonly #onRefused: OnRefused | undefined;
  #total = 0;

  constructor(onRefused?: OnRefused) {
    this.#onRefused = onRefused;
  }

  /** For all hosts, without those that were only looked up. */
  get total(): number {
    return this.#total;
  }

  add(name: string, refusal: Refusal): void {
    this.#total += 1;
    this.addLookedUp(name, refusal);
  }

  /** A name that was only looked up, not connected to. */
  addLookedUp(name: string, refusal: Refusal): void {
    const refused = countedAs({ host: plainName(name), times: 1, ...refusal }, this.#hosts);
    const before = this.#hosts.get(refused.host)?.times ?? 0;
    this.#hosts.set(refused.host, { ...refused, times: before + 1 });
    this.#onRefused?.(refused);
  }

  /** In the order in which they were first requested. */
  list(): RefusedHost[] {
    return [...this.#hosts.values()];
  }
}

/** Printable ASCII on one line, cut where it is too long. */
export function plainName(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}...` : plain || '(nothing)';
}
