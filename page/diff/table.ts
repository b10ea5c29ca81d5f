/** Rows of a diff as a table. */

import { h, put } from '../dom.ts';
import type { Line } from './rows.ts';

/** A table of consecutive lines. `label` names it for screen readers. */
export function diffTable(lines: readonly Line[], label: string) {
  const table = h('table', { class: 'diff', 'aria-label': label });
  const body = h('tbody');
  for (const line of lines) body.append(rowOf(line));
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

function rowOf(line: Line): HTMLElement {
  return h('tr', { class: classOf(line) }, number(line.old), number(line.now), code(line));
}

function classOf({ sign }: Line): string {
  return sign === '+' ? 'add' : sign === '-' ? 'del' : '';
}

/** The number is an attribute, not text, so that it is not copied with the code. */
function number(n: number | null): HTMLElement {
  return h('td', { class: 'n', 'data-n': n });
}

function code(line: Line): HTMLElement {
  const cell = h('td', { class: 'code', 'data-sign': line.sign });
  let at = 0;
  for (const [from, to] of line.words) {
    put(cell, line.text.slice(at, from), h('mark', {}, line.text.slice(from, to)));
    at = to;
  }
  put(cell, line.text.slice(at));
  if (line.isUnended) put(cell, h('span', { class: 'unseen' }, 'no line ending'));
  return cell;
}
