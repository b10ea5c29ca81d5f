/**
 * What people see of Markdown on GitHub, and nothing else: attackers hide instructions in HTML comments, invisible
 * characters, image texts, link titles, attributes, surplus table cells, and unused definitions. Code is kept
 * unchanged, except for comments in diagrams.
 */

import type { Hidden } from '../../domain/github/untrusted-text.ts';
import { withinMs } from '../../files/time-limit.ts';
import { type HiddenRange, hiddenInMarkdown } from './hidden-markdown.ts';

/** `failed` says why, to follow the name of the text. */
export type VisibleMarkdown =
  | { status: 'ok'; text: string; hidden: Hidden }
  | { status: 'failed'; why: string };

/** GitHub's own limit for a body. */
const MAX_LENGTH = 65_536;

/** No real text has more; for each, the parser takes as much time as for everything after it. */
const MAX_DECLARATIONS = 500;
/**
 * For each `]` of a paragraph, the parser looks for its beginning in all of the paragraph before it: this many characters take about a
 * second.
 */
const MAX_LOOKED_AT = 40_000_000;

/** Real texts take a small part of it. For others, such as thousands of underlined headings, the parser would take minutes. */
const MAX_READING_MS = 8_000;

/** Where a paragraph certainly ends: at a blank line or an item of a list. */
const PARAGRAPH = /\n(?=[ \t]*\n| {0,3}[-*+] \S)/;

/** Collapsed details are kept: a click shows them. */
export function visibleMarkdown(markdown: string): VisibleMarkdown {
  if (markdown.length > MAX_LENGTH) return unreadable(`is longer than ${MAX_LENGTH} characters`);
  const given = markdown.replace(/\r\n?/g, '\n');
  const source = withShallowContainers(withoutInvisible(given));
  if ((source.match(/<[!?]/g)?.length ?? 0) > MAX_DECLARATIONS) {
    return unreadable(`has more than ${MAX_DECLARATIONS} of <! and <?`);
  }
  const paragraphs = source.split(PARAGRAPH);
  if (paragraphs.reduce((sum, one) => sum + one.length * (one.split(']').length - 1), 0) > MAX_LOOKED_AT) {
    return unreadable('has too many ] in one paragraph');
  }
  const cuts = withinMs(MAX_READING_MS, () => hiddenInMarkdown(source));
  if (cuts === 'too long') return unreadable('takes too long to read');
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

/** One line without its invisible parts. */
export function visibleLine(text: string): string {
  return withoutInvisible(text.replace(/\s+/g, ' ')).trim();
}

/**
 * Removes control and formatting characters, fillers, variation selectors and tags, and halves of characters. Joiners of
 * emoji and direction marks are removed too; the rest of the text stays readable.
 */
function withoutInvisible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu,
    '',
  );
}

/** Limits the nesting of quotes and lists to ten; deeper nesting would keep the parser busy for minutes. */
function withShallowContainers(text: string): string {
  return text.replace(/^((?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){10})[ \t>*+\-\d.)]*/gm, '$1 ');
}

/** In order; drops cuts inside another one, and merges overlapping ones. */
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

function unreadable(why: string): VisibleMarkdown {
  return { status: 'failed', why };
}
