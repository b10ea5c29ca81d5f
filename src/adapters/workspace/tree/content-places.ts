/** What it takes to read files of the work tree, and what comes of it. */

import type { FileState } from '../../../domain/changes/change.ts';
import type { Warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { FileStat } from '../../../files/stat.ts';
import type { ObjectStore } from '../../../git/store/object-store.ts';
import type { ChangeBudget } from './change-budget.ts';
import type { LookingGit } from './looking-git.ts';

/** A file to be read. */
export interface Wanted {
  readonly path: string;
  readonly stat: FileStat;
  /** What is known about the path so far; null if nothing is. */
  readonly before: FileState | null;
  /** The blob that the index of the start has for the path, or null. */
  readonly inIndex: string | null;
  /** The executable bit that counts where that of the work tree does not. */
  readonly isExecutable: boolean | null;
}

/** `stat` is null if the file kept changing and has to be read again next time. */
export type Taken =
  | { status: 'ok'; state: FileState; stat: FileStat | null }
  | { status: 'absent' }
  | { status: 'unreadable' }
  /** A limit on what a run may change does not permit it. */
  | { status: 'left_out' };

/** Where contents are read and stored. */
export interface ContentPlaces {
  readonly git: LookingGit;
  readonly store: ObjectStore;
  readonly budget: Pick<ChangeBudget, 'fits' | 'count'>;
  /** Opens files and folders that their owner has closed since the start. */
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  /** Whether git may commit other bytes than those in the work tree: there are attributes, or `core.autocrlf` is set. */
  mayConvert(): boolean;
  /** Names of the filters that the user's git would run. */
  readonly filters: ReadonlySet<string>;
  warn(warning: Warning): void;
}
