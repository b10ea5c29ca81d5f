/** Records which lines of which file version the model has been shown: the guard against overwriting what it never saw. */

import * as z from 'zod';

/** What a call has shown of a file; `wrote`: the model supplied the whole content itself. */
export const SeenNote = z.strictObject({
  path: z.string(),
  blob: z.string(),
  /** 1-based and inclusive; `to` below `from` shows nothing. */
  lines: z.strictObject({ from: z.int(), to: z.int(), total: z.int() }).or(z.literal('wrote')),
});
export type SeenNote = z.infer<typeof SeenNote>;

interface Shown {
  blob: string;
  total: number;
  /** Inclusive line ranges, in the order they were shown. */
  ranges: { from: number; to: number }[];
}

/** Implements the port `SeenFiles`. A new version of a file starts with nothing seen. */
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

  /** Restores what a call of an earlier process has shown. */
  recall({ path, blob, lines }: SeenNote): void {
    if (lines === 'wrote') this.wrote(path, blob);
    else this.saw(path, blob, { from: lines.from, to: lines.to }, lines.total);
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
