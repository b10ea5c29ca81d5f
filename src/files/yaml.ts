/** Parses YAML that anyone may have written, without exhausting the stack. */

import { type CST, type Document, type LineCounter, Parser, parseDocument } from 'yaml';
import { MAX_LEVELS } from '../domain/text/json.ts';

/** What is wrong with a text for which `parseWithinLevels` returns null. */
export const TOO_DEEP = `it is nested more than ${MAX_LEVELS} levels deep`;

/** The document; null if its values are nested deeper than `MAX_LEVELS`. */
export function parseWithinLevels(text: string, lineCounter: LineCounter): Document.Parsed | null {
  // What makes values of the tokens, and all readers, recurse once per level. At the end of the stack Node.js does not only throw:
  // it ends the process if an expression has to be compiled there.
  if (isDeep(new Parser().parse(text))) return null;
  return parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: true });
}

/** Whether collections are nested deeper than `MAX_LEVELS`. */
function isDeep(tokens: Iterable<CST.Token>): boolean {
  const open: { token: CST.Token | null | undefined; level: number }[] = [];
  for (const token of tokens) open.push({ token, level: 0 });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, level } = next;
    if (level > MAX_LEVELS) return true;
    if (token?.type === 'document') open.push({ token: token.value, level });
    if (!token || !('items' in token)) continue;
    for (const { key, value } of token.items)
      open.push({ token: key, level: level + 1 }, { token: value, level: level + 1 });
  }
  return false;
}
