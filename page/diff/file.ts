/** One file of the patch: its head, and its hunks with the calls that made them. */

import type { PatchHunk } from '../../src/domain/changes/patch-text.ts';
import type { FileProvenance, Origin } from '../../src/domain/changes/provenance.ts';
import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { type Child, h, put } from '../dom.ts';
import { type Call, callKey } from '../run.ts';
import { visibleText } from '../visible.ts';
import { type PatchFile, parsedFile } from './patch.ts';
import { type Line, linesOf } from './rows.ts';
import { diffTable } from './table.ts';

/** What is needed to show a file. */
export interface FileView {
  readonly patched: PatchFile;
  /** Prefix of the ids of its elements: `f3`, `f3h2`. */
  readonly anchor: string;
  readonly provenance: FileProvenance | null;
  readonly calls: ReadonlyMap<string, Call>;
}

/** Number of lines created at a time; a button shows more. */
const MOST_LINES = 1_500;

/** Number of lines per table; tables outside the viewport are not laid out. */
const CHUNK = 200;

/** Maximum number of origins listed for a hunk; the rest is only counted. */
const MOST_ORIGINS = 3;

/** Git's letter for a kind of change, and the word for it. */
export const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  create: ['A', 'added'],
  modify: ['M', 'modified'],
  delete: ['D', 'deleted'],
  rename: ['R', 'renamed'],
  mode: ['M', 'mode changed'],
};

/** The first hunks of a file; `upTo` is the number of a hunk that must be included. */
export function fileBody(view: FileView, upTo = 0): HTMLElement {
  const body = h('div', { class: 'hunks' });
  const parsed = parsedFile(view.patched);
  const { provenance } = view;
  if (parsed.status === 'failed') return said(body, parsed.why);
  if (parsed.mode !== null) put(body, h('p', { class: 'note' }, `Mode: ${parsed.mode}`));
  if (provenance?.cut) put(body, h('p', { class: 'note' }, provenance.cut));
  if (parsed.status === 'binary' || parsed.hunks.length === 0 || provenance?.hunks === null)
    put(body, h('p', { class: 'note' }, 'Made by ', origins(provenance?.sources ?? [], view)));
  if (parsed.status === 'binary') return said(body, 'A binary file: changes.patch has its contents.');
  if (parsed.hunks.length === 0) return said(body, 'No line of this file changed.');
  more(body, view, { hunks: parsed.hunks, from: 0, upTo });
  return body;
}

function said(body: HTMLElement, text: string): HTMLElement {
  put(body, h('p', { class: 'note' }, text));
  return body;
}

interface Rest {
  readonly hunks: readonly PatchHunk[];
  readonly from: number;
  readonly upTo: number;
}

/** Hunks from one number on, and a button for the rest. */
function more(body: HTMLElement, view: FileView, { hunks, from, upTo }: Rest): void {
  let made = 0;
  let at = from;
  for (; at < hunks.length && (made < MOST_LINES || at <= upTo); at += 1) {
    const hunk = hunks[at];
    if (hunk === undefined) break;
    put(body, hunkPart(hunk, at, view));
    made += hunk.lines.length;
  }
  if (at >= hunks.length) return;
  const left = hunks.slice(at).reduce((sum, { lines }) => sum + lines.length, 0);
  const button = h('button', { type: 'button', class: 'more' }, `Show more: ${pluralize(left, 'line')} left`);
  button.addEventListener('click', () => {
    button.remove();
    more(body, view, { hunks, from: at, upTo: at });
    body.querySelector<HTMLElement>(`#${view.anchor}h${at}`)?.focus();
  });
  put(body, button);
}

function hunkPart(hunk: PatchHunk, at: number, view: FileView): HTMLElement {
  const { oldStart, oldLines, newStart, newLines } = hunk;
  const found = view.provenance?.hunks?.[at];
  const isSame = found?.oldStart === oldStart && found.newStart === newStart;
  const place = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  const label = `${visibleText(view.patched.file.path)}, ${place}`;
  const part = h(
    'div',
    { class: 'hunk', id: `${view.anchor}h${at}`, tabindex: -1, role: 'group', 'aria-label': label },
    h('div', { class: 'hunk-head' }, h('code', {}, place), isSame && origins(found.sources, view)),
  );
  lines(part, linesOf(hunk), label);
  return part;
}

function lines(part: HTMLElement, all: readonly Line[], label: string): void {
  const upTo = (from: number, most: number) => {
    const next = Math.min(from + most, all.length);
    for (let at = from; at < next; at += CHUNK) {
      const some = all.slice(at, Math.min(at + CHUNK, next));
      const chunk = h('div', { class: 'chunk' }, diffTable(some, label));
      chunk.style.setProperty('--lines', String(some.length));
      put(part, chunk);
    }
    if (next === all.length) return;
    const button = h(
      'button',
      { type: 'button', class: 'more' },
      `Show more of this hunk: ${formatNumber(all.length - next)} lines left`,
    );
    button.addEventListener('click', () => {
      button.remove();
      upTo(next, MOST_LINES);
      part.focus();
    });
    put(part, button);
  };
  upTo(0, MOST_LINES);
}

function origins(sources: readonly Origin[], view: FileView): HTMLElement {
  const shown = sources.slice(0, MOST_ORIGINS).flatMap((origin) => originLinks(origin, view));
  const rest = sources.slice(MOST_ORIGINS);
  return h(
    'span',
    { class: 'origins' },
    shown.length > 0 ? shown : 'an unknown change',
    rest.length > 0 &&
      h(
        'details',
        { class: 'inline' },
        h('summary', {}, `${formatNumber(rest.length)} more`),
        rest.flatMap((origin) => originLinks(origin, view)),
      ),
  );
}

function originLinks(origin: Origin, { calls }: FileView): Child[] {
  switch (origin.by) {
    case 'tool':
      return origin.calls.slice(0, 10).map((id) => {
        const call = calls.get(callKey(origin.iteration, id));
        const which = call === undefined ? '' : `.${call.at}`;
        const text = `iteration ${origin.iteration}${which} · ${origin.tool}`;
        if (call === undefined) return h('span', { class: 'origin' }, text);
        return h(
          'a',
          { class: 'origin', href: `#${call.anchor}`, title: 'Go to this call in the timeline' },
          text,
        );
      });
    case 'setup':
      return [h('span', { class: 'origin other' }, 'setup commands')];
    case 'verify':
      return [h('span', { class: 'origin other' }, `verify commands after iteration ${origin.iteration}`)];
    case 'outside':
      return [h('span', { class: 'origin other' }, `outside the run, after iteration ${origin.iteration}`)];
  }
}
