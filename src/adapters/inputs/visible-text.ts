/**
 * What people see of Markdown on GitHub, and nothing of what they do not: attackers hide instructions in HTML comments,
 * invisible characters, texts of images, titles of links, attributes, and definitions that nothing uses. Code stays as it is.
 */

import { parse, postprocess, preprocess } from 'micromark';
import { gfmFootnote } from 'micromark-extension-gfm-footnote';
import { normalizeIdentifier } from 'micromark-util-normalize-identifier';
import type { Hidden } from '../../domain/outside-text.ts';

/** `failed` says why, following the name of the text. */
export type VisibleText = { status: 'ok'; text: string; hidden: Hidden } | { status: 'failed'; why: string };

/** GitHub's own limit for a body. */
const MAX_LENGTH = 65_536;

/** Nobody writes more of these; each costs the parser as much time as all that follows. */
const MAX_DECLARATIONS = 500;

/** Folded-up details are kept: a click shows them. */
export function visibleText(markdown: string): VisibleText {
  if (markdown.length > MAX_LENGTH) return failed(`is longer than ${MAX_LENGTH} characters`);
  const given = markdown.replace(/\r\n?/g, '\n');
  const source = withShallowContainers(withoutInvisible(given));
  if ((source.match(/<[!?]/g)?.length ?? 0) > MAX_DECLARATIONS) {
    return failed(`has more than ${MAX_DECLARATIONS} of <! and <?`);
  }
  const cuts = cutsIn(source);
  const count = (what: Cut['what']) => cuts.filter((cut) => cut.what === what).length;
  return {
    status: 'ok',
    text: withCuts(source, cuts)
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

/** What stands between two offsets is replaced. */
interface Cut {
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** A plain tag hides nothing. */
  readonly what: 'comment' | 'image' | 'other' | 'tag';
}

/** Emphasis hides nothing, and hostile texts can make finding it slow. */
const EXTENSIONS = [gfmFootnote(), { disable: { null: ['attention'] } }];

interface Definition {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Reads the parser's events; a tree of hostile Markdown can be deeper than the stack. */
function cutsIn(source: string): Cut[] {
  const events = postprocess(
    parse({ extensions: EXTENSIONS })
      .document()
      .write(preprocess()(source, undefined, true)),
  );
  const cuts: Cut[] = [];
  const definitions: Definition[] = [];
  const used = new Set<string>();
  const opened: { from: number; to: number; label: string; isDefinition: boolean }[] = [];
  for (const [kind, token] of events) {
    const from = token.start.offset;
    const to = token.end.offset;
    const isEntered = kind === 'enter';
    const text = () => source.slice(from, to);
    switch (token.type) {
      case 'image':
        if (isEntered) cuts.push({ from, to, by: '[image]', what: 'image' });
        break;
      case 'htmlFlow':
      case 'htmlText':
        if (isEntered) cuts.push(...cutsInHtml(text(), from));
        break;
      case 'resourceTitle':
      case 'definitionTitle':
      case 'codeFencedFenceMeta':
        if (isEntered) cuts.push({ from, to, by: '', what: 'other' });
        break;
      case 'link':
      case 'definition':
      case 'gfmFootnoteDefinition': {
        if (isEntered) {
          opened.push({ from, to, label: '', isDefinition: token.type !== 'link' });
          break;
        }
        const closed = opened.pop();
        if (closed === undefined) throw new Error('The parser closes what it has not opened.');
        const mark = token.type === 'gfmFootnoteDefinition' ? '^' : '';
        const name = mark + normalizeIdentifier(closed.label);
        if (closed.isDefinition) definitions.push({ name, from: closed.from, to: closed.to });
        else used.add(name);
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
  const unused = definitions.filter(({ name }) => !used.has(name));
  return [...cuts, ...unused.map(({ from, to }): Cut => ({ from, to, by: '', what: 'other' }))];
}

/** Comments, declarations and processing instructions; elements whose content no page shows; any other tag. */
const HTML =
  /<!--(?:>|->|[\s\S]*?(?:-->|--!>|$))|<[!?][\s\S]*?(?:>|$)|<(script|style|template|title|iframe|object|noscript|textarea|select|svg|math|head)\b[\s\S]*?(?:<\/\1\s*>|$)|<\/?[a-z](?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^"'>])*(?:>|$)/gi;

function cutsInHtml(html: string, offset: number): Cut[] {
  return [...html.matchAll(HTML)].map((match) => {
    const [tag] = match;
    const from = offset + match.index;
    const cut = { from, to: from + tag.length };
    if (/^<[!?]/.test(tag)) return { ...cut, by: '', what: 'comment' };
    if (/^<(?:img|picture|source|video|audio)\b/i.test(tag)) return { ...cut, by: '[image]', what: 'image' };
    const by = /^<(?:br|p|li|summary|tr|h\d)\b/i.test(tag) ? '\n' : '';
    return { ...cut, by, what: /^<\/?\w+\s*\/?>$/.test(tag) ? 'tag' : 'other' };
  });
}

/** Parts of what is cut out whole are not cut out once more. */
function withCuts(source: string, cuts: readonly Cut[]): string {
  let text = '';
  let at = 0;
  for (const { from, to, by } of [...cuts].sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (from < at) continue;
    text += source.slice(at, from) + by;
    at = to;
  }
  return text + source.slice(at);
}

function failed(why: string): VisibleText {
  return { status: 'failed', why };
}
