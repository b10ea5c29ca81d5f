/** Puts lines on stderr: one after the other, or above the status line. */

import type { Writable } from 'node:stream';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { oneLine, withinLine } from '../../../domain/text/terminal.ts';
import type { Clock } from '../../../ports.ts';
import type { Line } from './line-words.ts';
import type { StatusLine } from './status-line.ts';

/** Where to print, what, and which secrets to leave out. */
export interface PrinterOptions {
  readonly stderr: Writable;
  /** Lines may have colours. */
  readonly hasColors: boolean;
  readonly clock: Clock;
  readonly redact: Redact;
  /** Print warnings only. */
  readonly quiet: boolean;
}

/** The one writer to stderr during a run. */
export class Printer {
  readonly paint: Paint;
  readonly #options: PrinterOptions;
  #status: StatusLine | null = null;
  #printedAt: number;

  constructor(options: PrinterOptions) {
    this.#options = options;
    this.paint = paintFor(options.hasColors);
    this.#printedAt = options.clock();
  }

  /** From now on, lines are printed above this one; null ends it. */
  set status(status: StatusLine | null) {
    this.#status?.end();
    this.#status = status;
  }

  get status(): StatusLine | null {
    return this.#status;
  }

  /** Milliseconds since the last output. */
  get silentMs(): number {
    return this.#options.clock() - this.#printedAt;
  }

  /** Prints lines in their colours; with `quiet`, only warnings. */
  print(lines: readonly Line[]): void {
    const { quiet, redact } = this.#options;
    const { bad, dim, careful } = this.paint;
    for (const { as, text } of lines) {
      if (quiet && as !== 'warning') continue;
      if (as === 'output') this.write(dim(text));
      else if (as === 'command') this.write(withinLine(redact(text)));
      else if (as === 'warning') this.write(`${careful('warning:')} ${oneLine(redact(text), 2_000)}`);
      else this.write((as === 'bad' ? bad : String)(oneLine(redact(text), 1_000)));
    }
  }

  /** Prints text that is already safe. */
  write(line: string): void {
    this.#printedAt = this.#options.clock();
    if (this.#status !== null) this.#status.print(line);
    else this.#options.stderr.write(`${line}\n`);
  }
}

/** Each returns the text in its colour, or unchanged. */
interface Paint {
  bad(text: string): string;
  good(text: string): string;
  careful(text: string): string;
  dim(text: string): string;
}

/** The terminal's own red, green and yellow, which fit its background. */
function paintFor(hasColors: boolean): Paint {
  const between = (from: number, to: number) => (text: string) =>
    hasColors ? text.replace(/[^\n]+/g, (line) => `\u001b[${from}m${line}\u001b[${to}m`) : text;
  return { bad: between(31, 39), good: between(32, 39), careful: between(33, 39), dim: between(2, 22) };
}
