/**
 * What people see of Markdown on GitHub, and nothing of what they do not: attackers hide instructions in HTML comments,
 * invisible characters, texts of images, titles of links, attributes, surplus cells of tables, and definitions that nothing
 * uses. Code stays as it is, but for comments in diagrams.
 */

import type { Hidden } from '../../domain/github/untrusted-text.ts';
import type { HiddenRange } from './hidden-html.ts';
import { hiddenInMarkdown } from './hidden-markdown.ts';

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
  const cuts = hiddenInMarkdown(source);
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
