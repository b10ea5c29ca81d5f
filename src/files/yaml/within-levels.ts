/** Parses YAML that anyone may have written, without exhausting the stack. */

import { type Document, isCollection, type LineCounter, parseDocument, visit } from 'yaml';
import { MAX_LEVELS } from '../../domain/text/json.ts';

/** What is wrong with a text for which `parseWithinLevels` returns null. */
export const TOO_DEEP = `it is nested more than ${MAX_LEVELS} levels deep`;

/** The document; null if its values are nested deeper than `MAX_LEVELS`: parser and readers recurse once per level. */
export function parseWithinLevels(text: string, lineCounter: LineCounter): Document.Parsed | null {
  try {
    const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: true });
    let deepest = 0;
    visit(document, {
      Collection(_, __, path) {
        deepest = Math.max(deepest, path.filter(isCollection).length + 1);
        return deepest > MAX_LEVELS ? visit.BREAK : undefined;
      },
    });
    return deepest > MAX_LEVELS ? null : document;
  } catch (error) {
    // The stack of the parser.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
