/** Lists that show as much as there is room for, such as the changed files of a run with what made their changes. */

import type { ChangedFile } from '../domain/changes/change.ts';
import type { FileProvenance, Origin } from '../domain/changes/provenance.ts';
import { codeCell, pathCell } from '../domain/github/publishing/markdown.ts';
import type { RunResult } from '../domain/run/result.ts';
import { formatNumber, pluralize } from '../domain/text/words.ts';

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

const KINDS = {
  create: 'new',
  modify: 'changed',
  delete: 'deleted',
  rename: 'renamed',
  mode: 'mode',
} as const;

/** A row per file; with `provenance`, also what made its changes. */
export function filesTable(
  { changedFiles, provenance }: Pick<RunResult, 'changedFiles' | 'provenance'>,
  maxLength: number,
): string {
  const makers = provenance && new Map(provenance.files.map((file) => [file.path, file]));
  const cellsOf = (file: ChangedFile) => {
    const made = makers?.get(file.path);
    return [
      file.from === undefined ? pathCell(file.path) : `${pathCell(file.from)} → ${pathCell(file.path)}`,
      KINDS[file.kind],
      file.additions === null
        ? 'binary'
        : `+${formatNumber(file.additions)} −${formatNumber(file.deletions ?? 0)}`,
      ...(makers ? [made ? madeBy(made) : ''] : []),
    ];
  };
  const head = ['File', '', 'Lines', ...(makers ? ['Made by'] : [])];
  return table(head, changedFiles, cellsOf, { maxLength, maxLines: 300, noun: 'file' });
}

/** `edit_file in turns 2, 4; run_command in turn 5`. */
function madeBy({ sources }: FileProvenance): string {
  const makers = [...new Set(sources.map(makerOf))];
  const parts = makers.map((maker) => {
    const turns = [...new Set(sources.flatMap((one) => (makerOf(one) === maker ? [one.iteration] : [])))];
    const shown = turns.slice(0, 10).join(', ') + (turns.length > 10 ? ', …' : '');
    return `${maker} in ${turns.length === 1 ? 'turn' : 'turns'} ${shown}`;
  });
  return parts.join('; ');
}

function makerOf(origin: Origin): string {
  switch (origin.by) {
    case 'tool':
      return codeCell(origin.tool);
    case 'setup':
      return '**commands before the work**';
    case 'verify':
      return '**verify commands**';
    case 'outside':
      return '**something outside the run**';
  }
}
