/** Finds the folder of an earlier run by what people call it: its path or its id. */

import { lstatSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Failed, failed } from '../../domain/failed.ts';
import { endDeadRun } from './dead-run.ts';
import { placesOf, type RunDirectory, runDirectoryAt } from './run-directory.ts';
import { whyNotUsable } from './run-directory-check.ts';

/** The directory of a run, or why it was not found. */
export type FoundRun = { status: 'ok'; directory: RunDirectory } | Failed;

/** Where a run is looked for. */
export interface From {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The same for those who use more of it than single files: the folder has been looked through, and a run whose process has
 * died has its end.
 */
export async function openRunDirectory(run: string, from: From): Promise<FoundRun> {
  const found = findRun(run, from);
  if (found.status === 'failed') return found;
  const message = whyNotUsable(found.directory);
  if (message !== null) return failed(message);
  await endDeadRun(found.directory);
  return found;
}

/**
 * `run` is a run directory, absolute or relative to `cwd`, or the id of a run in one of the default places. Its path is told
 * without links, which whoever names it may use. Nothing in it has been looked at: its files are read by `readRegularFile`.
 */
export function findRun(run: string, { cwd, env }: From): FoundRun {
  const candidates = [resolve(cwd, run), ...(run.includes('/') ? [] : placesOf(run, env))];
  for (const folder of candidates) {
    const { events, result } = runDirectoryAt(folder);
    if (isThere(events) || isThere(result))
      return { status: 'ok', directory: runDirectoryAt(realpathSync(folder)) };
  }
  const looked = candidates.join(', ');
  return {
    status: 'failed',
    message: `There is no run ${JSON.stringify(run)} (looked in ${looked}). Name its run directory.`,
  };
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A name that cannot be one: too long, below a file, in a folder that may not be entered.
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
