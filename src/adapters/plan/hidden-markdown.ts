/**
 * Finds the parts of Markdown and of its HTML that pages do not show. Reads the parser's events: a tree of hostile Markdown could be
 * deeper than the stack.
 */

import { parse, postprocess, preprocess } from 'micromark';
import { gfmFootnote } from 'micromark-extension-gfm-footnote';
import { gfmTable } from 'micromark-extension-gfm-table';
import { normalizeIdentifier } from 'micromark-util-normalize-identifier';
import { type Token, Tokenizer, TokenizerMode } from 'parse5';

/** The text between two offsets of the source is replaced. */
export interface HiddenRange {
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** A plain tag hides nothing. */
  readonly what: 'comment' | 'image' | 'other' | 'tag';
}

/** Emphasis hides nothing, and in hostile texts it can be slow to find. */
const EXTENSIONS = [gfmFootnote(), gfmTable(), { disable: { null: ['attention'] } }];

/** Elements whose content pages do not show: those that GitHub permits, closed or not, and those it has no use for. */
const EMBEDDED = /^(?:rp|video|audio)$/;
const UNSHOWN =
  /^(?:rp|video|audio|script|style|template|title|iframe|object|noscript|textarea|select|svg|math|head)$/;

/** Elements whose content is not HTML, with the mode in which it is tokenized. */
const TEXT_MODES: Readonly<Record<string, Tokenizer['state']>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noscript: TokenizerMode.RAWTEXT,
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
};

/** What is hidden in `source`, in no particular order; ranges may be nested. */
export function hiddenInMarkdown(source: string): HiddenRange[] {
  const document = parse({ extensions: EXTENSIONS }).document();
  const events = postprocess(document.write(preprocess()(source, undefined, true)));
  const cuts: HiddenRange[] = [];
  const hide = (from: number, to: number) => void cuts.push({ from, to, by: '', what: 'other' });
  const elements = new HiddenElements(cuts);
  /** What is read of the current piece of HTML. The marker of a quote in it, which is no HTML, counts as spaces. */
  let html: { readonly from: number; text: string } | null = null;
  const definitions: { name: string; from: number; to: number }[] = [];
  const used = new Set<string>();
  /** Labels of the definitions around this place, innermost last; the end of the last address, and the last reference. */
  const labels: string[] = [];
  let addressEnd = 0;
  let reference = { to: 0, text: '' };
  let [columns, cells] = [0, 0];
  let diagram: 'none' | 'lines' | 'directive' = 'none';
  for (const [kind, { type, start, end }] of events) {
    const [from, to] = [start.offset, end.offset];
    const text = source.slice(from, to);
    const isEnd = kind === 'exit';
    switch (type as string) {
      case 'htmlFlow':
      case 'htmlText':
        if (html !== null) hideInHtml(html.text, from, type === 'htmlFlow', cuts, elements);
        html = isEnd ? null : { from, text: '' };
        break;
      case 'htmlFlowData':
      case 'htmlTextData':
      case 'lineEnding':
        // In a quote, the parser counts the next line's marker as part of the line ending.
        if (html !== null && !isEnd)
          html.text = html.text.padEnd(from - html.from) + (type === 'lineEnding' ? '\n' : text);
        break;
      case 'tableHead':
        columns = isEnd ? columns : 0;
        break;
      case 'tableRow':
        cells = 0;
        break;
      case 'tableHeader':
      case 'tableData':
        if (isEnd) elements.endAll(to);
        else if (type === 'tableHeader') columns += 1;
        else if (++cells > columns) hide(from, to);
        break;
      case 'paragraph':
      case 'atxHeading':
      case 'setextHeading':
        if (isEnd) elements.endAll(to);
        break;
      case 'codeFenced':
        diagram = 'none';
        break;
      case 'codeFencedFenceInfo':
        diagram = text.toLowerCase() === 'mermaid' ? 'lines' : 'none';
        break;
      case 'codeFlowValue':
        if (isEnd || diagram === 'none' || (diagram === 'lines' && !/^\s*%%/.test(text))) break;
        cuts.push({ from, to, by: '', what: 'comment' });
        if (diagram === 'directive' || /^\s*%%\{/.test(text))
          diagram = text.includes('}%%') ? 'lines' : 'directive';
        break;
      case 'resourceTitle':
      case 'definitionTitle':
      case 'codeFencedFenceMeta':
        if (!isEnd) hide(from, to);
        break;
      case 'image':
        if (isEnd) cuts.push({ from, to, by: '[image]', what: 'image' });
        break;
      case 'resource':
        addressEnd = to;
        break;
      case 'referenceString':
        reference = { to, text };
        break;
      case 'link': {
        // With an address it refers to no definition, and without a reference its text is the name.
        if (!isEnd || addressEnd === to) break;
        const name = reference.to === to - 1 ? reference.text : text.replace(/\[\]$/, '').slice(1, -1);
        used.add(normalizeIdentifier(name));
        break;
      }
      case 'gfmFootnoteCallString':
        used.add(`^${normalizeIdentifier(text)}`);
        break;
      case 'definitionLabelString':
      case 'gfmFootnoteDefinitionLabelString':
        if (isEnd) labels.push(normalizeIdentifier(text));
        break;
      case 'definition':
      case 'gfmFootnoteDefinition':
        // A footnote and a link may have the same name.
        if (isEnd) definitions.push({ name: (type === 'definition' ? '' : '^') + labels.pop(), from, to });
        break;
    }
  }
  elements.endAll(source.length, true);
  // The first definition of a name takes precedence over all later ones.
  for (const { name, from, to } of definitions) if (!used.delete(name)) hide(from, to);
  return cuts;
}

/**
 * Everything in a piece of HTML that is not text, by the tokenizer of the HTML standard: tags with their attributes, comments,
 * declarations, and a tag that is never closed, which browsers drop.
 */
function hideInHtml(
  html: string,
  start: number,
  isBlock: boolean,
  cuts: HiddenRange[],
  elements: HiddenElements,
): void {
  const ignore = () => {};
  const cut = ({ location }: Token.Token, by: string, what: HiddenRange['what']) => {
    const [from, to] = [location?.startOffset ?? 0, Math.min(location?.endOffset ?? 0, html.length)];
    if (from < html.length) cuts.push({ from: start + from, to: start + to, by, what });
    return { from: start + from, to: start + to };
  };
  const onTag = (tag: Token.TagToken, by: string) => {
    const { tagName: name, attrs } = tag;
    const isImage = by === '[image]';
    const isPlain = attrs.length === 0 && /^\w+$/.test(name);
    return cut(tag, by, isImage ? 'image' : isPlain ? 'tag' : 'other');
  };
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onComment: (comment) => void cut(comment, '', 'comment'),
      onDoctype: (doctype) => void cut(doctype, '', 'comment'),
      onStartTag(tag) {
        const { tagName: name } = tag;
        const by = /^(?:img|picture|source)$/.test(name) ? '[image]' : BREAKS.test(name) ? '\n' : '';
        const { from } = onTag(tag, by);
        if (UNSHOWN.test(name)) elements.begin(name, from, isBlock);
        tokenizer.state = TEXT_MODES[name] ?? TokenizerMode.DATA;
      },
      onEndTag(tag) {
        const { to } = onTag(tag, '');
        if (UNSHOWN.test(tag.tagName)) elements.end(tag.tagName, to);
      },
      ...{ onCharacter: ignore, onWhitespaceCharacter: ignore, onNullCharacter: ignore, onEof: ignore },
    },
  );
  // The quotes and the bracket complete a tag that is never closed.
  tokenizer.write(`${html}"'>`, true);
  if (isBlock) elements.endOfBlock(start, start + html.length);
}

const BREAKS = /^(?:br|p|li|summary|tr|h\d)$/;

/** Elements that begin in one piece of HTML and end in a later one, with Markdown in between. */
class HiddenElements {
  readonly #cuts: HiddenRange[];
  readonly #open = new Map<string, { readonly from: number; depth: number; readonly isBlock: boolean }>();

  constructor(cuts: HiddenRange[]) {
    this.#cuts = cuts;
  }

  begin(name: string, from: number, isBlock: boolean): void {
    const element = this.#open.get(name);
    if (element) element.depth += 1;
    else this.#open.set(name, { from, depth: 1, isBlock });
  }

  end(name: string, to: number): void {
    const element = this.#open.get(name);
    if (!element) return;
    element.depth -= 1;
    if (element.depth === 0) this.#open.delete(name);
    this.#cut(name, element.from, to);
  }

  /** If a block of HTML opens an element, everything up to the end of the block is hidden. */
  endOfBlock(start: number, to: number): void {
    for (const [name, { from }] of this.#open)
      if (from >= start && !EMBEDDED.test(name)) this.#cut(name, from, to);
  }

  /** What began within a paragraph, a heading or a cell ends with it, and everything with the source. */
  endAll(to: number, withBlocks = false): void {
    for (const [name, { from, isBlock }] of this.#open) {
      if (isBlock && !withBlocks) continue;
      this.#open.delete(name);
      if (EMBEDDED.test(name)) this.#cut(name, from, to);
    }
  }

  #cut(name: string, from: number, to: number): void {
    const isImage = name === 'video' || name === 'audio';
    this.#cuts.push({ from, to, by: isImage ? '[image]' : '', what: isImage ? 'image' : 'other' });
  }
}
