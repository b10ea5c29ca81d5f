/** Files whose bytes on disk are others than those of git: line endings, encodings, filters and LFS. */

import type { FileState } from '../../../domain/changes/change.ts';
import type { FileStat } from '../../../files/stat.ts';
import { viewing } from '../../../files/tree-view.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import { attributesOf } from './committed-forms.ts';
import type { ContentPlaces, Taken, WorkTreeParts } from './parts.ts';
import type { StartIndex } from './start-index.ts';

/** Nothing is asked where git converts nothing. */
type ConversionParts = Pick<WorkTreeParts, 'git' | 'index' | 'contents'>;

/** A file of the index that has other bytes or another size on disk than its blob. */
export interface ConvertedFile {
  readonly path: string;
  /** As its stat says. */
  readonly state: FileState;
  readonly stat: FileStat;
  /** Its bytes follow neither from the blob nor from the size. */
  readonly hasOtherBytes: boolean;
}

/** The converted files of the index, besides `dirty` ones, which are read anyway. */
export async function convertedFiles(
  { git, index, contents }: ConversionParts,
  dirty: Iterable<string>,
): Promise<ConvertedFile[]> {
  if (!contents.mayConvert()) return [];
  const isDirty = new Set(dirty);
  const files = [...index.entries(/^H 100/)].filter(({ path }) => !isDirty.has(path));
  const sizes = await sizesOf(git.shadowDir, new Set(files.map(({ blob }) => blob)));
  const hiding = new Set(await hidingBytes(contents));
  return viewing(git.root, (view) =>
    files.flatMap(({ path, mode, blob }) => {
      const look = view.lookAt(path);
      if (look.status !== 'seen' || look.stat.kind !== 'file') return [];
      const { stat } = look;
      const hasOtherBytes = hiding.has(path);
      if (stat.size === sizes.get(blob) && !hasOtherBytes) return [];
      return { path, state: { mode, blob, size: stat.size }, stat, hasOtherBytes };
    }),
  );
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

/**
 * At the start, a file that is as git has it stays so, whatever attributes say by now. So does one whose filter is not run, since
 * it is not known what that would make of the file.
 */
export function keepCommitted(
  index: StartIndex,
  seen: { isConverted(path: string): boolean },
  taken: Map<string, Taken>,
): void {
  for (const [path, one] of taken) {
    const entry = index.get(path);
    if (one.status !== 'ok' || entry === null) continue;
    if (!seen.isConverted(path) && (one.filter === null || one.filter === 'lfs')) continue;
    const raw = rawOf(one.state);
    const { size, mode } = one.state;
    const state = { mode, blob: entry.blob, size, ...(raw === entry.blob ? {} : { raw }) };
    taken.set(path, { ...one, state });
  }
}

/** New attributes apply to files that the run has changed. One with its original bytes keeps its state, as in git. */
export async function keepUnchanged(
  { contents }: Pick<ConversionParts, 'contents'>,
  seen: { startOf(paths: readonly string[]): Promise<ReadonlyMap<string, FileState | null>> },
  taken: Map<string, Taken>,
): Promise<void> {
  if (!contents.mayConvert()) return;
  const start = await seen.startOf([...taken.keys()]);
  for (const [path, one] of taken) {
    const state = start.get(path) ?? null;
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
