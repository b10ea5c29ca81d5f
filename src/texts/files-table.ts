/** The changed files of a run as a table in Markdown, with what made their changes. */

import type { ChangedFile } from '../domain/changes/change.ts';
import type { FileProvenance, Origin } from '../domain/changes/provenance.ts';
import { codeCell, pathCell } from '../domain/github/publishing/markdown.ts';
import type { RunResult } from '../domain/run/result.ts';
import { formatNumber } from '../domain/text/words.ts';
import { table } from './bounded-list.ts';

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
  const turns = new Map<string, Set<number>>();
  for (const origin of sources) {
    const maker = makerOf(origin);
    const known = turns.get(maker);
    if (known) known.add(origin.iteration);
    else turns.set(maker, new Set([origin.iteration]));
  }
  return [...turns]
    .map(([maker, at]) => {
      const shown = [...at].slice(0, 10).join(', ') + (at.size > 10 ? ', …' : '');
      return `${maker} in ${at.size === 1 ? 'turn' : 'turns'} ${shown}`;
    })
    .join('; ');
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
