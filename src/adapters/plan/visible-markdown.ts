/**
 * What people see of Markdown on GitHub, and nothing of what they do not: attackers hide instructions in HTML comments,
 * invisible characters, texts of images, titles of links, attributes, surplus cells of tables, and definitions that nothing
 * uses. Code stays as it is, but for comments in diagrams.
 */

import { parse, postprocess, preprocess } from 'micromark';
import { gfmFootnote } from 'micromark-extension-gfm-footnote';
import { gfmTable } from 'micromark-extension-gfm-table';
import { normalizeIdentifier } from 'micromark-util-normalize-identifier';
import type { Hidden } from '../../domain/github/untrusted-text.ts';
import { HiddenElements, type HiddenRange, hiddenInHtml } from './hidden-html.ts';

/** `failed` says why, following the name of the text. */
export type VisibleMarkdown =
  | { status: 'ok'; text: string; hidden: Hidden }
  | { status: 'failed'; why: string };

/** GitHub's own limit for a body. */
const MAX_LENGTH = 65_536;

/** Nobody writes more of these; each costs the parser as much time as all that follows. */
const MAX_DECLARATIONS = 500;

/** Folded-up details are kept: a click shows them. */
export function visibleMarkdown(markdown: string): VisibleMarkdown {
  if (markdown.length > MAX_LENGTH) return failed(`is longer than ${MAX_LENGTH} characters`);
  const given = markdown.replace(/\r\n?/g, '\n');
  const source = withShallowContainers(withoutInvisible(given));
  if ((source.match(/<[!?]/g)?.length ?? 0) > MAX_DECLARATIONS) {
    return failed(`has more than ${MAX_DECLARATIONS} of <! and <?`);
  }
  const cuts = cutsIn(source);
  const count = (what: HiddenRange['what']) => cuts.filter((cut) => cut.what === what).length;
  return {
    status: 'ok',
    text: withCuts(source, apart(cuts))
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    hidden: {
      characters: given.length - withoutInvisible(given).length,
      comments: count('comment'),
      images: count('image'),
      others: count('other'),
    },
  };
}

/** One line without what cannot be seen in it. */
export function visibleLine(text: string): string {
  return withoutInvisible(text.replace(/\s+/g, ' ')).trim();
}

/**
 * Control and formatting characters, fillers, variation selectors and tags, and halves of characters. Joiners of emoji
 * and marks of writing direction go too; what is left of the text can still be read.
 */
function withoutInvisible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu,
    '',
  );
}

/** Quotes and lists in one another, ten of them; deeper ones would keep the parser busy for minutes. */
function withShallowContainers(text: string): string {
  return text.replace(/^((?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){10})[ \t>*+\-\d.)]*/gm, '$1 ');
}

/** Emphasis hides nothing, and hostile texts can make finding it slow. */
const EXTENSIONS = [gfmFootnote(), gfmTable(), { disable: { null: ['attention'] } }];

interface Definition {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Reads the parser's events; a tree of hostile Markdown can be deeper than the stack. */
function cutsIn(source: string): HiddenRange[] {
  const events = postprocess(
    parse({ extensions: EXTENSIONS })
      .document()
      .write(preprocess()(source, undefined, true)),
  );
  const cuts: HiddenRange[] = [];
  const definitions: Definition[] = [];
  const used = new Set<string>();
  const opened: { from: number; to: number; label: string }[] = [];
  const elements = new HiddenElements();
  let columns = 0;
  let cells = 0;
  let diagram: 'none' | 'lines' | 'directive' = 'none';
  for (const [kind, token] of events) {
    const from = token.start.offset;
    const to = token.end.offset;
    const isEntered = kind === 'enter';
    const text = () => source.slice(from, to);
    switch (token.type) {
      case 'htmlFlow':
      case 'htmlText':
        if (isEntered) cuts.push(...hiddenInHtml(text(), from, elements, token.type === 'htmlFlow'));
        break;
      case 'paragraph':
      case 'atxHeading':
      case 'setextHeading':
        if (!isEntered) cuts.push(...elements.endOfText(to));
        break;
      case 'tableHead':
        if (isEntered) columns = 0;
        break;
      case 'tableRow':
        cells = 0;
        break;
      case 'tableHeader':
        if (isEntered) columns += 1;
        else cuts.push(...elements.endOfText(to));
        break;
      case 'tableData':
        if (isEntered) cells += 1;
        else cuts.push(...elements.endOfText(to));
        if (isEntered && cells > columns) cuts.push({ from, to, by: '', what: 'other' });
        break;
      case 'codeFenced':
        diagram = 'none';
        break;
      case 'codeFencedFenceInfo':
        if (isEntered && text().toLowerCase() === 'mermaid') diagram = 'lines';
        break;
      case 'codeFlowValue':
        if (!isEntered || diagram === 'none') break;
        if (diagram === 'lines' && !/^\s*%%/.test(text())) break;
        cuts.push({ from, to, by: '', what: 'comment' });
        if (diagram === 'directive' || /^\s*%%\{/.test(text())) {
          diagram = text().includes('}%%') ? 'lines' : 'directive';
        }
        break;
      case 'resourceTitle':
      case 'definitionTitle':
      case 'codeFencedFenceMeta':
        if (isEntered) cuts.push({ from, to, by: '', what: 'other' });
        break;
      case 'image':
      case 'link':
      case 'definition':
      case 'gfmFootnoteDefinition': {
        if (isEntered) {
          opened.push({ from, to, label: '' });
          break;
        }
        const closed = opened.pop();
        if (closed === undefined) throw new Error('The parser closed an element that it had not opened.');
        const mark = token.type === 'gfmFootnoteDefinition' ? '^' : '';
        const name = mark + normalizeIdentifier(closed.label);
        if (token.type === 'image') cuts.push({ from, to, by: '[image]', what: 'image' });
        else if (token.type === 'link') used.add(name);
        else definitions.push({ name, from: closed.from, to: closed.to });
        break;
      }
      case 'resource': {
        const innermost = opened.at(-1);
        if (innermost) innermost.label = '';
        break;
      }
      case 'labelText':
      case 'referenceString':
      case 'definitionLabelString':
      case 'gfmFootnoteDefinitionLabelString': {
        const innermost = opened.at(-1);
        if (!isEntered && innermost) innermost.label = text();
        break;
      }
      case 'gfmFootnoteCallString':
        if (isEntered) used.add(`^${normalizeIdentifier(text())}`);
        break;
    }
  }
  // The first definition of a name takes the name away from all that follow.
  const unused = definitions.filter(({ name }) => !used.delete(name));
  return [
    ...cuts,
    ...elements.endOfSource(source.length),
    ...unused.map(({ from, to }): HiddenRange => ({ from, to, by: '', what: 'other' })),
  ];
}

/** In their order; parts of what is cut out are not cut out once more, and what goes beyond it makes it longer. */
function apart(cuts: readonly HiddenRange[]): HiddenRange[] {
  const all: HiddenRange[] = [];
  for (const cut of [...cuts].sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = all.at(-1);
    if (last === undefined || cut.from >= last.to) all.push(cut);
    else if (cut.to > last.to) all[all.length - 1] = { ...last, to: cut.to };
  }
  return all;
}

function withCuts(source: string, cuts: readonly HiddenRange[]): string {
  let text = '';
  let at = 0;
  for (const { from, to, by } of cuts) {
    text += source.slice(at, from) + by;
    at = to;
  }
  return text + source.slice(at);
}

function failed(why: string): VisibleMarkdown {
  return { status: 'failed', why };
}
