/** The locations of a checkout's parts. */

import type { ObjectFormat } from './store/object-store.ts';

/** A checkout: its work tree and where its repository stores what. All paths are absolute and real. */
export interface Checkout {
  /** Root of the work tree. */
  readonly root: string;
  /** Contains HEAD and index: the linked worktree's own, if it is one. */
  readonly gitDir: string;
  /** Contains refs, objects and configuration. */
  readonly commonDir: string;
  readonly objects: string;
  /** The folder the search started from, relative to `root`; empty for the root itself. */
  readonly prefix: string;
  readonly objectFormat: ObjectFormat;
  readonly head: CheckedOutHead;
}

/** `commit` is null before the first commit, `branchRef` (`refs/heads/main`) when HEAD is detached. */
export interface CheckedOutHead {
  readonly commit: string | null;
  readonly branchRef: string | null;
}
