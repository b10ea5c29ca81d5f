/**
 * What is known of the work tree: the base, which is the index of the start with some differences, and what has changed since. Paths
 * without a file of their own count as present: submodules, and files that a sparse checkout left out.
 */

import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import { decodeName } from '../../../files/names.ts';
import type { FileStat } from '../../../files/stat.ts';
import { lookAt } from '../../../files/tree-view.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import { readDifferences } from '../../../git/store/trees.ts';
import type { RunStart } from '../run-start.ts';
import { scopeOf } from './looking-git.ts';
import type { WorkTreeParts } from './parts.ts';
import type { IndexEntry } from './start-index.ts';

/** A state by its path; null is no file. */
export type States = Map<string, FileState | null>;

/** `stat` is null if the content must be read at the next look, whatever its stat says. `state` is null for a path that is gone. */
interface Known {
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

/** The states of all paths, at the start and as last seen. */
export class LastSeen {
  readonly #parts: WorkTreeParts;
  /** Paths that are not as in the index, whose bytes are others, or whose stat git does not compare exactly enough. */
  readonly #known = new Map<string, Known>();
  /** Paths of the index that count as present without a file. */
  readonly #sparse = new Map<string, FileState>();
  readonly #submodules = new Set<string>();
  /** The base, where more is known of it than the index has. */
  readonly #base: States = new Map();

  constructor(parts: WorkTreeParts) {
    this.#parts = parts;
    for (const { mode, blob, path } of parts.index.entries(/^S|^. 160000/)) {
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

  /** Makes what is known now the base, and returns it. */
  takeBase(): States {
    for (const [path, { state }] of this.#known) this.#base.set(path, state);
    return new Map(this.#base);
  }

  /** Takes up what an earlier process knew: the tree of the base, files of it with their bytes on disk, and what had changed since. */
  async recall(
    base: string,
    converted: RunStart['converted'],
    states: ReadonlyMap<string, FileState | null>,
  ): Promise<void> {
    const args = ['diff-index', '--cached', '--raw', '-z', '--no-abbrev', '--no-renames', base];
    const differing = readDifferences(await this.#parts.git.tell({ args }));
    const sizes = await sizesOf(
      this.#parts.git.shadowDir,
      differing.flatMap(({ before }) => before?.blob ?? []),
    );
    for (const { path, before } of differing)
      this.#base.set(path, before && { ...before, size: sizes.get(before.blob) ?? 0 });
    // The tree has what git would commit of them.
    for (const [path, state] of converted)
      if ((this.#base.get(path) ?? this.#parts.index.get(path))?.blob === state.blob)
        this.#base.set(path, state);
    for (const [path, state] of [...this.#base, ...states]) this.set(path, state);
  }

  /** Takes changes into the base. */
  rebase(changes: readonly PathChange[]): void {
    for (const { path, after } of changes) this.#base.set(path, after);
  }

  /** From now on, what an earlier look has read is read again whatever its stat says, but for what has not changed since the start. */
  distrustStats(): void {
    for (const [path, { state }] of this.#known) if (state !== this.#base.get(path)) this.set(path, state);
  }

  /** Whether there was a file at the path, or there is one in the base or the index. Rules hide none of them. */
  isKnown(path: string): boolean {
    return Boolean(this.#known.get(path)?.state) || this.isKept(path);
  }

  /** Rules do not remove a path from the base, nor from the index. */
  isKept(path: string): boolean {
    return this.#parts.index.has(path) || Boolean(this.#base.get(path));
  }

  /** All paths of the base: files, links and submodules. */
  *basePaths(): Generator<string> {
    for (const path of this.#parts.index.paths) if (this.#base.get(path) !== null) yield path;
    for (const [path, state] of this.#base) if (state !== null) yield path;
  }

  /** Whether the base has files below the folder. */
  hasBelow(folder: string): boolean {
    if (this.#parts.index.hasBelow(folder)) return true;
    for (const [path, state] of this.#base) if (state && path.startsWith(`${folder}/`)) return true;
    return false;
  }

  /** Paths that are known below one of these. */
  *below(folders: ReadonlySet<string>): Generator<string> {
    for (const folder of folders) yield* this.#parts.index.below(folder);
    for (const path of this.#known.keys())
      for (const folder of foldersOf(path)) if (folders.has(folder)) yield path;
  }

  /** The last known states of the paths; none for a path that nothing is known of. */
  async statesOf(paths: Iterable<string>): Promise<States> {
    const states: States = new Map();
    const open: string[] = [];
    for (const path of paths) {
      const known = this.#known.get(path);
      if (known) states.set(path, known.state);
      else open.push(path);
    }
    for (const [path, state] of await this.startOf(open)) states.set(path, state);
    return states;
  }

  /** The states of these paths when the run began; none for a path that had no file, or is only unmerged. */
  async startOf(paths: readonly string[]): Promise<States> {
    const states: States = new Map();
    const indexed = new Map<string, IndexEntry>();
    for (const path of paths) {
      const other = this.#base.get(path) ?? this.#sparse.get(path);
      const entry = other === undefined ? this.#parts.index.get(path) : null;
      if (other !== undefined) states.set(path, other);
      if (entry !== null) indexed.set(path, entry);
    }
    const sizes = await this.#sizesOnDisk([...indexed.keys()]);
    for (const [path, entry] of indexed) states.set(path, { ...entry, size: sizes.get(path) ?? 0 });
    return states;
  }

  /** The index has them; blobs may have others. */
  async #sizesOnDisk(paths: readonly string[]): Promise<Map<string, number>> {
    if (paths.length === 0) return new Map();
    const args = ['--literal-pathspecs', 'ls-files', '--debug', '-z', ...scopeOf(paths)];
    const listed = decodeName(await this.#parts.git.tell({ args }));
    return new Map([...listed.matchAll(WITH_STAT)].map(([, path = '', size]) => [path, Number(size)]));
  }

  /** Brings up to date what counts as present without a file, unless something is in its place, and returns the changes. */
  settleSparse(): PathChange[] {
    if (this.#sparse.size === 0) return [];
    const present = new Set([...this.#known].flatMap(([path, { state }]) => (state ? [path] : [])));
    const folders = new Set([...present].flatMap((path) => [...foldersOf(path)]));
    const changes: PathChange[] = [];
    for (const [path, state] of this.#sparse) {
      const known = this.#known.get(path);
      if (known && isFile(this.#parts.git.root, path)) continue;
      const isDisplaced = folders.has(path) || [...foldersOf(path)].some((folder) => present.has(folder));
      const before = known ? known.state : state;
      const after = isDisplaced ? null : state;
      if (!sameOnDisk(before, after)) changes.push({ path, before, after });
    }
    for (const { path, after } of changes) this.set(path, after);
    return changes;
  }

  /** Paths that are other than in the index, or were once. */
  get paths(): Iterable<string> {
    return this.#known.keys();
  }

  /** Files that are there as far as anyone knows. */
  present(): string[] {
    const paths = new Set([...this.#known.keys(), ...this.#parts.index.paths]);
    return [...paths].filter((path) => this.#known.get(path)?.state !== null && !this.isSparse(path));
  }

  /** The stat of a file that need not be read again as long as it has that stat. */
  statOf(path: string): FileStat | null {
    return this.#known.get(path)?.stat ?? null;
  }

  /** Takes in what is at a path now. Without a `stat`, its content is read again at the next look. */
  set(path: string, state: FileState | null, stat: FileStat | null = null): void {
    this.#known.set(path, { state, stat });
  }
}

/** What `ls-files --debug -z` prints of a path. */
const WITH_STAT =
  /([^\0]+)\0 {2}ctime: \d+:\d+\n {2}mtime: \d+:\d+\n {2}dev: \d+\tino: \d+\n {2}uid: \d+\tgid: \d+\n {2}size: (\d+)\tflags: [0-9a-f]+\n/gy;

/** Whether there is a file or a link now. */
export function isFile(root: string, path: string): boolean {
  const look = lookAt(root, path);
  return look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'link');
}
