/** Where the parts of a checkout lie. */

import type { ObjectFormat } from './store/object-store.ts';

/** A checkout: its work tree and where its repository keeps what. All paths are absolute and real. */
export interface Checkout {
  /** Top of the work tree. */
  readonly root: string;
  /** Where HEAD and index are: of the linked worktree, if it is one. */
  readonly gitDir: string;
  /** Where refs, objects and configuration are. */
  readonly commonDir: string;
  readonly objects: string;
  /** The folder that was started from, relative to `root`; empty for the root itself. */
  readonly prefix: string;
  readonly objectFormat: ObjectFormat;
  readonly head: CheckedOutHead;
}

/** `commit` is null before the first commit, `branchRef` (`refs/heads/main`) when HEAD is detached. */
export interface CheckedOutHead {
  readonly commit: string | null;
  readonly branchRef: string | null;
}
