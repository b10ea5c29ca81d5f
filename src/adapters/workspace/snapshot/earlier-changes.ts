/**
 * Tells changes that were there before a command from those that came after, by the times that the kernel keeps. A second
 * look at the whole tree would tell as well, at twice the cost of every command.
 */

import { type BigIntStats, lstatSync, utimesSync, writeFileSync } from 'node:fs';
import { invisible } from '../../../files/stat.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';

/** `clockNs` is the file system's time, `monotonicMs` the time of a clock that nobody sets. */
export interface Instant {
  readonly clockNs: bigint;
  readonly monotonicMs: number;
  /** The file system's time when the whole tree was last looked at. */
  readonly lastLookNs: bigint;
}

/** How far the two clocks may drift apart before the file system's is taken to have been set. */
const DRIFT_MS = 100;
/** A machine on which nothing runs for so long between two lines lets no clock be compared with another. */
const TRIES = 20;

/**
 * The time of the file system, in ns, by a file that is written for it. What is not older than that may change again without
 * a trace.
 */
export function fileSystemTime(file: string): bigint {
  writeFileSync(file, '');
  utimesSync(file, 0, 0);
  return lstatSync(file, { bigint: true }).ctimeNs;
}

/** What both clocks say at the same time: a busy machine that stops us between them is asked again. */
export function nowByBoth(readClock: () => bigint): Pick<Instant, 'clockNs' | 'monotonicMs'> {
  for (let tries = 1; ; tries += 1) {
    const startedMs = performance.now();
    const clockNs = readClock();
    const monotonicMs = performance.now();
    if (monotonicMs - startedMs < DRIFT_MS / 4 || tries === TRIES) return { clockNs, monotonicMs };
  }
}

/**
 * Whether a path that was seen to change at `now` had changed before `then`. Where that cannot be told the answer is no, so
 * that nothing a command did is lost. `inode` is the one that the path had at the look before; null when unknown.
 */
export function earlierThan(
  then: Instant,
  now: Instant,
  view: TreeView,
): (path: string, inode: bigint | null) => boolean {
  if (!areSteady(then, now)) return () => false;
  const device = statOf(view, '')?.dev;
  const isOld = (stat: BigIntStats | null) =>
    stat !== null && stat.dev === device && stat.ctimeNs < then.clockNs;
  const folders = new Map<string, BigIntStats | null>();
  const folderStat = (folder: string) => {
    let stat = folders.get(folder);
    if (stat === undefined) {
      stat = statOf(view, folder);
      folders.set(folder, stat);
    }
    return stat;
  };

  return (path, inode) => {
    const stat = statOf(view, path);
    if (stat !== null && !isOld(stat)) return false;
    // A file that was written in place keeps its inode, and its own time tells.
    if (stat !== null && stat.ino === inode) return true;
    // Any other may have come with a folder that was renamed, and then only that folder's time is new.
    const above = [...foldersOf(path)];
    if (stat !== null && above.length > 0) return above.every((folder) => isOld(folderStat(folder)));
    // In the root, a file older than the last look was not there then; not every file system marks a renamed one.
    if (stat !== null) return stat.ctimeNs >= then.lastLookNs;
    // What is gone has left its trace in the nearest folder that is still there; the root itself is never renamed.
    const left = [...above, ''].filter((folder) => folderStat(folder) !== null);
    return left.every((folder, at) => (folder === '' && at > 0) || isOld(folderStat(folder)));
  };
}

/**
 * Whether somebody other than the commands since `then` has put the entry at a path there, which the look before did not
 * find: it was changed between that look and `then`, or has come with a folder that was. An older entry that no such folder
 * explains was hidden from that look, and a command has brought it out. Where nothing can be told the answer is no.
 */
export function appearedBefore(then: Instant, now: Instant, root: string): (path: string) => boolean {
  if (!areSteady(then, now)) return () => false;
  return (path) =>
    viewing(root, (view) => {
      const device = statOf(view, '')?.dev;
      for (const place of [path, ...foldersOf(path)]) {
        const stat = statOf(view, place);
        if (stat === null || stat.dev !== device || stat.ctimeNs >= then.clockNs) return false;
        if (stat.ctimeNs >= then.lastLookNs) return true;
      }
      return false;
    });
}

/** Both clocks have gone on by the same time, so neither was set. */
function areSteady(then: Instant, now: Instant): boolean {
  const elapsedMs = Number(now.clockNs - then.clockNs) / 1e6;
  return Math.abs(elapsedMs - (now.monotonicMs - then.monotonicMs)) <= DRIFT_MS;
}

function statOf(view: TreeView, path: string): BigIntStats | null {
  try {
    return lstatSync(view.place(path), { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // Of what cannot be looked at nothing can be told, as of what is gone.
    invisible(error);
    return null;
  }
}
