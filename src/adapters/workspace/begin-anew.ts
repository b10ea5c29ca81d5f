/** Begins again with a run that was ended before its baseline had been taken. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState, PathChange } from '../../domain/changes/change.ts';
import { sameState } from '../../domain/changes/change.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { contentOf } from './noted-paths.ts';
import { beginWorkspace, type WorkspacePlaces } from './open.ts';
import type { BegunReopening } from './reopen.ts';
import { removeLeftovers } from './restore/leftovers.ts';

/** What the journal says of files that were written before the baseline had been taken. */
export interface NotedState {
  /** By path, what counts as there when the run began. */
  readonly noted: ReadonlyMap<string, FileState | null>;
  /** Paths that have been recorded as changed, with their last known state. */
  readonly states: ReadonlyMap<string, FileState | null>;
}

/** The baseline is taken now, of all but the files that the run has noted. */
export function beginAnew(
  checkout: Checkout,
  places: WorkspacePlaces,
  { noted, states }: NotedState,
): BegunReopening {
  const { shadowDir } = places;
  // What was stored of noted files is nowhere else.
  for (const name of existsSync(shadowDir) ? readdirSync(shadowDir) : [])
    if (name !== 'objects') rmSync(join(shadowDir, name), { recursive: true, force: true });
  rmSync(places.sandboxGitDir, { recursive: true, force: true });
  const begun = beginWorkspace(checkout, places);
  const paths = [...noted.keys()];
  return {
    sandboxGitDir: begun.sandboxGitDir,
    async take() {
      await removeLeftovers(checkout.root, paths);
      const workspace = await begun.takeBaseline({
        close: (found) => {
          const isMoved = ([path, state]: [string, FileState | null]) =>
            !sameState(found(path), state) && !sameState(noted.get(path) ?? null, state);
          const moved = [...states].filter(isMoved).flatMap(([, state]) => contentOf(state));
          return { states: noted, moved: new Set(moved) };
        },
        handOver(take) {
          for (const [path, before] of noted) {
            const state = states.get(path);
            const sizes = state ? [state.size] : [];
            take(path, { state: state === undefined ? before : state, sizes, inodes: [] });
          }
        },
      });
      const found = await workspace.capture(paths);
      const isBefore = ({ path, after }: PathChange) => sameState(noted.get(path) ?? null, after);
      const asInBase = new Set(found.filter(isBefore).map(({ path }) => path));
      return { status: 'ok', workspace, found, planted: [], asInBase };
    },
  };
}
