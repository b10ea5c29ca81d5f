/** Lists that show as much as there is room for. */

import { pluralize } from '../domain/text/words.ts';

/** The limits of a list. */
export interface Bounds {
  /** In characters, line endings included. */
  readonly maxLength: number;
  readonly maxLines: number;
  /** The name of the items, in the singular: `file`. */
  readonly noun: string;
}

/** A list in Markdown, one item per line; items that do not fit are counted. */
export function bullets<Item>(
  items: readonly Item[],
  lineOf: (item: Item) => string,
  bounds: Bounds,
): string {
  const { lines, more } = fitting(items, (item) => `- ${lineOf(item)}`, bounds);
  return [...lines, ...(more === null ? [] : [`- ${more}`])].join('\n');
}

/** A table in Markdown; its cells contain Markdown too. */
export function table<Item>(
  head: readonly string[],
  items: readonly Item[],
  cellsOf: (item: Item) => readonly string[],
  bounds: Bounds,
): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const { lines, more } = fitting(items, (item) => row(cellsOf(item)), bounds);
  const shown = [row(head), row(head.map(() => '---')), ...lines].join('\n');
  return more === null ? shown : `${shown}\n\n${more}`;
}

/** `more` is null if everything fits. */
function fitting<Item>(
  items: readonly Item[],
  lineOf: (item: Item) => string,
  { maxLength, maxLines, noun }: Bounds,
): { lines: string[]; more: string | null } {
  const lines: string[] = [];
  let left = maxLength;
  for (const item of items.slice(0, maxLines)) {
    const line = lineOf(item);
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const missing = items.length - lines.length;
  const more = `… ${pluralize(missing, lines.length === 0 ? noun : `more ${noun}`)}`;
  return { lines, more: missing === 0 ? null : more };
}
