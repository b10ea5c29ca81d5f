/** Reduces a run's objects at its end to those that undo, blame and replay need and that the repository does not have. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PathChange } from '../../../domain/changes/change.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { runIn } from '../../../git/git.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import { pack } from './base-copy.ts';
import { committedTree, uncommittedFiles, withinBounds } from './uncommitted.ts';

/** A run that has ended. */
export interface EndedRun {
  readonly shadowDir: string;
  readonly base: BaseRevision;
  /** Everything that it has recorded. */
  readonly changes: readonly PathChange[];
  /** All objects of the base are in one separate pack. */
  readonly hasWholeBase: boolean;
}

/**
 * Takes in what recorded changes began with, and uncommitted files of the base as far as they fit into the bounds; drops
 * larger ones that did not change, and the indexes that only a running run needs. Null on success, otherwise the reason.
 */
export async function keepEssentials(run: EndedRun): Promise<string | null> {
  const { shadowDir, base, changes, hasWholeBase } = run;
  for (const name of readdirSync(shadowDir))
    if (name.endsWith('.index') && name !== KEPT_INDEX) rmSync(join(shadowDir, name), { force: true });
  const recorded = recordedBlobs(changes);
  const committed = base.dirty ? await committedTree(shadowDir, base) : null;
  const files = committed === null ? [] : await uncommittedFiles(shadowDir, committed, base.tree);
  const isRecorded = ({ blob }: { blob: string | null }) => blob !== null && recorded.has(blob);
  const kept = withinBounds(files, isRecorded);
  const loose = (id: string) => join(shadowDir, 'objects', id.slice(0, 2), id.slice(2));
  const isBorrowed = (id: string) => !existsSync(loose(id));
  const keptBlobs = new Set([...kept].flatMap(({ blob }) => blob ?? []));
  if (!hasWholeBase) {
    const trees = committed === null ? [] : await treesOf(shadowDir, base.tree, committed);
    const wanted = [...(await smallOf(shadowDir, [...recorded].filter(isBorrowed))), ...keptBlobs, ...trees];
    const borrowed = new Set(wanted.filter(isBorrowed));
    const why = borrowed.size === 0 ? null : await pack(shadowDir, shadowDir, [...borrowed]);
    if (why !== null) return why;
  }
  for (const { blob } of files) {
    if (blob === null || recorded.has(blob) || (!hasWholeBase && keptBlobs.has(blob))) continue;
    rmSync(loose(blob), { force: true });
  }
  return null;
}

/** A run that is resumed looks at the work tree with the index of its start. */
const KEPT_INDEX = 'start.index';

function recordedBlobs(changes: readonly PathChange[]): Set<string> {
  const states = changes.flatMap(({ before, after }) => [before, after]);
  return new Set(
    states.flatMap((state) =>
      state === null || state.mode === '160000'
        ? []
        : [state.blob, ...(state.raw === undefined ? [] : [state.raw])],
    ),
  );
}

/** Those that fit into the bounds; the others are in the repository. */
async function smallOf(shadowDir: string, ids: readonly string[]): Promise<string[]> {
  const sized = [...(await sizesOf(shadowDir, ids))].map(([id, size]) => ({ id, size }));
  return [...withinBounds(sized, () => false)].map(({ id }) => id);
}

/** The trees that the commit does not have. */
async function treesOf(shadowDir: string, tree: string, committed: string): Promise<string[]> {
  const args = ['rev-list', '--objects', '--no-object-names', '--filter=blob:none', tree, `^${committed}`];
  const listed = await runIn(shadowDir, args);
  return listed
    .toString('latin1')
    .split('\n')
    .filter((id) => id !== '');
}
