/**
 * The base that a run's changes are counted from, and what is made from both at the end: the patches, and the objects to keep.
 */

import type { PathChange } from '../../../domain/changes/change.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { BASE_INDEX, ScratchIndex } from '../../../git/store/trees.ts';
import type { PatchResult, ReadBlobs, UncommittedPatch } from '../../../ports/workspace.ts';
import { makeProvenPatch } from '../patch/patch.ts';
import { packTree } from './base-copy.ts';

/** Where the base is stored, and how much of it. */
export interface RunBaseParts {
  readonly shadowDir: string;
  readonly base: BaseRevision;
  /** The whole base is stored with the run. */
  readonly keepsBase: boolean;
  readonly warnings: Set<Warning>;
}

/** Its methods are those of a workspace of the same names; the caller keeps them from running beside captures. */
export class RunBase {
  readonly #parts: RunBaseParts;
  #base: BaseRevision;
  /**
   * Resolves when the shadow repository contains the whole base, if it should. Started while the model is busy, needed at the end
   * of the run.
   */
  #keeping: Promise<void> | null = null;

  constructor(parts: RunBaseParts) {
    this.#parts = parts;
    this.#base = parts.base;
  }

  /** The base as it is now. */
  get now(): BaseRevision {
    return this.#base;
  }

  /** Starts storing the whole base, if it should be stored, without waiting for it. */
  startKeeping(): void {
    if (this.#parts.keepsBase) this.#keeping ??= this.#keep();
  }

  /** Done when the storing that was started has ended. */
  async kept(): Promise<void> {
    await this.#keeping;
  }

  /** Takes these changes into the base. */
  async rebase(changes: readonly PathChange[]): Promise<void> {
    const index = new ScratchIndex(this.#parts.shadowDir, BASE_INDEX);
    await index.readTree(this.#base.tree);
    const tree = await index.editedTree(changes.map(({ path, after }) => ({ path, state: after })));
    this.#base = { ...this.#base, tree, dirty: true };
  }

  /** Only of a base that is dirty. */
  async uncommitted(net: readonly PathChange[]): Promise<UncommittedPatch | null> {
    const { makeUncommittedPatch } = await import('./uncommitted.ts');
    return makeUncommittedPatch(this.#parts.shadowDir, this.#base, net);
  }

  /** After `kept`. */
  async keepEssentials(changes: readonly PathChange[], read: ReadBlobs): Promise<string | null> {
    const { keepEssentials } = await import('./essentials.ts');
    const { shadowDir } = this.#parts;
    return keepEssentials({
      shadowDir,
      base: this.#base,
      changes,
      read,
      hasWholeBase: this.#keeping !== null,
    });
  }

  /** The patch of these changes, proven. */
  makePatch(net: readonly PathChange[]): Promise<PatchResult> {
    return makeProvenPatch(this.#parts.shadowDir, this.#base, net);
  }

  async #keep(): Promise<void> {
    const { shadowDir, warnings } = this.#parts;
    const failure = await packTree(shadowDir, this.#base.tree, shadowDir);
    if (failure !== null)
      warnings.add(
        warning('WARN_BASE_NOT_KEPT', `The run cannot be replayed without this checkout: ${failure}.`),
      );
  }
}
