/** Files whose bytes on disk are others than those of git: line endings, encodings, filters and LFS. */

import type { FileState } from '../../../domain/changes/change.ts';
import { attributesOf } from './committed-forms.ts';
import type { ContentPlaces, Taken } from './parts.ts';
import type { StartIndex } from './start-index.ts';

/** Files of the index whose bytes follow neither from their blob nor from their size. Of LFS, only the pointer is kept. */
export async function hidingBytes(contents: ContentPlaces): Promise<string[]> {
  if (!contents.mayConvert()) return [];
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
  seen: { isHiding(path: string): boolean },
  taken: Map<string, Taken>,
): void {
  for (const [path, one] of taken) {
    const entry = index.get(path);
    if (one.status !== 'ok' || entry === null) continue;
    if (!seen.isHiding(path) && (one.filter === null || one.filter === 'lfs')) continue;
    const raw = rawOf(one.state);
    const { size, mode } = one.state;
    const state = { mode, blob: entry.blob, size, ...(raw === entry.blob ? {} : { raw }) };
    taken.set(path, { ...one, state });
  }
}

/** New attributes apply to files that the run has changed. One with its original bytes keeps its state, as in git. */
export async function keepUnchanged(
  contents: Pick<ContentPlaces, 'mayConvert'>,
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
