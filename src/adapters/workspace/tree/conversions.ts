/** Files whose bytes on disk are others than those of git: line endings, encodings, filters and LFS. */

import type { FileState } from '../../../domain/changes/change.ts';
import { viewing } from '../../../files/tree-view.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import { attributesOf } from './committed-forms.ts';
import { takeContents } from './contents.ts';
import type { ContentPlaces, Taken, Wanted, WorkTreeParts } from './parts.ts';

/** Nothing is asked where git converts nothing. */
type ConversionParts = Pick<WorkTreeParts, 'git' | 'index' | 'contents'>;

/** What is known of the files, and what is learned about them here. */
interface KnownStates {
  /** Where the base is not as in the index. */
  readonly base: ReadonlyMap<string, FileState | null>;
  /** The states of these paths in the index. */
  startOf(paths: readonly string[]): Promise<ReadonlyMap<string, FileState | null>>;
  /** Notes the state of a file whose bytes or size on disk do not follow from the blob. */
  turn(path: string, state: FileState): void;
}

/** Learns which files of the index have other bytes or another size on disk than their blobs. `dirty` are read anyway. */
export async function learnTurned(
  { git, index, contents }: ConversionParts,
  states: KnownStates,
  dirty: Iterable<string>,
): Promise<void> {
  if (!contents.mayConvert()) return;
  const isDirty = new Set(dirty);
  const files = [...index.entries(/^H 100/)].filter(({ path }) => !isDirty.has(path));
  const sizes = await sizesOf(git.shadowDir, new Set(files.map(({ blob }) => blob)));
  const hiding = new Set(await hidingBytes(contents));
  const wanted: Wanted[] = [];
  viewing(git.root, (view) => {
    for (const { path, mode, blob } of files) {
      const look = view.lookAt(path);
      if (look.status !== 'seen' || look.stat.kind !== 'file') continue;
      const { stat } = look;
      if (stat.size !== sizes.get(blob)) states.turn(path, { mode, blob, size: stat.size });
      if (hiding.has(path)) wanted.push({ path, stat, before: null, inIndex: blob, isExecutable: null });
    }
  });
  for (const [path, one] of await takeContents(wanted, contents)) {
    const entry = index.get(path);
    if (one.status !== 'ok' || entry === null) continue;
    const raw = rawOf(one.state);
    if (raw !== entry.blob) states.turn(path, { ...entry, size: one.state.size, raw });
  }
}

/** Files whose bytes follow neither from blob nor size. Of LFS, only the pointer is kept. */
async function hidingBytes(contents: ContentPlaces): Promise<string[]> {
  // A pathspec finds no attribute that has a value, but those that have none.
  const others = ':(exclude,attr:!ident !working-tree-encoding !filter)';
  const args = ['ls-files', '-z', '--', others];
  const paths = [...new Set(await contents.git.names({ args }))];
  const attributes = await attributesOf(contents, paths);
  return paths.filter((path) => attributes.get(path)?.filter !== 'lfs');
}

/** What git would store of a file whose filter is not run is not known, so the file counts as unchanged at the start. */
export async function keepFiltered(
  { index, contents }: ConversionParts,
  states: KnownStates,
  taken: Map<string, Taken>,
): Promise<void> {
  if (!contents.mayConvert()) return;
  for (const [path, { filter }] of await attributesOf(contents, [...taken.keys()])) {
    const one = taken.get(path);
    const entry = index.get(path);
    if (filter === null || filter === 'lfs' || one?.status !== 'ok' || entry === null) continue;
    const raw = rawOf(one.state);
    const state = { ...one.state, blob: entry.blob, ...(raw === entry.blob ? {} : { raw }) };
    states.turn(path, state);
    taken.set(path, { ...one, state });
  }
}

/** New attributes apply to files that the run has changed. One with its original bytes keeps its state, as in git. */
export async function keepUnchanged(
  { contents }: ConversionParts,
  states: KnownStates,
  taken: Map<string, Taken>,
): Promise<void> {
  if (!contents.mayConvert()) return;
  const inIndex = await states.startOf([...taken.keys()]);
  for (const [path, one] of taken) {
    const state = states.base.get(path) ?? inIndex.get(path) ?? null;
    if (one.status !== 'ok' || state === null) continue;
    const { size, mode } = one.state;
    if (size === state.size && mode === state.mode && rawOf(one.state) === rawOf(state))
      taken.set(path, { ...one, state });
  }
}

/** The blob of the bytes on disk. */
function rawOf({ raw, blob }: FileState): string {
  return raw ?? blob;
}
