/** Cuts the lists and texts of a document, which anyone may have written, to what a page can show. */

import { formatNumber } from '../text/format-number.ts';
import { shortened } from '../text/shorten.ts';

/** Entries of one list, characters of one text, and of all texts together. */
const MAX_ENTRIES = 5_000;
const MAX_TEXT = 20_000;
const MAX_TEXTS = 16 * 1024 * 1024;

/** A copy of the same shape with shorter lists and texts, and what was cut: `flags: 5,000 of 12,000`. */
export function boundedDocument<Document extends object>(
  document: Document,
): { readonly document: Document; readonly cut: readonly string[] } {
  const cut: string[] = [];
  let left = MAX_TEXTS;
  const part = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      const text = shortened(value, Math.min(MAX_TEXT, left));
      left = Math.max(1, left - text.length);
      return text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const entries = value.slice(0, MAX_ENTRIES).map((entry) => part(entry, name));
      if (value.length > entries.length)
        cut.push(`${name}: ${formatNumber(entries.length)} of ${formatNumber(value.length)}`);
      return entries;
    }
    return Object.fromEntries(
      Object.entries(value).map(([field, entry]) => [field, part(entry, field)] as const),
    );
  };
  return { document: part(document, '') as Document, cut };
}
