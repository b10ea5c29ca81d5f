/** Ends a request that has gone silent, or whose run was interrupted. */

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Its `signal` aborts when a wait takes too long or the outer signal aborts. */
export class RequestWatchdog {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #forward = (): void => this.#controller.abort();
  #timer: NodeJS.Timeout | undefined;
  #reason: string | null = null;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    if (outer.aborted) this.#controller.abort();
    else outer.addEventListener('abort', this.#forward, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it aborted; null if it did not. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Requires something to happen within `ms`; replaces the previous expectation. */
  expect(ms: number, reason: string): void {
    clearTimeout(this.#timer);
    if (this.#reason === null) this.#timer = setTimeout(() => this.bite(reason), Math.min(ms, MAX_TIMER_MS));
  }

  bite(reason: string): void {
    this.#reason ??= reason;
    this.#controller.abort();
  }

  /** Closes whatever is left of the request, and removes timer and listener. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#forward);
    this.#controller.abort();
  }
}
