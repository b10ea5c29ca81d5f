/** A terminal without a window: what somebody would see who sits before it. */

import xterm from '@xterm/headless';

/** A screen of this size, with all that has scrolled off it. */
export class Screen {
  readonly #terminal: xterm.Terminal;

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 10_000,
      allowProposedApi: true,
      convertEol: true,
    });
  }

  get size(): { columns: number; rows: number } {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** Resolves when it is shown. */
  show(output: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(output, resolve));
  }

  /** Lines that are too long by then are broken in two. */
  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Every line from the first one, without the empty ones at the end. Lines that were broken are whole. */
  lines(): string[] {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row += 1) {
      const line = active.getLine(row);
      const text = line?.translateToString(!active.getLine(row + 1)?.isWrapped) ?? '';
      if (line?.isWrapped === true) lines.push(`${lines.pop() ?? ''}${text}`);
      else lines.push(text);
    }
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }
}
