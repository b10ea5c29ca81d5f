/** The files of the patch in the page, and the lines of a hunk as a table, with the words that differ between an old line and its replacement. */

import { diffWordsWithSpace } from 'diff';
import type { ChangedFile } from '../../src/domain/changes/change.ts';
import { type PatchHunk, readPatchText } from '../../src/domain/changes/patch-text.ts';
import { h, put } from '../dom.ts';
import { decoded } from '../visible.ts';

/** A range of a line, in UTF-16 units. */
type Range = readonly [from: number, to: number];

/** One line. `old` and `now` are its line numbers; null on a side that does not contain it. */
export interface Line {
  readonly sign: ' ' | '+' | '-';
  readonly old: number | null;
  readonly now: number | null;
  readonly text: string;
  /** The file ends here without a newline. */
  readonly isUnended: boolean;
  /** The ranges that differ from its counterpart. */
  words: readonly Range[];
}

/** Longer lines and longer blocks are not compared word by word. */
const MAX_COMPARED = 400;
const MAX_PAIRED = 200;

/** The lines of a hunk, decoded. */
export function linesOf({ oldStart, newStart, lines }: PatchHunk): Line[] {
  const made: Line[] = [];
  let [old, now] = [oldStart, newStart];
  lines.forEach((line, at) => {
    const sign = line[0];
    if (sign !== ' ' && sign !== '+' && sign !== '-') return;
    made.push({
      sign,
      old: sign === '+' ? null : old,
      now: sign === '-' ? null : now,
      text: decoded(line.slice(1)),
      isUnended: lines[at + 1]?.startsWith('\\') === true,
      words: [],
    });
    if (sign !== '+') old += 1;
    if (sign !== '-') now += 1;
  });
  comparePairs(made);
  return made;
}

/** Compares removed lines with the lines that replace them. */
function comparePairs(lines: readonly Line[]): void {
  let [gone, come]: [Line[], Line[]] = [[], []];
  for (const line of [...lines, null]) {
    // A removed line after an added one starts a new block.
    if (line === null || line.sign === ' ' || (line.sign === '-' && come.length > 0)) {
      come.forEach((after, at) => {
        const before = gone[at];
        if (before) compare(before, after);
      });
      [gone, come] = [[], []];
    }
    if (line?.sign === '-') gone.push(line);
    if (line?.sign === '+') come.push(line);
  }
}

function compare(left: Line, right: Line): void {
  if (left.text.length > MAX_COMPARED || right.text.length > MAX_COMPARED) return;
  const parts = diffWordsWithSpace(left.text, right.text, { maxEditLength: MAX_PAIRED });
  if (parts === undefined) return;
  const same = parts.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length),
    0,
  );
  // If two lines have little in common, marking all the differences would not help.
  if (same * 3 < Math.min(left.text.length, right.text.length)) return;
  const ranges: { gone: Range[]; come: Range[] } = { gone: [], come: [] };
  let [old, now] = [0, 0];
  for (const { added, removed, value } of parts) {
    if (removed) ranges.gone.push([old, old + value.length]);
    if (added) ranges.come.push([now, now + value.length]);
    if (!added) old += value.length;
    if (!removed) now += value.length;
  }
  left.words = ranges.gone;
  right.words = ranges.come;
}

/** A table of consecutive lines. `label` names it for screen readers. */
export function diffTable(lines: readonly Line[], label: string): HTMLElement {
  const columns = h('colgroup', h('col.n'), h('col.n'), h('col.code'));
  return h('table.diff', { 'aria-label': label }, columns, h('tbody', lines.map(rowOf)));
}

const ROWS = { ' ': 'tr', '+': 'tr.add', '-': 'tr.del' } as const;

/** The numbers are attributes, not text, so that they are not copied with the code. */
function rowOf({ sign, old, now, text, isUnended, words }: Line): HTMLElement {
  const cell = h('td.code', { 'data-sign': sign });
  let at = 0;
  for (const [from, to] of words) {
    put(cell, text.slice(at, from), h('mark', text.slice(from, to)));
    at = to;
  }
  put(cell, text.slice(at), isUnended && h('span.unseen', 'no line ending'));
  return h(ROWS[sign], h('td.n', { 'data-n': old }), h('td.n', { 'data-n': now }), cell);
}

/** A file of the patch as text with one character per byte; null if it is not in the page. */
export interface PatchFile {
  readonly file: ChangedFile;
  readonly text: string | null;
}

/** The contents of one file of the patch, or why it cannot be shown. */
export type ParsedFile =
  | { readonly status: 'ok'; readonly hunks: readonly PatchHunk[]; readonly mode: string | null }
  | { readonly status: 'binary'; readonly mode: string | null }
  | { readonly status: 'failed'; readonly why: string };

/** The files in the result, each with its part of the patch. */
export function patchFiles(files: readonly ChangedFile[], patch: string): PatchFile[] {
  const parts = partsOf(patch);
  return files.map((file, at) => ({ file, text: parts[at] ?? null }));
}

/** A file that becomes a link has two parts with the same header, but counts as one file. */
function partsOf(patch: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < patch.length; ) {
    const next = patch.indexOf('\ndiff --git ', from);
    const end = next === -1 ? patch.length : next + 1;
    const part = patch.slice(from, end);
    const last = parts.at(-1);
    if (last !== undefined && headOf(last) === headOf(part)) parts[parts.length - 1] = last + part;
    else parts.push(part);
    from = end;
  }
  return parts;
}

function headOf(part: string): string {
  return part.slice(0, part.indexOf('\n'));
}

/** Parses one file, and compares its name with the one in the result. */
export function parsedFile({ file, text }: PatchFile): ParsedFile {
  if (text === null) return { status: 'failed', why: 'This file is not in the page; changes.patch has it.' };
  const [patched] = readPatchText(text);
  if (patched === undefined || decoded(patched.path) !== file.path)
    return { status: 'failed', why: 'The patch has another file in this place than the result says.' };
  const { hunks } = patched;
  const before = /\n(?:old|deleted file) mode (\d{6})\n/.exec(text)?.[1];
  const after = /\nnew (?:file )?mode (\d{6})\n/.exec(text)?.[1];
  const mode = before && after ? `${before} → ${after}` : null;
  return hunks ? { status: 'ok', hunks, mode } : { status: 'binary', mode };
}
