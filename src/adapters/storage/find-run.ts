/** Finds the folder of an earlier run by what people call it: its path or its id. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { placesOf, type RunDirectory, runDirectoryAt } from './run-directory.ts';

export type FoundRun = { status: 'ok'; directory: RunDirectory } | { status: 'failed'; message: string };

/** `run` is a run directory, absolute or relative to `cwd`, or the id of a run in one of the default places. */
export function findRun(
  run: string,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): FoundRun {
  const candidates = [resolve(cwd, run), ...(run.includes('/') ? [] : placesOf(run, env))];
  for (const folder of candidates) {
    const directory = runDirectoryAt(folder);
    if (existsSync(directory.events) || existsSync(directory.result)) return { status: 'ok', directory };
  }
  const looked = candidates.join(', ');
  return {
    status: 'failed',
    message: `There is no run ${JSON.stringify(run)} (looked in ${looked}). Name its run directory.`,
  };
}
