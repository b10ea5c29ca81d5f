/**
 * What the index of the start implies: the states of its paths, also of those without a file of their own, and where a tree
 * differs from it.
 */

import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import { decodeName } from '../../../files/names.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import type { LookingGit } from './looking-git.ts';
import type { StartIndex } from './start-index.ts';

/** A state by its path; null is no file. */
export type States = Map<string, FileState | null>;

/** The states of the start, as far as they follow from the index. */
export class StartStates {
  readonly #git: LookingGit;
  readonly #index: StartIndex;
  /** Submodules, and files that a sparse checkout left out: they count as present although there is no file. */
  readonly #sparse = new Map<string, FileState>();
  /** Files whose bytes or size on disk do not follow from the blob. */
  readonly #turned = new Map<string, FileState>();
  readonly #submodules = new Set<string>();

  constructor({ git, index }: { readonly git: LookingGit; readonly index: StartIndex }) {
    this.#git = git;
    this.#index = index;
    for (const { mode, blob, path } of index.entries('S|. 160000')) {
      this.#sparse.set(path, { mode, blob, size: 0 });
      if (mode === '160000') this.#submodules.add(path);
    }
  }

  /** Paths of submodules. */
  get submodules(): readonly string[] {
    return [...this.#submodules];
  }

  /** The submodule that `path` is or lies in, or null. */
  submoduleOf(path: string): string | null {
    if (this.#submodules.size === 0) return null;
    return [path, ...foldersOf(path)].find((place) => this.#submodules.has(place)) ?? null;
  }

  /** Whether the path counts as present without a file. */
  isSparse(path: string): boolean {
    return this.#sparse.has(path);
  }

  /** Notes the state of a file whose bytes or size on disk do not follow from the blob. */
  turn(path: string, state: FileState): void {
    this.#turned.set(path, state);
  }

  /** The states of these paths; none for a path that the index does not have, or only unmerged. */
  async of(paths: readonly string[]): Promise<States> {
    const states: States = new Map();
    const entries: [string, Omit<FileState, 'size'>][] = [];
    for (const path of paths) {
      const other = this.#sparse.get(path) ?? this.#turned.get(path);
      const entry = other === undefined ? this.#index.get(path) : null;
      if (other !== undefined) states.set(path, other);
      if (entry !== null) entries.push([path, entry]);
    }
    for (const [path, state] of await this.#sized(entries)) states.set(path, state);
    return states;
  }

  /** Where the tree is not as the index, with the tree's states. */
  async differing(tree: string): Promise<States> {
    const args = ['diff-index', '--cached', '--raw', '-z', '--no-abbrev', '--no-renames', tree];
    const raw = (await this.#git.tell({ args })).toString('latin1');
    return this.#sized(
      [...raw.matchAll(DIFFERENCE)].map(([, mode = '', blob = '', name = '']) => [
        decodeName(Buffer.from(name, 'latin1')),
        mode === '000000' ? null : { mode: mode as FileState['mode'], blob },
      ]),
    );
  }

  /** Changes of paths that count as present without a file: they are there, unless something is in their place. */
  settle(
    known: ReadonlyMap<string, { readonly state: FileState | null }>,
    isFile: (path: string) => boolean,
  ): PathChange[] {
    if (this.#sparse.size === 0) return [];
    const present = new Set([...known].flatMap(([path, { state }]) => (state ? [path] : [])));
    const folders = new Set([...present].flatMap((path) => [...foldersOf(path)]));
    const changes: PathChange[] = [];
    for (const [path, state] of this.#sparse) {
      if (known.has(path) && isFile(path)) continue;
      const isDisplaced = folders.has(path) || [...foldersOf(path)].some((folder) => present.has(folder));
      const before = known.get(path)?.state;
      const change = {
        path,
        before: before === undefined ? state : before,
        after: isDisplaced ? null : state,
      };
      if (!sameOnDisk(change.before, change.after)) changes.push(change);
    }
    return changes;
  }

  async #sized(states: readonly (readonly [string, Omit<FileState, 'size'> | null])[]): Promise<States> {
    const sizes = await sizesOf(
      this.#git.shadowDir,
      new Set(states.flatMap(([, state]) => state?.blob ?? [])),
    );
    return new Map(
      states.map(([path, state]) => [path, state && { ...state, size: sizes.get(state.blob) ?? 0 }]),
    );
  }
}

/** `:MODE MODE ID ID STATUS NUL PATH NUL`, of which the first mode and id are the tree's. */
const DIFFERENCE = /:(\d{6}) \d{6} ([0-9a-f]+) [0-9a-f]+ [A-Z]\d*\0([^\0]+)\0/g;
