/** Puts lines and the model's text on stderr: one after the other, or above the live view. */

import type { Writable } from 'node:stream';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { oneLine, withinLine } from '../../../domain/text/terminal.ts';
import type { Clock } from '../../../ports.ts';
import type { Line } from './event-lines.ts';
import type { LiveView } from './live-view.ts';
import { ModelText } from './model-text.ts';
import { type Paint, paintFor } from './paint.ts';

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
  #view: LiveView | null = null;
  #printedAt: number;
  #atLineStart = true;
  /** The unfinished line of the model's text, and the last non-empty one before it. */
  #line = '';
  #lineBefore = '';

  constructor(options: PrinterOptions) {
    this.#options = options;
    this.paint = paintFor(options.hasColors);
    this.#text = new ModelText(options.redact, options.openEnd);
    this.#printedAt = options.clock();
  }

  /** From now on, lines are printed above this view; null ends the current one. */
  set view(view: LiveView | null) {
    this.#view?.end();
    this.#view = view;
  }

  get view(): LiveView | null {
    return this.#view;
  }

  /** Milliseconds since the last output. */
  get silentMs(): number {
    return this.#options.clock() - this.#printedAt;
  }

  /** The last line of the model's answer in progress, as far as it has arrived; empty for none. */
  get words(): string {
    return this.#line.trim() === '' ? this.#lineBefore : this.#line;
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
    if (this.#view !== null) this.#view.print(line);
    else {
      this.#endOpenLine();
      this.#options.stderr.write(`${line}\n`);
    }
  }

  /** A piece of the model's text. */
  stream(piece: string): void {
    const { quiet, verbose } = this.#options;
    if (quiet || (!verbose && this.#view === null)) return;
    this.#show(this.#text.add(piece));
    this.#view?.paintSoon();
  }

  /** The model's answer is complete. */
  endStream(): void {
    this.#endOpenLine();
    if (this.#line !== '') this.#endLine();
    this.#lineBefore = '';
  }

  #show(parts: readonly string[]): void {
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.#endLine();
      this.#line += part;
      if (part === '' || !this.#options.verbose || this.#view !== null) continue;
      this.#options.stderr.write(`${this.#atLineStart ? STREAM : ''}${part}`);
      this.#printedAt = this.#options.clock();
      this.#atLineStart = false;
    }
  }

  #endLine(): void {
    const line = this.#line;
    this.#line = '';
    if (line.trim() !== '') this.#lineBefore = line;
    if (!this.#options.verbose) return;
    if (this.#view !== null) this.#view.print(`${STREAM}${line}`);
    else this.#options.stderr.write(this.#atLineStart ? `${STREAM}\n` : '\n');
    this.#atLineStart = true;
  }

  /** Ends an unfinished line on stderr, so that another can follow. */
  #endOpenLine(): void {
    this.#show(this.#text.end());
    if (this.#view !== null) return;
    if (!this.#atLineStart) this.#options.stderr.write('\n');
    this.#atLineStart = true;
    this.#line = '';
  }
}

/** Prefix of each line of the model's text. */
const STREAM = '  │ ';
