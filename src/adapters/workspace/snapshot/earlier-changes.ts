/**
 * Distinguishes changes made before a command from later ones by the kernel's timestamps. A second scan of the whole tree would
 * do as well, but would double the cost of every command.
 */

import { type BigIntStats, lstatSync, utimesSync, writeFileSync } from 'node:fs';
import { invisible } from '../../../files/stat.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';

/** `clockNs` is the file system's time, `monotonicMs` that of a clock that cannot be set. */
export interface Instant {
  readonly clockNs: bigint;
  readonly monotonicMs: number;
  /** The file system's time of the last full scan. */
  readonly lastLookNs: bigint;
}

/** How far the two clocks may drift apart before we assume that the file system's clock was set. */
const DRIFT_MS = 100;
/** On a machine that keeps stalling for this long between two lines, the clocks cannot be compared. */
const TRIES = 20;

/**
 * The time of the file system, in ns, taken from a file that is written for it. A file that is not older may change again without
 * a trace.
 */
export function fileSystemTime(file: string): bigint {
  writeFileSync(file, '');
  utimesSync(file, 0, 0);
  return lstatSync(file, { bigint: true }).ctimeNs;
}

/** Reads both clocks at the same time: tries again if a busy machine paused us in between. */
export function nowByBoth(readClock: () => bigint): Pick<Instant, 'clockNs' | 'monotonicMs'> {
  for (let tries = 1; ; tries += 1) {
    const startedMs = performance.now();
    const clockNs = readClock();
    const monotonicMs = performance.now();
    if (monotonicMs - startedMs < DRIFT_MS / 4 || tries === TRIES) return { clockNs, monotonicMs };
  }
}

/**
 * Whether a path that was seen to have changed at `now` had already changed before `then`. If that cannot be determined the
 * answer is no, so that nothing a command did is lost. `inode` is the path's inode at the previous look; null if unknown.
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
    // A file written in place keeps its inode, so its own time is conclusive.
    if (stat !== null && stat.ino === inode) return true;
    // Any other may have come with a renamed folder, in which case only that folder's time is new.
    const above = [...foldersOf(path)];
    if (stat !== null && above.length > 0) return above.every((folder) => isOld(folderStat(folder)));
    // A file in the root that is older than the last look was not there then; not every file system updates a renamed file's
    // ctime.
    if (stat !== null) return stat.ctimeNs >= then.lastLookNs;
    // A deletion leaves its trace in the nearest folder that still exists; the root itself is never renamed.
    const left = [...above, ''].filter((folder) => folderStat(folder) !== null);
    return left.every((folder, at) => (folder === '' && at > 0) || isOld(folderStat(folder)));
  };
}

/**
 * Whether somebody other than the commands since `then` has put the entry at a path there, which the look before did not
 * find: it was changed between that look and `then`, or has come with a folder that was. An older entry that no such folder
 * explains was hidden from that look, and a command has brought it out. If that cannot be decided, the answer is no.
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

/** Both clocks advanced by the same time, so neither was set. */
function areSteady(then: Instant, now: Instant): boolean {
  const elapsedMs = Number(now.clockNs - then.clockNs) / 1e6;
  return Math.abs(elapsedMs - (now.monotonicMs - then.monotonicMs)) <= DRIFT_MS;
}

function statOf(view: TreeView, path: string): BigIntStats | null {
  try {
    return lstatSync(view.place(path), { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // If an entry cannot be examined, nothing is known about it, as for one that is gone.
    invisible(error);
    return null;
  }
}
