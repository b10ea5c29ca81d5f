/** Which lines of which file version the model has been shown: the guard against overwriting what it never saw. */

interface Shown {
  blob: string;
  total: number;
  /** Inclusive line ranges, in the order they were shown. */
  ranges: { from: number; to: number }[];
}

/** Implements the port `SeenFiles`. A new version of a file starts from nothing. */
export class SeenLines {
  readonly #shown = new Map<string, Shown>();

  saw(path: string, blob: string, lines: { from: number; to: number }, total: number): void {
    const known = this.#shown.get(path);
    if (known && known.blob === blob) known.ranges.push(lines);
    else this.#shown.set(path, { blob, total, ranges: [lines] });
  }

  wrote(path: string, blob: string): void {
    this.#shown.set(path, { blob, total: 0, ranges: [] });
  }

  coverage(path: string, blob: string): 'all' | 'part' | 'none' {
    const known = this.#shown.get(path);
    if (!known || known.blob !== blob) return 'none';
    let covered = 0;
    for (const { from, to } of [...known.ranges].sort((a, b) => a.from - b.from)) {
      if (from > covered + 1) return 'part';
      covered = Math.max(covered, to);
    }
    return covered >= known.total ? 'all' : 'part';
  }
}
