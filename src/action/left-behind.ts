/** What a run has left behind whose step was killed before it could say so. */

import { existsSync, readdirSync } from 'node:fs';
import { readResult, runDirectoryAt } from '../adapters/storage/run-directory.ts';
import { code, escaped } from '../domain/publishing/markdown.ts';
import { oneLine } from '../domain/terminal-text.ts';

export interface LeftBehind {
  /** For the log. */
  readonly lines: readonly string[];
  /** Markdown. */
  readonly summary: string;
}

/** `path` is the run directory; null when the step was killed before there was one. Nothing in it is touched. */
export function leftBehind(path: string | null): LeftBehind {
  const lines = path === null || !existsSync(path) ? [NOTHING] : found(path);
  const [first = '', ...more] = lines.map((line) => oneLine(line, 2_000));
  const list = more.map((line) => `- ${code(line, 2_000)}`).join('\n');
  return {
    lines: [first, ...more],
    summary: `### patchsmith: killed before its end\n\n${escaped(first)}\n\n${list}\n`,
  };
}

const NOTHING = 'The step was killed before there was a run directory: nothing was done.';

function found(path: string): string[] {
  const directory = runDirectoryAt(path);
  const result = readResult(directory);
  if (result?.status === 'finished')
    return [
      'The step was killed when the run had ended; its result is whole.',
      `outcome: ${result.outcome} (exit ${result.exitCode})`,
      `run directory: ${path}`,
    ];
  return [
    'The step was killed in the middle of the run. The work so far is in its journal and in the work tree.',
    `run directory: ${path} (${readdirSync(path).sort().join(', ')})`,
    `carry it on where this checkout and this folder are: patchsmith resume ${path}`,
  ];
}
