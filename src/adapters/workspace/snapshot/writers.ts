/**
 * Finds who wrote files that a full scan found because the rules have changed. Such a file may have been written long before the
 * commands that brought it into view.
 */

import type { Writer } from '../../../domain/changes/change.ts';
import type { WriteLog } from '../unwalked/write-log.ts';
import type { Walked } from './walked-tree.ts';

/** The results of a scan, and what is known about its files. */
interface Found {
  readonly walked: Walked;
  /** Nothing was known of the path. */
  isNew(path: string): boolean;
  /** Files that have come into view. */
  readonly shown: ReadonlySet<string>;
  /** When the work began, as a ctime; null where nothing has begun. */
  readonly beganNs: bigint | null;
}

/** The writers of files that have come into view. */
export class Writers {
  readonly #log: WriteLog;
  #writers = new Map<string, Writer | 'outside'>();

  constructor(log: WriteLog) {
    this.#log = log;
  }

  /** As `Workspace.writerOf`. */
  of(path: string): Writer | 'outside' | null {
    return this.#writers.get(path) ?? null;
  }

  /** Takes the result of a full scan; null if it used the same rules as the one before. */
  see(found: Found | null): void {
    this.#writers = new Map();
    if (found === null) return;
    const { walked, isNew, shown, beganNs } = found;
    for (const [path, { ctimeNs }] of walked.files) {
      if (!isNew(path)) continue;
      const writer = this.#log.writerOf(path, ctimeNs);
      // A file that no known rule has hidden, or that is older than the work, came with a folder.
      const isByUser = shown.has(path) && ctimeNs >= (beganNs ?? 0n);
      if (writer !== null && (writer !== 'outside' || isByUser)) this.#writers.set(path, writer);
    }
  }

  /** The file was moved, which is attributed to whoever moved it, however old the file is. */
  forget(path: string): void {
    this.#writers.delete(path);
  }
}
