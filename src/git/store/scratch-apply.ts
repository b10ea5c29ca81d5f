/**
 * Applies a patch of unknown origin to contents alone: in a scratch repository without a work tree, where git can write only
 * objects and an index of our own.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileMode, FileState } from '../../domain/changes/change.ts';
import type { PatchedPath, PatchedState } from '../../domain/changes/patch-text.ts';
import { askGit } from '../git.ts';
import { makeRepository } from './bare-repository.ts';
import { readBlobs } from './blobs.ts';
import { ObjectStore } from './object-store.ts';
import { listTree, ScratchIndex, type TreeEdit } from './trees.ts';

/** A private repository for trying patches and making merges. */
export type ScratchRepository = ReturnType<typeof openScratchRepository>;

/** The three sides of a merge. */
interface MergeSides {
  readonly before: Uint8Array;
  readonly now: Uint8Array;
  readonly after: Uint8Array;
}

/** Maximum single allocation for git: a small patch can claim to create content of any size. */
const MAX_ALLOCATION = '256m';

/** Maximum bytes of all contents before and after together, since all of them are in memory at once. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** `folder` is empty and private; the caller removes it. */
export function openScratchRepository(folder: string, maxTotalBytes: number = MAX_TOTAL_BYTES) {
  const gitDir = join(folder, 'bench.git');
  const core = { bare: true, logAllRefUpdates: false };
  makeRepository({ gitDir, objectFormat: 'sha1', alternate: null, head: 'ref: refs/heads/none', core });
  const store = new ObjectStore(gitDir, 'sha1');
  return {
    /**
     * Null if the patch does to its files exactly what `files` say, and nothing else; otherwise the problem with it. `contents`
     * has the bytes of every blob that `files` name as the state before.
     */
    async apply(
      patch: Uint8Array,
      files: readonly PatchedPath[],
      contents: ReadonlyMap<string, Uint8Array>,
    ): Promise<string | null> {
      // git refuses a patch without content.
      if (patch.length === 0 && files.length === 0) return null;
      const tooMuch = `its contents come to more than ${maxTotalBytes} bytes`;
      const total = [...contents.values()].reduce((sum, { length }) => sum + length, 0);
      if (total > maxTotalBytes) return tooMuch;
      for (const bytes of contents.values()) store.write(bytes, null);
      // The patch does not contain unchanged contents.
      const unsaid = store.write(new Uint8Array(), null);
      const stateOf: StateOf = ({ mode, blob }) => ({ mode: mode ?? '100644', blob: blob ?? unsaid });
      const index = new ScratchIndex(gitDir, 'bench.index', ENV);
      index.empty('sha1');
      await index.editedTree(
        files.flatMap(({ path, from, before }): TreeEdit[] =>
          before === null ? [] : [{ path: from ?? path, state: stateOf(before) }],
        ),
      );
      const applied = await index.appliedTree(patch);
      if (applied.tree === null) return `git does not apply it: ${applied.stderr || 'it did not say why'}`;
      const made = (await listTree(gitDir, applied.tree)) ?? new Map<string, FileState>();
      const all = [...made.values()].reduce((sum, { size }) => sum + size, total);
      return all > maxTotalBytes ? tooMuch : differenceFrom(made, files, stateOf);
    },
    /** Contents that `apply` has made, or was given. */
    read: (blobs: readonly string[]) => readBlobs(gitDir, blobs, () => maxTotalBytes),
    /** The three-way merge of texts and its id; null if they cannot be merged without conflicts. */
    async merge({ before, now, after }: MergeSides): Promise<{ blob: string; bytes: Buffer } | null> {
      const names = Object.entries({ now, before, after }).map(([name, bytes]) => {
        const path = join(folder, `merge-${name}`);
        writeFileSync(path, bytes, { mode: 0o600 });
        return path;
      });
      try {
        const args = [`--git-dir=${gitDir}`, 'merge-file', '-p', '-q', ...names];
        const merged = await askGit({ cwd: folder, args, env: ENV });
        // Its exit code is the number of conflicts, or above 127 if the content is not text.
        if (merged.exitCode !== 0) return null;
        return { blob: store.write(merged.stdout, null), bytes: merged.stdout };
      } finally {
        for (const path of names) rmSync(path, { force: true });
      }
    },
  };
}

const ENV = { GIT_ALLOC_LIMIT: MAX_ALLOCATION };

/** A state of a path with what the patch leaves out. */
type StateOf = (state: PatchedState) => { mode: FileMode; blob: string };

/** How the tree that was made differs from what the patch says it makes; null if it does not. */
function differenceFrom(
  made: ReadonlyMap<string, FileState>,
  files: readonly PatchedPath[],
  stateOf: StateOf,
): string | null {
  const wanted = new Map(
    files.flatMap(({ path, after }) => (after === null ? [] : [[path, stateOf(after)] as const])),
  );
  for (const [path, { mode, blob }] of made) {
    const promised = wanted.get(path);
    if (promised?.mode !== mode || promised.blob !== blob)
      return `it changes ${path} in a different way than it says`;
    wanted.delete(path);
  }
  const [missing] = wanted.keys();
  return missing === undefined ? null : `it does not change ${missing} although it says so`;
}
