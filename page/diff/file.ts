/** One file of the patch: its hunks with the calls that made them. */

import type { PatchHunk } from '../../src/domain/changes/patch-text.ts';
import type { FileProvenance, Origin } from '../../src/domain/changes/provenance.ts';
import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { type Child, h, moreButton, put } from '../dom.ts';
import { type Call, callKey } from '../run.ts';
import { visibleText } from '../visible.ts';
import { diffTable, type Line, linesOf, type PatchFile, parsedFile } from './rows.ts';

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

/** The first hunks of a file; `upTo` is the number of a hunk that must be included. */
export function fileBody(view: FileView, upTo = 0): HTMLElement {
  const parsed = parsedFile(view.patched);
  const { provenance } = view;
  if (parsed.status === 'failed') return h('div.hunks', h('p.note', parsed.why));
  const hunks = parsed.status === 'ok' ? parsed.hunks : [];
  const isWhole = hunks.length === 0 || provenance?.hunks === null;
  const binary = 'A binary file: changes.patch has its contents.';
  const body = h(
    'div.hunks',
    parsed.mode !== null && h('p.note', `Mode: ${parsed.mode}`),
    provenance?.cut && h('p.note', provenance.cut),
    isWhole && h('p.note', 'Made by ', origins(provenance?.sources ?? [], view)),
    hunks.length === 0 && h('p.note', parsed.status === 'binary' ? binary : 'No line of this file changed.'),
  );
  more(body, view, { hunks, from: 0, upTo });
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
  for (const hunk of hunks.slice(from)) {
    if (made >= MOST_LINES && at > upTo) break;
    put(body, hunkPart(hunk, at, view));
    made += hunk.lines.length;
    at += 1;
  }
  if (at >= hunks.length) return;
  const left = hunks.slice(at).reduce((sum, { lines }) => sum + lines.length, 0);
  const button = moreButton(`Show more: ${pluralize(left, 'line')} left`, () => {
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
    'div.hunk',
    { id: `${view.anchor}h${at}`, tabindex: -1, role: 'group', 'aria-label': label },
    h('div.hunk-head', h('code', place), isSame && origins(found.sources, view)),
  );
  addLines(part, linesOf(hunk), label);
  return part;
}

/** Appends the first lines of a hunk, and a button for the rest. */
function addLines(part: HTMLElement, all: readonly Line[], label: string): void {
  for (let at = 0; at < Math.min(MOST_LINES, all.length); at += CHUNK) {
    const some = all.slice(at, Math.min(at + CHUNK, MOST_LINES));
    const chunk = h('div.chunk', diffTable(some, label));
    chunk.style.setProperty('--lines', String(some.length));
    put(part, chunk);
  }
  const rest = all.slice(MOST_LINES);
  if (rest.length === 0) return;
  const button = moreButton(`Show more of this hunk: ${formatNumber(rest.length)} lines left`, () => {
    addLines(part, rest, label);
    part.focus();
  });
  put(part, button);
}

function origins(sources: readonly Origin[], view: FileView): HTMLElement {
  const links = (some: readonly Origin[]) => some.flatMap((origin) => originLinks(origin, view));
  const shown = links(sources.slice(0, MOST_ORIGINS));
  const rest = sources.slice(MOST_ORIGINS);
  return h(
    'span.origins',
    shown.length > 0 ? shown : 'an unknown change',
    rest.length > 0 && h('details.inline', h('summary', `${formatNumber(rest.length)} more`), links(rest)),
  );
}

function originLinks(origin: Origin, { calls }: FileView): Child[] {
  switch (origin.by) {
    case 'tool':
      return origin.calls.slice(0, 10).map((id) => {
        const call = calls.get(callKey(origin.iteration, id));
        const which = call === undefined ? '' : `.${call.at}`;
        const text = `iteration ${origin.iteration}${which} · ${origin.tool}`;
        if (call === undefined) return h('span.origin', text);
        return h('a.origin', { href: `#${call.anchor}`, title: 'Go to this call in the timeline' }, text);
      });
    case 'setup':
      return [h('span.origin.other', 'setup commands')];
    case 'verify':
      return [h('span.origin.other', `verify commands after iteration ${origin.iteration}`)];
    case 'outside':
      return [h('span.origin.other', `outside the run, after iteration ${origin.iteration}`)];
  }
}
