/** The patch, file by file. Diffs are created when they come near the viewport, and large ones on request. */

import type { ChangedFile } from '../../src/domain/changes/change.ts';
import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { type FileView, fileBody } from '../diff/file.ts';
import { patchFiles } from '../diff/rows.ts';
import { type Child, h, put, section } from '../dom.ts';
import { sizeText } from '../format.ts';
import { callKey, type Run } from '../run.ts';
import { visibleText } from '../visible.ts';

/** Files with more changed lines, and files after this many lines, start collapsed. */
const LARGE = 400;
const OPEN_LINES = 2_500;

/** With more files than this, only visible ones are laid out. */
const MANY = 50;

/** Git's letter for a kind of change, the word for it, and its colour. */
const KINDS: Readonly<Record<string, readonly [string, string, ('good' | 'bad')?]>> = {
  create: ['A', 'added', 'good'],
  modify: ['M', 'modified'],
  delete: ['D', 'deleted', 'bad'],
  rename: ['R', 'renamed'],
  mode: ['M', 'mode changed'],
};

/** Hunks by the call that made them. */
export type MadeBy = ReadonlyMap<string, readonly { readonly anchor: string; readonly text: string }[]>;

/** The section, and how to reveal one of its elements. */
interface Changes {
  readonly section: HTMLElement;
  readonly madeBy: MadeBy;
  /** Opens the parts that contain the element with this id. */
  reveal(id: string): void;
}

/** The section with a list of all files and their diffs. `patch` has one character per byte. */
export function changesSection(run: Run, patch: string): Changes {
  const { result, patch: known } = run.data;
  const files = result.changedFiles;
  const byPath = new Map(result.provenance?.files.map((file) => [file.path, file]));
  const views = patchFiles(files, patch).map((patched, at) => ({
    patched,
    anchor: `f${at}`,
    provenance: byPath.get(patched.file.path) ?? null,
    calls: run.calls,
  }));
  let open = 0;
  const items = views.map((view) => {
    const lines = linesOf(view.patched.file);
    const isOpen = view.patched.text !== null && lines <= LARGE && open + lines <= OPEN_LINES;
    if (isOpen) open += lines;
    return new FileItem(view, isOpen);
  });
  const elements = items.map(({ element }) => element);
  const byElement = new Map<Element, FileItem>(items.map((item) => [item.element, item]));
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) byElement.get(target)?.fill();
    },
    { rootMargin: '1200px' },
  );
  for (const element of elements) watcher.observe(element);
  const button = (text: string, isOpen: boolean) => {
    const onclick = () => {
      for (const element of elements) element.open = isOpen;
    };
    return h('button', { type: 'button', onclick }, text);
  };
  const isWithheld = result.patch === null && files.length > 0;
  const withheld = 'There is no patch: it is withheld, or could not be kept. These files would be in it.';
  const made = section(
    'changes',
    'Changes',
    h('p', sumOf(files, known.bytes)),
    known.why !== null && h('p.callout.warn', known.why),
    isWithheld && h('p.callout.warn', withheld),
    items.length > 0 && h('div.toolbar', button('Unfold all', true), button('Fold all', false)),
    elements,
  );
  made.classList.toggle('many', items.length > MANY);
  return {
    section: made,
    madeBy: madeBy(views),
    reveal(id) {
      const [, file, hunk] = /^(f\d+)(?:h(\d+))?$/.exec(id) ?? [];
      items.find(({ view }) => view.anchor === file)?.show(Number(hunk ?? 0));
    },
  };
}

/** One collapsible file. */
class FileItem {
  readonly element: HTMLDetailsElement;
  readonly view: FileView;
  #body: HTMLElement | null = null;

  constructor(view: FileView, isOpen: boolean) {
    this.view = view;
    const { file, text } = view.patched;
    const lines = linesOf(file);
    const summary = h('summary', h('span.path', kindAndName(file)), h('span.counts', counts(file)));
    if (lines > LARGE && text !== null) put(summary, h('span.large', 'large, folded'));
    this.element = h('details.file', { id: view.anchor, open: isOpen }, summary);
    // Reserves space, so that the page does not jump while the reader scrolls.
    if (isOpen) this.element.style.setProperty('--lines', String(Math.min(lines + 6, 60)));
    this.element.addEventListener('toggle', () => {
      if (this.element.open && isNear(this.element)) this.fill();
    });
  }

  /** Creates the diff of an open file. */
  fill(upTo = 0): void {
    if (!this.element.open || this.#body !== null) return;
    this.#body = fileBody(this.view, upTo);
    this.element.classList.add('filled');
    this.element.append(this.#body);
  }

  /** Opens it up to a hunk. */
  show(hunk: number): void {
    this.element.open = true;
    if (document.getElementById(`${this.view.anchor}h${hunk}`) !== null) return;
    this.#body?.remove();
    this.#body = null;
    this.fill(hunk);
  }
}

function isNear(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > -1_200 && top < window.innerHeight + 1_200;
}

function linesOf({ additions, deletions }: ChangedFile): number {
  return (additions ?? 0) + (deletions ?? 0);
}

function kindAndName({ kind, path, from }: ChangedFile): Child[] {
  const [letter, word, tone = kind] = KINDS[kind] ?? ['?', kind];
  const name = from === undefined ? path : `${from} → ${path}`;
  return [h(`span.kind.${tone}`, { title: word }, letter, h('span.sr', ` ${word} `)), h('bdi', name)];
}

function counts({ additions, deletions }: ChangedFile): Child[] {
  if (additions === null) return ['binary'];
  const [plus, minus] = [formatNumber(additions), formatNumber(deletions ?? 0)];
  return [h('span.plus', `+${plus}`), ' ', h('span.minus', `−${minus}`)];
}

function sumOf(files: readonly ChangedFile[], bytes: number): string {
  if (files.length === 0) return 'No file changed.';
  const sum = (name: 'additions' | 'deletions') => files.reduce((all, file) => all + (file[name] ?? 0), 0);
  const size = bytes > 0 ? `, a patch of ${sizeText(bytes)}` : '';
  return `${pluralize(files.length, 'file')} changed, ${pluralize(sum('additions'), 'line')} added and ${formatNumber(sum('deletions'))} removed${size}.`;
}

function madeBy(views: readonly FileView[]): MadeBy {
  const made = new Map<string, { anchor: string; text: string }[]>();
  for (const { anchor, provenance } of views) {
    if (provenance === null) continue;
    const { hunks, sources, path } = provenance;
    const parts = hunks?.length ? hunks : [{ sources, newStart: null }];
    for (const [at, part] of parts.entries()) {
      const isFile = part.newStart === null;
      const text = `${visibleText(path)}${isFile ? '' : `:${part.newStart}`}`;
      const place = { anchor: isFile ? anchor : `${anchor}h${at}`, text };
      for (const origin of part.sources) {
        if (origin.by !== 'tool') continue;
        for (const id of origin.calls) {
          const key = callKey(origin.iteration, id);
          const known = made.get(key);
          if (known) known.push(place);
          else made.set(key, [place]);
        }
      }
    }
  }
  return made;
}
