/** Reports what a run left behind whose step was killed before it could do so itself. */

import { existsSync, readdirSync } from 'node:fs';
import { endDeadRun } from '../adapters/storage/dead-run.ts';
import { readResult } from '../adapters/storage/read-result.ts';
import { runDirectoryAt } from '../adapters/storage/run-directory.ts';
import { code, escaped } from '../domain/github/publishing/markdown.ts';
import { AGREE_AGAIN, resumeCommand } from '../domain/journal/continuation.ts';
import { oneLine } from '../domain/text/terminal.ts';

/** What the post step reports about a step that was killed. */
export interface PostStepReport {
  /** For the log. */
  readonly lines: readonly string[];
  /** Markdown. */
  readonly summary: string;
}

/** How far the main step got before it was killed. */
export interface StepKilled {
  /** The run directory; null when the step was killed before there was one. */
  readonly runDir: string | null;
  readonly wasPublishing: boolean;
}

/** Marks a run whose process has died as ended; changes nothing else in the run directory. */
export async function reportKilledStep({ runDir, wasPublishing }: StepKilled): Promise<PostStepReport> {
  const ofRun = runDir === null || !existsSync(runDir) ? [NOTHING] : await found(runDir);
  const lines = wasPublishing ? [PUBLISHING, ...ofRun.slice(1)] : ofRun;
  const [first = '', ...more] = lines.map((line) => oneLine(line, 2_000));
  const list = more.map((line) => `- ${code(line, 2_000)}`).join('\n');
  return {
    lines: [first, ...more],
    summary: `### patchsmith: killed before it ended\n\n${escaped(first)}\n\n${list}\n`,
  };
}

const PUBLISHING =
  'The step was killed while publishing. What it had created on GitHub stays; publish the run again to continue.';

const UNBEGUN =
  "The step was killed before the model's first turn was recorded: only setup commands can have changed anything, and there is nothing to continue.";

const NOTHING = 'The step was killed before the run directory was created: nothing was done.';

async function found(path: string): Promise<string[]> {
  const directory = runDirectoryAt(path);
  const dead = await endDeadRun(directory);
  const result = readResult(directory);
  if (dead === null && result?.status === 'finished')
    return [
      'The step was killed after the run had ended; its result is complete.',
      `outcome: ${result.outcome} (exit ${result.exitCode})`,
      `run directory: ${path}`,
    ];
  const root = (dead ?? result)?.root ?? null;
  const there = root === null ? {} : { repo: root };
  const outcome = dead === null ? [] : [`outcome: ${dead.outcome} (exit ${dead.exitCode})`];
  if (!existsSync(directory.events)) return [UNBEGUN, ...outcome, `run directory: ${path}`];
  return [
    'The step was killed during the run. The work so far is in its journal and in the work tree.',
    ...outcome,
    `run directory: ${path} (${readdirSync(path).sort().join(', ')})`,
    `continue it on a machine that has this checkout and this folder: ${resumeCommand(path, there)} ${AGREE_AGAIN}`,
  ];
}
