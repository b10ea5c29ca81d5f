/**
 * A block at the end of the terminal that is repainted continuously, while printed lines scroll by above it. Loaded
 * only on a terminal.
 */

import width from 'string-width';
import type { Terminal } from '../../../ports.ts';
import { frameOf, type Moment, standingLine } from './frame.ts';

/** Milliseconds within which changes are painted together. */
const TOGETHER_MS = 100;

/** Milliseconds after which the size of a resized window counts as final. */
const SETTLED_MS = 250;

/** What is painted, where, and how. */
export interface LiveViewOptions {
  readonly terminal: Terminal;
  moment(): Moment;
  /** Makes a text less prominent, or leaves it as it is. */
  dim(text: string): string;
}

/**
 * The cursor always rests below the block, at the beginning of a line: other output, and the end of the process, find
 * the terminal in its usual state.
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

  /** Paints the current frame, unless the terminal has not yet accepted the last one. */
  paint(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#soon = null;
    if (!this.#options.terminal.isBehind()) this.#write('', this.#frame());
  }

  /** Schedules one repaint for all changes until then. */
  paintSoon(): void {
    this.#soon ??= setTimeout(() => this.paint(), TOGETHER_MS).unref();
  }

  /** Leaves the state of the run as an ordinary line. Call once. */
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

  /** As one write, which capable terminals show at once, so that no half-painted frame is visible. */
  #write(above: string, frame: readonly string[]): void {
    const { terminal, dim } = this.#options;
    const { columns } = terminal.size();
    const rows = this.#rowsIn(columns);
    const up = rows === 0 ? '' : `\u001b[${rows}A`;
    // Overwrites lines and clears only the rest of longer ones, so that an empty block is never visible.
    const block = frame.map((line) => `${dim(line)}\u001b[K\n`).join('');
    // After a resize, though, a terminal would join lines that it had wrapped before.
    const before = above === '' && columns === this.#columns ? '' : '\u001b[J';
    terminal.write(`\u001b[?2026h${up}\r${before}${above}${block}\u001b[J\u001b[?2026l`);
    this.#painted = frame;
    this.#columns = columns;
  }

  /** A terminal that has become narrower has wrapped lines, unless it cuts them. */
  #rowsIn(columns: number): number {
    const { breaksLines } = this.#options.terminal;
    return this.#painted.reduce(
      (rows, line) => rows + (breaksLines ? Math.max(1, Math.ceil(width(line) / columns)) : 1),
      0,
    );
  }
}
