/** Finds the last run of a checkout, for `last` instead of an id. */

import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { failed } from '../../domain/failed.ts';
import { repositoryRoot } from '../../git/repository-root.ts';
import { type FoundRun, type From, findRun } from './find-run.ts';
import { idsIn } from './listing/run-folders.ts';
import { readStart } from './read-journal.ts';
import { placesOf } from './run-directory.ts';
import { notedPlaces } from './run-places.ts';

/**
 * The newest run that started work in the checkout around `cwd`, among the runs in the default places and those that
 * left a pointer there (`--run-dir`). Replays, which work in a copy, do not count.
 */
export async function findLastRun({ cwd, env }: From): Promise<FoundRun> {
  const root = await repositoryRoot(realPath(cwd));
  if (root === null) return failed(`${cwd} is not in a git repository, so it has no last run. ${NAME_IT}`);
  const folders = placesOf('any', env).map((place) => dirname(place));
  const ids = [...new Set(folders.flatMap((folder) => [...idsIn(folder), ...notedPlaces(folder).keys()]))];
  let last: { id: string; at: number; found: FoundRun } | null = null;
  for (const id of ids.sort().reverse()) {
    // Ids have a resolution of one second; for runs that began in the same second, the journal has the order.
    if (last !== null && secondOf(id) !== secondOf(last.id)) break;
    const found = await findRun(id, { cwd: '/', env });
    if (found.status === 'failed') continue;
    const start = await readStart(found.directory.events);
    if (start === null || start.root !== root || start.replayOf !== undefined) continue;
    if (last === null || start.at > last.at) last = { id, at: start.at, found };
  }
  if (last !== null) return last.found;
  return failed(`There is no run of ${root} in ${folders.join(', ')}. ${NAME_IT}`);
}

/** `20261122-170352` of `20261122-170352-c5ef0f`. */
function secondOf(id: string): string {
  return id.slice(0, id.lastIndexOf('-'));
}

const NAME_IT = 'Name the run by its id or run directory.';

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return resolve(path);
    throw error;
  }
}
