/** Scans the files that git ignores. The result is valid until something may write again. */

import { IgnoredFileList } from '../../../domain/changes/ignored-files.ts';
import { CutShort } from '../../../domain/run/cut-short.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { Workspace } from '../../../ports/workspace.ts';
import { findIgnoredChanges, type IgnoredPlaces } from './ignored-changes.ts';
import { IgnoredWriteList } from './ignored-writes.ts';
import type { WriteLog } from './write-log.ts';

/** Where to scan, and the callbacks for results. */
export interface IgnoredLookParts extends IgnoredPlaces {
  readonly writeLog: Pick<WriteLog, 'writerOf'>;
  readonly objectFormat: BaseRevision['objectFormat'];
  readonly warnings: Set<Warning>;
}

/** The result of a scan. */
interface Looked {
  readonly names: IgnoredFileList;
  readonly writes: IgnoredWriteList;
  /** Time did not run out. */
  readonly isWhole: boolean;
}

/** One scan answers two questions that are asked without a write in between. */
export class IgnoredLook {
  readonly #parts: IgnoredLookParts;
  #last: Promise<Looked> | null = null;

  constructor(parts: IgnoredLookParts) {
    this.#parts = parts;
  }

  /** From here on, something may write. */
  forget(): void {
    this.#last = null;
  }

  /** As `Workspace.ignoredWrites`. */
  async names(): ReturnType<Workspace['ignoredWrites']> {
    return (await (this.#last ?? this.#look())).names.list();
  }

  /** As `Workspace.ignoredChanges`: always scans again. */
  async writes(): ReturnType<Workspace['ignoredChanges']> {
    this.#last = this.#look();
    const { writes, isWhole } = await this.#last;
    if (!isWhole) this.#last = null;
    return writes.writes(this.#parts.tree, this.#parts.objectFormat);
  }

  async #look(): Promise<Looked> {
    const { writeLog, warnings } = this.#parts;
    const names = new IgnoredFileList();
    const writes = new IgnoredWriteList(writeLog);
    try {
      await findIgnoredChanges(this.#parts, (path, stat) => {
        names.add(path);
        if (stat !== null) writes.add(path, stat);
      });
    } catch (error) {
      // If time ran out, the files found so far are still worth reporting.
      if (!(error instanceof CutShort)) throw error;
      warnings.add(IGNORED_CUT_SHORT);
      return { names, writes, isWhole: false };
    }
    warnings.delete(IGNORED_CUT_SHORT);
    return { names, writes, isWhole: true };
  }
}

const IGNORED_CUT_SHORT = warning(
  'WARN_LOOK_CUT_SHORT',
  'Not all files that git ignores could be checked in time: set-uid bits that commands set may be left on them.',
);
