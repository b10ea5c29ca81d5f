/**
 * What a step tells its runner through files: outputs, state for its post step, and the summary. The format is that of
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions#environment-files.
 */

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';

/** Paths of the runner's files; a step that runs without a runner has none, and then nothing is written. */
export interface RunnerFiles {
  readonly output: string | undefined;
  readonly state: string | undefined;
  readonly summary: string | undefined;
}

/** The files through which a step talks to the runner, from its environment; undefined outside GitHub Actions. */
export function runnerFiles(env: Readonly<Record<string, string | undefined>>): RunnerFiles {
  return {
    output: env.GITHUB_OUTPUT || undefined,
    state: env.GITHUB_STATE || undefined,
    summary: env.GITHUB_STEP_SUMMARY || undefined,
  };
}

/** Sets outputs or state. What is set later counts. Throws what the file system throws. */
export function setValues(file: string | undefined, values: Readonly<Record<string, string>>): void {
  if (file === undefined) return;
  appendFileSync(file, Object.entries(values).map(entry).join(''));
}

/** Adds Markdown to the summary of the step; of more than 1 MiB in all the runner takes nothing. */
export function addToSummary({ summary }: RunnerFiles, markdown: string): void {
  if (summary !== undefined) appendFileSync(summary, `${markdown}\n`);
}

/** Nobody who writes the value can know the delimiter, so no value can go on to set another name. */
function entry([name, value]: [string, string]): string {
  const delimiter = `delimiter-${randomUUID()}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
