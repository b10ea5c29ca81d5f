/**
 * A block at the end of the terminal that is painted over and over, with whatever is printed scrolling by above it. Loaded
 * only on a terminal.
 */

import width from 'string-width';
import type { Terminal } from '../../../ports.ts';
import { frameOf, type Moment, standingLine } from './frame.ts';

/** Milliseconds within which changes are painted together. */
const TOGETHER_MS = 100;

/** Milliseconds after which a window that is being resized is taken to have its size. */
const SETTLED_MS = 250;

/** What is painted, where, and how. */
export interface LiveViewOptions {
  readonly terminal: Terminal;
  moment(): Moment;
  /** Makes a text less prominent, or leaves it as it is. */
  dim(text: string): string;
}

/**
 * The cursor always rests below the block, at the beginning of a line: what somebody else prints, and the end of the process,
 * find the terminal as any program leaves it.
 */
export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #stopListening: () => void;
  /** What is on the terminal now. */
  #painted: readonly string[] = [];
  /** How wide it was then. */
  #columns = 0;
  #soon: NodeJS.Timeout | null = null;

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#stopListening = options.terminal.onResize(() => {
      if (this.#soon !== null) clearTimeout(this.#soon);
      this.#soon = setTimeout(() => this.paint(), SETTLED_MS).unref();
    });
  }

  /** Prints lines for good, above the block. */
  print(text: string): void {
    this.#write(`${text}\n`, this.#frame());
  }

  /** Paints the moment, unless the terminal has not even taken the last one. */
  paint(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#soon = null;
    if (!this.#options.terminal.isBehind()) this.#write('', this.#frame());
  }

  /** Paints what has changed by then, once. */
  paintSoon(): void {
    this.#soon ??= setTimeout(() => this.paint(), TOGETHER_MS).unref();
  }

  /** Leaves the state of the run as a line among the others. Call once. */
  end(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#stopListening();
    const { moment, dim } = this.#options;
    const { standing, now } = moment();
    this.#write(standing === null ? '' : `${dim(standingLine(standing, now))}\n`, []);
  }

  #frame(): string[] {
    const { terminal, moment } = this.#options;
    return frameOf(moment(), terminal.size());
  }

  /** In one piece, which terminals that can do so show at once: nothing is seen half painted. */
  #write(above: string, frame: readonly string[]): void {
    const { terminal, dim } = this.#options;
    const { columns } = terminal.size();
    const rows = this.#rowsIn(columns);
    const up = rows === 0 ? '' : `\u001b[${rows}A`;
    // Lines are overwritten, and only what is left of longer ones is cleared: an empty block is never seen.
    const block = frame.map((line) => `${dim(line)}\u001b[K\n`).join('');
    // After a resize, though, a terminal would join what it has broken in two before.
    const before = above === '' && columns === this.#columns ? '' : '\u001b[J';
    terminal.write(`\u001b[?2026h${up}\r${before}${above}${block}\u001b[J\u001b[?2026l`);
    this.#painted = frame;
    this.#columns = columns;
  }

  /** A terminal that has become narrower has broken lines in two, except for those that cut them. */
  #rowsIn(columns: number): number {
    const { breaksLines } = this.#options.terminal;
    return this.#painted.reduce(
      (rows, line) => rows + (breaksLines ? Math.max(1, Math.ceil(width(line) / columns)) : 1),
      0,
    );
  }
}
