/** Owns everything opened for a run, so that it is closed once and in order, however the run ends. */

/** Closes in reverse order of opening. A failure to close says nothing about the work, so it is only reported. */
export class Closing {
  readonly #report: (failure: string) => void;
  #closers: (() => unknown)[] = [];
  #isClosed = false;

  constructor(report: (failure: string) => void) {
    this.#report = report;
  }

  /** Anything opened after the close, by work still in progress, is closed at once. `close` may return a promise. */
  own(close: () => unknown): void {
    if (this.#isClosed) void this.#end(close);
    else this.#closers.push(close);
  }

  /** Never rejects. Can be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closers = this.#closers.splice(0).reverse();
    for (const close of closers) await this.#end(close);
  }

  async #end(close: () => unknown): Promise<void> {
    try {
      await close();
    } catch (error) {
      this.#report(error instanceof Error ? error.message : String(error));
    }
  }
}
