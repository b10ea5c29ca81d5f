/** Puts lines and the model's text on stderr: one after the other, or above the status line. */

import type { Writable } from 'node:stream';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { oneLine, withinLine } from '../../../domain/text/terminal.ts';
import type { Clock } from '../../../ports.ts';
import type { Line } from './line-words.ts';
import { ModelText } from './model-text.ts';
import { type Paint, paintFor } from './paint.ts';
import type { StatusLine } from './status-line.ts';

/** Where to print, what, and which secrets to leave out. */
export interface PrinterOptions {
  readonly stderr: Writable;
  /** Lines may have colours. */
  readonly hasColors: boolean;
  readonly clock: Clock;
  readonly redact: Redact;
  /** How many of a text's last characters may be the beginning of a secret. */
  readonly openEnd: (text: string) => number;
  /** Print warnings only. */
  readonly quiet: boolean;
  /** Print the model's text as it arrives. */
  readonly verbose: boolean;
}

/** The one writer to stderr during a run. */
export class Printer {
  readonly paint: Paint;
  readonly #options: PrinterOptions;
  readonly #text: ModelText;
  #status: StatusLine | null = null;
  #printedAt: number;
  #atLineStart = true;
  /** The unfinished line of the model's text. */
  #line = '';

  constructor(options: PrinterOptions) {
    this.#options = options;
    this.paint = paintFor(options.hasColors);
    this.#text = new ModelText(options.redact, options.openEnd);
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
    else {
      this.#endOpenLine();
      this.#options.stderr.write(`${line}\n`);
    }
  }

  /** A piece of the model's text. */
  stream(piece: string): void {
    const { quiet, verbose } = this.#options;
    if (!quiet && verbose) this.#show(this.#text.add(piece));
  }

  /** The model's answer is complete. */
  endStream(): void {
    this.#endOpenLine();
    if (this.#line !== '') this.#endLine();
  }

  #show(parts: readonly string[]): void {
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.#endLine();
      this.#line += part;
      if (part === '' || this.#status !== null) continue;
      this.#options.stderr.write(`${this.#atLineStart ? STREAM : ''}${part}`);
      this.#printedAt = this.#options.clock();
      this.#atLineStart = false;
    }
  }

  #endLine(): void {
    const line = this.#line;
    this.#line = '';
    if (this.#status !== null) this.#status.print(`${STREAM}${line}`);
    else this.#options.stderr.write(this.#atLineStart ? `${STREAM}\n` : '\n');
    this.#atLineStart = true;
  }

  /** Ends an unfinished line on stderr, so that another can follow. */
  #endOpenLine(): void {
    this.#show(this.#text.end());
    if (this.#status !== null) return;
    if (!this.#atLineStart) this.#options.stderr.write('\n');
    this.#atLineStart = true;
    this.#line = '';
  }
}

/** Prefix of each line of the model's text. */
const STREAM = '  │ ';
