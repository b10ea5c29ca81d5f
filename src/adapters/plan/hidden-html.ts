/** Finds the parts of HTML in Markdown that pages do not show, using the tokenizer of the HTML standard. */

import { Token, Tokenizer, TokenizerMode } from 'parse5';

/** The text in this span is replaced. */
export interface HiddenRange extends Span {
  readonly by: string;
  /** A plain tag hides nothing. */
  readonly what: 'comment' | 'image' | 'other' | 'tag';
}

/** Elements whose content pages do not show: those that GitHub permits, closed or not, and those it has no use for. */
const EMBEDDED = /^(?:rp|video|audio)$/;
const UNSHOWN =
  /^(?:rp|video|audio|script|style|template|title|iframe|object|noscript|textarea|select|svg|math|head)$/;

/** Elements whose content is not HTML, with the mode in which it is tokenized. */
const TEXT_MODES: Readonly<Record<string, State>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noscript: TokenizerMode.RAWTEXT,
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
};

type State = (typeof TokenizerMode)[keyof typeof TokenizerMode];

/** Between two offsets of the Markdown. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * One piece of HTML in Markdown. It may consist of several spans, as in a quote, where each line starts with a marker that
 * is not HTML.
 */
export interface HtmlPiece {
  readonly source: string;
  readonly spans: readonly Span[];
  readonly isBlock: boolean;
}

/** The parts of a piece that are not shown; elements it opens but does not close are left in `elements`. */
export function hiddenInHtml({ source, spans, isBlock }: HtmlPiece, elements: HiddenElements): HiddenRange[] {
  const html = spans.map(({ from, to }) => source.slice(from, to)).join('');
  const start = spans[0]?.from ?? 0;
  const end = spans.at(-1)?.to ?? start;
  const cuts: HiddenRange[] = [];
  const place = placing(spans);
  for (const { token, ...at } of tokensOf(html)) {
    const from = place(at.from);
    const to = at.to === html.length ? end : place(at.to - 1) + 1;
    if (token === null) {
      cuts.push({ from, to, by: '', what: 'comment' });
      continue;
    }
    cuts.push(tagCut(token, from, to));
    if (!UNSHOWN.test(token.name)) continue;
    if (token.isEnd) cuts.push(...elements.end(token.name, to));
    else elements.begin(token.name, from, isBlock);
  }
  return isBlock ? [...cuts, ...elements.inBlock(start, end)] : cuts;
}

/** Maps an offset in the joined spans to one in the source. Offsets must be passed in ascending order. */
function placing(spans: readonly Span[]): (offset: number) => number {
  let at = 0;
  let before = 0;
  return (offset) => {
    for (let span = spans[at]; span !== undefined; span = spans[at]) {
      if (offset < before + span.to - span.from) return span.from + offset - before;
      before += span.to - span.from;
      at += 1;
    }
    throw new RangeError(`There is no HTML at ${offset}.`);
  };
}

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  /** Has no attributes, and its name carries no message. */
  readonly isPlain: boolean;
}

/** `token` is null for comments, declarations and processing instructions. */
interface HiddenToken extends Span {
  readonly token: Tag | null;
}

/**
 * Everything that is not text, in order and without gaps: what the tokenizer does not emit as text is hidden, including an
 * unterminated tag, which browsers drop.
 */
function tokensOf(html: string): HiddenToken[] {
  const tokens: HiddenToken[] = [];
  const hide = ({ location }: Token.Token, token: Tag | null) => {
    tokens.push({
      from: location?.startOffset ?? 0,
      to: Math.min(location?.endOffset ?? html.length, html.length),
      token,
    });
  };
  const ignore = () => {};
  const tokenizer = new HtmlTokenizer(
    { sourceCodeLocationInfo: true },
    {
      onComment: (comment) => hide(comment, null),
      onDoctype: (doctype) => hide(doctype, null),
      onStartTag(tag) {
        hide(tag, { ...named(tag), isEnd: false });
        tokenizer.state = TEXT_MODES[tag.tagName] ?? TokenizerMode.DATA;
      },
      onEndTag: (tag) => hide(tag, { ...named(tag), isEnd: true }),
      onCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onNullCharacter: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(html, true);
  const { unfinished } = tokenizer;
  const from = unfinished?.location?.startOffset;
  if (unfinished && from !== undefined)
    tokens.push({
      from,
      to: html.length,
      token: { name: unfinished.tagName, isEnd: unfinished.type === Token.TokenType.END_TAG, isPlain: false },
    });
  return tokens;
}

class HtmlTokenizer extends Tokenizer {
  /** The tag in the middle of which the input ended; null if it did not. */
  get unfinished(): Token.TagToken | null {
    const token = this.currentToken;
    return token !== null && 'tagName' in token ? token : null;
  }
}

function named({ tagName, attrs }: Token.TagToken): Pick<Tag, 'name' | 'isPlain'> {
  return { name: tagName, isPlain: attrs.length === 0 && /^\w+$/.test(tagName) };
}

function tagCut({ name, isEnd, isPlain }: Tag, from: number, to: number): HiddenRange {
  if (!isEnd && /^(?:img|picture|source)$/.test(name)) return { from, to, by: '[image]', what: 'image' };
  const by = !isEnd && /^(?:br|p|li|summary|tr|h\d)$/.test(name) ? '\n' : '';
  return { from, to, by, what: isPlain ? 'tag' : 'other' };
}

/** Elements that begin in one piece of HTML and end in a later one, with Markdown in between. */
export class HiddenElements {
  readonly #open = new Map<string, { from: number; depth: number; isBlock: boolean }>();

  begin(name: string, from: number, isBlock: boolean): void {
    const element = this.#open.get(name);
    if (element) element.depth += 1;
    else this.#open.set(name, { from, depth: 1, isBlock });
  }

  end(name: string, to: number): HiddenRange[] {
    const element = this.#open.get(name);
    if (!element) return [];
    element.depth -= 1;
    if (element.depth === 0) this.#open.delete(name);
    return [elementCut(name, element.from, to)];
  }

  /** What began within a paragraph, a heading or a cell ends with it. */
  endOfText(to: number): HiddenRange[] {
    return this.#endAll(to, (isBlock) => !isBlock);
  }

  endOfSource(to: number): HiddenRange[] {
    return this.#endAll(to, () => true);
  }

  /** If a block of HTML opens an element, everything up to the end of the block is hidden. */
  inBlock(start: number, to: number): HiddenRange[] {
    return [...this.#open]
      .filter(([name, { from }]) => from >= start && !EMBEDDED.test(name))
      .map(([name, { from }]) => elementCut(name, from, to));
  }

  #endAll(to: number, isMeant: (isBlock: boolean) => boolean): HiddenRange[] {
    const ended = [...this.#open].filter(([, { isBlock }]) => isMeant(isBlock));
    for (const [name] of ended) this.#open.delete(name);
    return ended
      .filter(([name]) => EMBEDDED.test(name))
      .map(([name, { from }]) => elementCut(name, from, to));
  }
}

function elementCut(name: string, from: number, to: number): HiddenRange {
  const isImage = name === 'video' || name === 'audio';
  return { from, to, by: isImage ? '[image]' : '', what: isImage ? 'image' : 'other' };
}
