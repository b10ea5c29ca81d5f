/** Finds the folder of an earlier run: by its path or its id, or as the last one of a checkout. */

import { lstatSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Environment } from '../../domain/environment.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { orNone } from '../../files/failures.ts';
import { repositoryRoot } from '../../git/checkout-layout.ts';
import { endDeadRun } from './dead-run.ts';
import { readStart } from './read-journal.ts';
import { checkPlacesOf, placesOf, type RunDirectory, runDirectoryAt } from './run-directory.ts';
import { whyNotUsable } from './run-directory-check.ts';
import { findRuns, notedPlaces } from './run-places.ts';

/** The directory of a run, or why it was not found. */
export type FoundRun = { status: 'ok'; directory: RunDirectory } | Failed;

/** Where a run is looked for. */
export interface From {
  readonly cwd: string;
  readonly env: Environment;
}

/**
 * The same for callers that use more than single files: the folder has been validated, and a run whose process has died has
 * been ended.
 */
export async function openRunDirectory(run: string, from: From): Promise<FoundRun> {
  const found = await findRun(run, from);
  if (found.status === 'failed') return found;
  const message = await whyNotUsable(found.directory);
  if (message !== null) return failed(message);
  await endDeadRun(found.directory);
  return found;
}

/**
 * `run` is a run directory, absolute or relative to `cwd`, or the id of a run in one of the default places, or of one
 * that left a pointer there. The given path may contain links; the returned one does not. Its contents are not
 * validated: read its files with `readRegularFile`.
 */
export async function findRun(run: string, { cwd, env }: From): Promise<FoundRun> {
  const isId = !run.includes('/');
  const candidates = [resolve(cwd, run), ...(isId ? placesOf(run, env) : [])];
  for (const folder of [...candidates, ...(isId ? checkPlacesOf(run, env) : [])]) {
    const { events, result } = runDirectoryAt(folder);
    if (isThere(events) || isThere(result))
      return { status: 'ok', directory: runDirectoryAt(realpathSync(folder)) };
  }
  const elsewhere = candidates.slice(1).flatMap((folder) => notedPlaces(dirname(folder)).get(run) ?? []);
  for (const folder of elsewhere) {
    const directory = runDirectoryAt(folder);
    const start = await readStart(directory.events);
    // A different run may be there now.
    if (start?.runId === run) return { status: 'ok', directory: runDirectoryAt(realpathSync(folder)) };
  }
  const named = JSON.stringify(run);
  const where =
    candidates[0] === run
      ? `in ${named}: neither events.jsonl nor result.json is there`
      : `${named} (looked in ${candidates.join(', ')})`;
  return { status: 'failed', message: `There is no run ${where}. Name its run directory.` };
}

/**
 * The newest run that started work in the checkout around `cwd`, among the runs in the default places and those that
 * left a pointer there (`--run-dir`). Replays, which work in a copy, do not count.
 */
export async function findLastRun({ cwd, env }: From): Promise<FoundRun> {
  const root = await repositoryRoot(cwd);
  if (root === null) return failed(`${cwd} is not in a checkout, so it has no last run. ${NAME_IT}`);
  let last: { id: string; at: number; directory: RunDirectory } | null = null;
  for (const { runId: id, path } of findRuns(env).found) {
    // Ids have a resolution of one second; for runs that began in the same second, the journal has the order.
    if (last !== null && secondOf(id) !== secondOf(last.id)) break;
    const directory = runDirectoryAt(path);
    const start = await readStart(directory.events);
    if (start === null || start.runId !== id || start.root !== root || start.replayOf !== undefined) continue;
    if (last === null || start.at > last.at) last = { id, at: start.at, directory };
  }
  if (last !== null) return { status: 'ok', directory: last.directory };
  const folders = placesOf('any', env).map((place) => dirname(place));
  return failed(`No run in ${folders.join(', ')} has begun to work in ${root}. ${NAME_IT}`);
}

/** `20261122-170352` of `20261122-170352-c5ef0f`. */
function secondOf(id: string): string {
  return id.slice(0, id.lastIndexOf('-'));
}

const NAME_IT = 'Name the run by its id or run directory.';

/** True for a dangling link too. False for an impossible path: too long, below a file, or in a folder that cannot be entered. */
function isThere(path: string): boolean {
  return (orNone(() => lstatSync(path, { throwIfNoEntry: false })) ?? null) !== null;
}
