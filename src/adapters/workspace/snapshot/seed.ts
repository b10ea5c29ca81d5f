/** The states of files that are known before anything is read: those that the user's index proves. */

import type { FileState } from '../../../domain/changes/change.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { NO_CONVERSION } from '../baseline/conversion.ts';
import type { BaselineIndex } from '../baseline/index/baseline-index.ts';
import { type ContentSources, keepBytes } from './content-store.ts';
import type { KnownFiles } from './file-states.ts';
import type { Walked, WalkedTree } from './walked-tree.ts';

/** Whether a path may have the state that the index has; null where every path may. */
export type IsExpected = ((path: string, entry: FileState) => boolean) | null;

/** What is recorded, and where it comes from. */
interface SeedParts {
  readonly known: KnownFiles;
  readonly index: BaselineIndex;
  readonly contents: ContentSources;
  readonly tree: WalkedTree;
}

/** Records the files that count as being in the user's index, with the state that the index expects. */
export async function seedKnown(
  { files, isUnchanged }: Walked,
  { clock, isExpected }: { readonly clock: bigint; readonly isExpected: IsExpected },
  { known, index, contents, tree }: SeedParts,
): Promise<void> {
  const unsure: { path: string; stat: FileStat; state: FileState }[] = [];
  for (const [path, stat] of files) {
    const entry = known.inIndex(path);
    if (entry !== null && isUnchanged(path)) {
      known.set(path, { state: entry, stat: stat.ctimeNs < clock ? stat : null });
      continue;
    }
    // Nothing is known about it until its content has been stored.
    if (known.get(path) === null) known.set(path, { state: null, stat: null });
    if (entry === null || entry.mode === '160000' || entry.mode === '120000' || stat.kind !== 'file')
      continue;
    const state = { mode: known.modeOf(path, stat), blob: entry.blob, size: stat.size };
    if (isExpected === null || isExpected(path, state)) unsure.push({ path, stat, state });
  }
  const conversions = await contents.conversions(unsure.map(({ path }) => path));
  const seeded: string[] = [];
  for (const { path, stat, state } of unsure) {
    const filter = conversions.get(path)?.filter ?? null;
    // Without running the filter it is unknown what git would store, so the file counts as unchanged.
    if (filter === null || filter === 'lfs') continue;
    known.set(path, { state, stat });
    seeded.push(path);
  }
  if (!tree.rules.hidesBytes) return;
  for (const path of index.entries.keys()) if (isUnchanged(path)) seeded.push(path);
  await keepHiddenBytes(seeded, { known, index, contents, tree });
}

/** Stores the bytes of files that are not read otherwise and that do not follow from their blob and size. */
async function keepHiddenBytes(paths: readonly string[], { known, contents }: SeedParts): Promise<void> {
  const conversions = await contents.conversions(paths);
  const breath = new Breath();
  for (const path of paths) {
    await breath.after(1);
    const { ident, encoding, filter } = conversions.get(path) ?? NO_CONVERSION;
    if (!ident && encoding === null && (filter === null || filter === 'lfs')) continue;
    const state = known.stateOf(path);
    const raw = state && state.mode !== '120000' ? await keepBytes(path, contents) : null;
    if (state === null || raw === null || raw === state.blob) continue;
    known.set(path, { state: { ...state, raw }, stat: known.get(path)?.stat ?? null });
  }
}
