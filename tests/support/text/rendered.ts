import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** A piece of a page as GitHub's dialect of Markdown has it: its kind, and its text where it holds nothing else. */
export interface Piece {
  readonly type: string;
  readonly text: string;
}

/** All pieces in the order of reading. Neighbouring texts are one, as they are for who looks for mentions. */
export function piecesOf(markdown: string): Piece[] {
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const pieces: Piece[] = [];
  visit(root, (node) => pieces.push({ type: node.type, text: 'value' in node ? node.value : '' }));
  return pieces;
}

/** What people read, without marks. */
export function readableText(markdown: string): string {
  return piecesOf(markdown)
    .filter(({ type }) => ['text', 'inlineCode', 'code'].includes(type))
    .map(({ text }) => text)
    .join('');
}

/** What a page must not hold when it is made of hostile text: what it is, and where. */
export function dangersIn(markdown: string, ownHtml: readonly string[] = []): string[] {
  const harmless = ['<span>', '</span>', '<code>', '</code>', ...ownHtml];
  const pieces = piecesOf(markdown).flatMap(({ type, text }) => {
    if (type === 'html') return harmless.includes(text) ? [] : [`html ${text}`];
    if (!HARMLESS.includes(type)) return [`${type} ${text}`];
    return type === 'text' && LIVE_TEXT.test(text) ? [`live text ${JSON.stringify(text)}`] : [];
  });
  const others = ownHtml.reduce((page, own) => page.replace(own, ''), markdown);
  return [...pieces, ...deadlyIn(others), ...hiddenIn(markdown)];
}

const HARMLESS = [
  ...['root', 'paragraph', 'text', 'inlineCode', 'code', 'list', 'listItem', 'strong', 'blockquote', 'break'],
  ...['table', 'tableRow', 'tableCell'],
];

/** Mentions, references, addresses, as GitHub and GFM find them in rendered text; a dollar alone begins no formula. */
const LIVE_TEXT = /@[a-z0-9]|#\d|\bGH-\d|:\/\/|\bwww\.|.\$|\$./i;

/** What counts in the message of a commit, where all of the source is text. */
function deadlyIn(source: string): string[] {
  const found =
    /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b[\s:]*(?:[\w./-]*#\d+|GH-\d+|https?:\/\/\S+\/(?:issues|pull)\/\d+)|\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|<!--/i.exec(
      source,
    );
  const command = /^\/[a-z]+/m.exec(source);
  return [found, command].flatMap((one) => (one ? [`in the source ${JSON.stringify(one[0])}`] : []));
}

/** Our own zero-width space in code is none of the outside's. */
function hiddenIn(source: string): string[] {
  const found = /(?!\ufe0e|\ufe0f|\u200b)\p{DI}|(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\ufff9-\ufffb]/u.exec(source);
  return found ? [`hidden ${JSON.stringify(found[0])}`] : [];
}

function visit(node: Nodes, see: (node: Nodes) => void): void {
  see(node);
  if ('children' in node) for (const child of node.children) visit(child, see);
}
