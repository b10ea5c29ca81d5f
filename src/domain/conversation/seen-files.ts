/**
 * Records which lines of which file version the model has been shown: this prevents it from overwriting text that it never saw.
 */

import * as z from 'zod';

/**
 * The part of a file that a call has shown. `wrote`: the model supplied the whole content itself; `editOf`: it changed a part of
 * that version, which shows nothing of the rest.
 */
export const SeenNote = z.strictObject({
  path: z.string(),
  blob: z.string(),
  /** 1-based and inclusive; `to` below `from` shows nothing. */
  lines: z.union([
    z.strictObject({ from: z.int(), to: z.int(), total: z.int() }),
    z.literal('wrote'),
    z.strictObject({ editOf: z.string(), total: z.int() }),
  ]),
});
export type SeenNote = z.infer<typeof SeenNote>;

interface Shown {
  readonly blob: string;
  readonly total: number;
  /** Inclusive line ranges, in the order they were shown. */
  readonly ranges: readonly { from: number; to: number }[];
}

/** A new version of a file starts with nothing seen. */
export class SeenLines {
  readonly #shown = new Map<string, Shown>();
  #notes: { call: string; note: SeenNote }[] = [];

  /** The memory as one call sees it: what it adds is passed to `onNote`, for the journal. Implements the port `SeenFiles`. */
  forCall(call: string, onNote: (note: SeenNote) => void = () => {}) {
    const add = (note: SeenNote) => {
      onNote(note);
      this.recall(note, call);
    };
    return {
      saw: (path: string, blob: string, lines: { from: number; to: number }, total: number) =>
        add({ path, blob, lines: { ...lines, total } }),
      wrote: (path: string, blob: string) => add({ path, blob, lines: 'wrote' }),
      edited: (path: string, { before, after, total }: { before: string; after: string; total: number }) => {
        // A version that was never shown has no entry.
        if (this.coverage(path, before) !== 'none')
          add({ path, blob: after, lines: { editOf: before, total } });
      },
      coverage: (path: string, blob: string) => this.coverage(path, blob),
    };
  }

  /** Takes down what a call has shown, in this process or an earlier one. */
  recall(note: SeenNote, call: string): void {
    this.#notes.push({ call, note });
    this.#apply(note);
  }

  /**
   * Forgets what was shown by calls whose results are no longer in the conversation: the model counts as having seen only a part
   * of those files, and may not replace the rest.
   */
  forgetAllBut(calls: ReadonlySet<string>): void {
    this.#notes = this.#notes.filter(({ call }) => calls.has(call));
    for (const [path, { blob, total }] of this.#shown)
      this.#shown.set(path, { blob, total: Math.max(1, total), ranges: [] });
    for (const { note } of this.#notes) this.#apply(note);
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

  #apply({ path, blob, lines }: SeenNote): void {
    if (lines === 'wrote') {
      this.#shown.set(path, { blob, ...WHOLE });
    } else if ('editOf' in lines) {
      const before = this.coverage(path, lines.editOf);
      if (before === 'all') this.#shown.set(path, { blob, ...WHOLE });
      if (before === 'part') this.#shown.set(path, { blob, total: lines.total, ranges: [] });
    } else {
      const { from, to, total } = lines;
      const known = this.#shown.get(path);
      const ranges = known?.blob === blob ? known.ranges : [];
      this.#shown.set(path, { blob, total, ranges: [...ranges, { from, to }] });
    }
  }
}

const WHOLE = { total: 0, ranges: [] };
