/** What of the HTML in Markdown no page shows. */

/** What stands between two offsets is replaced. */
export interface HiddenRange {
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** A plain tag hides nothing. */
  readonly what: 'comment' | 'image' | 'other' | 'tag';
}

/** Elements whose content no page shows: those that GitHub has, closed or not, and those it has no use for. */
const EMBEDDED = /^(?:rp|video|audio)$/;
const UNSHOWN =
  /^(?:rp|video|audio|script|style|template|title|iframe|object|noscript|textarea|select|svg|math|head)$/;

/** Comments, declarations and processing instructions; elements whose content is no HTML; any other tag. */
const HTML =
  /<!--(?:>|->|[\s\S]*?(?:-->|--!>|$))|<[!?][\s\S]*?(?:>|$)|<(script|style|title|iframe|noscript|textarea)(?![\w-])(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^"'>])*(?:>|$)[\s\S]*?(?:(<\/\1\s*>)|$)|<\/?[a-z](?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^"'>])*(?:>|$)/gi;

/** `offset` is where this piece of HTML stands in the source; what it begins and does not end is left in `elements`. */
export function hiddenInHtml(
  html: string,
  offset: number,
  elements: HiddenElements,
  isBlock: boolean,
): HiddenRange[] {
  const cuts: HiddenRange[] = [];
  for (const match of html.matchAll(HTML)) {
    const [tag, , end] = match;
    const from = offset + match.index;
    const to = from + tag.length;
    cuts.push(tagCut(tag, from, to));
    const [, slash, name = ''] = /^<(\/?)([a-z][^\s/>]*)/.exec(tag.toLowerCase()) ?? [];
    if (end !== undefined || !UNSHOWN.test(name)) continue;
    if (slash) cuts.push(...elements.end(name, to));
    else elements.begin(name, from, isBlock);
  }
  return isBlock ? [...cuts, ...elements.inBlock(offset, offset + html.length)] : cuts;
}

function tagCut(tag: string, from: number, to: number): HiddenRange {
  if (/^<[!?]/.test(tag)) return { from, to, by: '', what: 'comment' };
  if (/^<(?:img|picture|source)\b/i.test(tag)) return { from, to, by: '[image]', what: 'image' };
  const by = /^<(?:br|p|li|summary|tr|h\d)\b/i.test(tag) ? '\n' : '';
  return { from, to, by, what: /^<\/?\w+\s*\/?>$/.test(tag) ? 'tag' : 'other' };
}

/** Begins in one piece of HTML and ends in a later one, with Markdown between them. */
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

  /** Of a block of HTML that begins an element, all to the block's end is hidden. */
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
