/** A run that reads one file a turn until its conversation is compacted, and then writes one. */

import type { ScriptedTurn } from '../claude-server/script.ts';
import { answersIn, asksForSummary, summaryOf } from '../claude-server/summaries.ts';
import { makeRepository, type Repository } from '../files/repository.ts';
import { call, type FinishedRun, scriptedRun } from './scripted-run.ts';

/** Tokens at which its conversation is compacted: after a few of the files. */
export const COMPACT_AT = 5_500;

/** The files of its repository. Every file says which one it is, so that a result can be told from all others. */
export function partsOf(turns: number, words = 200): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: turns }, (_, at) => [
      `part-${at}.txt`,
      `this is part ${at};\n${'text of it '.repeat(words)}\n`,
    ]),
  );
}

/** A turn that reads a part. */
export function read(at: number): ScriptedTurn {
  return { calls: [call('read_file', { path: `part-${at}.txt` })] };
}

const write: ScriptedTurn = { calls: [call('write_file', { path: 'new.txt', content: 'new\n' })] };

/** The turns of such a run, where nothing goes wrong in it. */
export function turnsOf(turns: number): ScriptedTurn[] {
  return [...Array.from({ length: turns }, (_, at) => read(at)), write];
}

/** What such a run is. */
export interface CompactedRun {
  readonly turns: number;
  /** What the model answers first when it is asked for summaries. Default: summaries. */
  readonly answers?: readonly ScriptedTurn[];
  readonly args?: readonly string[];
  readonly repository?: Pick<Repository, 'root'>;
}

/** The model answers as given when it is asked for a summary, and then as it should. */
export async function compactedRun({
  turns,
  answers = [],
  args = [],
  repository,
}: CompactedRun): Promise<FinishedRun> {
  const left = [...answers];
  return scriptedRun({
    repository: repository ?? (await makeRepository(partsOf(turns))),
    turns: (request) => {
      if (asksForSummary(request)) return left.shift() ?? summaryOf(request);
      const at = answersIn(request);
      return at < turns ? read(at) : at === turns ? write : { text: 'Done.' };
    },
    args: ['--sandbox', 'off', '--compact-at', String(COMPACT_AT), ...args],
  });
}
