/**
 * What a step tells its runner through files: outputs, state for its post step, and the summary. The format is described at
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions#environment-files.
 */

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { Environment } from '../../domain/environment.ts';

/** Paths of the runner's files; without a runner there are none, and nothing is written. */
export interface RunnerFiles {
  readonly output: string | undefined;
  readonly state: string | undefined;
  readonly summary: string | undefined;
}

/** The files for communicating with the runner, from the environment; undefined outside GitHub Actions. */
export function runnerFiles(env: Environment): RunnerFiles {
  return {
    output: env.GITHUB_OUTPUT || undefined,
    state: env.GITHUB_STATE || undefined,
    summary: env.GITHUB_STEP_SUMMARY || undefined,
  };
}

/** Sets outputs or state. A later value replaces an earlier one. Throws file system errors. */
export function setValues(file: string | undefined, values: Readonly<Record<string, string>>): void {
  if (file === undefined) return;
  appendFileSync(file, Object.entries(values).map(entry).join(''));
}

/** Appends Markdown to the summary of the step; the runner accepts nothing if it exceeds 1 MiB in total. */
export function addToSummary({ summary }: RunnerFiles, markdown: string): void {
  if (summary !== undefined) appendFileSync(summary, `${markdown}\n`);
}

/** The author of the value cannot guess the delimiter, so no value can set another name. */
function entry([name, value]: [string, string]): string {
  const delimiter = `delimiter-${randomUUID()}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
