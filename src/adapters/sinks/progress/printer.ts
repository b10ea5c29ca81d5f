/** Puts lines and the model's text on stderr: one after the other, or above the status line. */

import type { Writable } from 'node:stream';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { oneLine, openMark, withinLine } from '../../../domain/text/terminal.ts';
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

/** Returns what can be shown of each piece, with secrets redacted however they are split. */
class ModelText {
  readonly #redact: Redact;
  readonly #openEnd: (text: string) => number;
  /** The end of the text received, which cannot be shown until it is known how it continues. */
  #held = '';

  /** `openEnd`: how many of a text's last characters may be the beginning of a secret. */
  constructor(redact: Redact, openEnd: (text: string) => number) {
    this.#redact = redact;
    this.#openEnd = openEnd;
  }

  /** Parts of lines, with a line ending between each two. */
  add(piece: string): string[] {
    const arrived = this.#redact(this.#held + piece);
    const sure = arrived.length - Math.max(this.#openEnd(arrived), openMark(arrived));
    this.#held = arrived.slice(sure);
    return partsOf(arrived.slice(0, sure));
  }

  /** Returns what was held back, once nothing follows it. */
  end(): string[] {
    const held = this.#held;
    this.#held = '';
    return partsOf(held);
  }
}

function partsOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map(withinLine);
}
