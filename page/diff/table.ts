/** Rows of a diff as a table. */

import { h, put } from '../dom.ts';
import { coloured, type Piece } from './highlight.ts';
import type { Line, Range } from './rows.ts';

type Colours = ReadonlyMap<Line, readonly Piece[]>;

/** A table of consecutive lines. `label` names it for screen readers. */
export function diffTable(lines: readonly Line[], language: string | null, label: string) {
  const colours = coloursOf(lines, language);
  const table = h('table', { class: 'diff', 'aria-label': label });
  const body = h('tbody');
  for (const line of lines) body.append(rowOf(line, colours));
  put(
    table,
    h(
      'colgroup',
      {},
      ['n', 'n', 'code'].map((name) => h('col', { class: name })),
    ),
    body,
  );
  return table;
}

/** Old and new lines are highlighted separately, each side as complete code. */
function coloursOf(lines: readonly Line[], language: string | null): Colours {
  const colours = new Map<Line, readonly Piece[]>();
  for (const sign of ['-', '+'] as const) {
    const side = lines.filter((line) => line.sign !== sign);
    const pieces = coloured(
      side.map(({ text }) => text),
      language,
    );
    side.forEach((line, at) => {
      const found = pieces?.[at];
      if (found) colours.set(line, found);
    });
  }
  return colours;
}

function rowOf(line: Line, colours: Colours): HTMLElement {
  return h('tr', { class: classOf(line) }, number(line.old), number(line.now), code(line, colours));
}

function classOf({ sign }: Line): string {
  return sign === '+' ? 'add' : sign === '-' ? 'del' : '';
}

/** The number is an attribute, not text, so that it is not copied with the code. */
function number(n: number | null): HTMLElement {
  return h('td', { class: 'n', 'data-n': n });
}

function code(line: Line, colours: Colours): HTMLElement {
  const cell = h('td', { class: 'code', 'data-sign': line.sign });
  let at = 0;
  for (const { text, kind } of colours.get(line) ?? [{ text: line.text, kind: '' }]) {
    for (const [piece, isMarked] of marked(text, at, line.words)) {
      if (kind === '' && !isMarked) put(cell, piece);
      else put(cell, h(isMarked ? 'mark' : 'span', { class: kind || null }, piece));
    }
    at += text.length;
  }
  if (line.isUnended) put(cell, h('span', { class: 'unseen' }, 'no line ending'));
  return cell;
}

/** A piece of a line that begins at `from`, split where marked words begin and end. */
function* marked(text: string, from: number, words: readonly Range[]): Generator<[string, boolean]> {
  let at = from;
  const end = from + text.length;
  for (const [begin, stop] of words) {
    if (stop <= at || begin >= end) continue;
    if (begin > at) yield [text.slice(at - from, begin - from), false];
    const to = Math.min(stop, end);
    yield [text.slice(Math.max(begin, at) - from, to - from), true];
    at = to;
  }
  if (at < end) yield [text.slice(at - from), false];
}
