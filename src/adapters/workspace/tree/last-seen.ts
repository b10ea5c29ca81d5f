/** What is known of the work tree: the base, which is the index with some differences, and what has changed since. */

import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import type { FileStat } from '../../../files/stat.ts';
import { lookAt } from '../../../files/tree-view.ts';
import { learnTurned } from './conversions.ts';
import type { WorkTreeParts } from './parts.ts';
import { recentlyChanged, SECOND } from './start-index.ts';
import { StartStates, type States } from './start-states.ts';

/** `stat` is null if the content must be read at the next look, whatever its stat says. `state` is null for a path that is gone. */
interface Known {
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

/** The states of all paths, at the start and as last seen. */
export class LastSeen {
  /** What the index implies. */
  readonly start: StartStates;
  readonly #parts: WorkTreeParts;
  /** Paths that are not as in the index, or whose stat git does not compare exactly enough. */
  readonly #known = new Map<string, Known>();
  /** Those known for their stat alone: they are as in the index. */
  readonly #recent = new Set<string>();
  /** Where the base is not as in the index. */
  readonly base: States = new Map();

  constructor(parts: WorkTreeParts) {
    this.#parts = parts;
    this.start = new StartStates(parts);
  }

  /** Prepares for the first comparison, in which `dirty` paths are read anyway. */
  async learn(dirty: readonly string[]): Promise<void> {
    const { git, hidden, index } = this.#parts;
    await learnTurned(this.#parts, this.start, dirty);
    // From now on they are compared here, to the nanosecond.
    const recent = new Set(recentlyChanged(index, git, hidden.startedNs));
    for (const path of dirty) recent.delete(path);
    for (const [path, state] of await this.start.of([...recent])) {
      this.set(path, state);
      this.#recent.add(path);
    }
  }

  /** Makes what is known now the base, and returns how it differs from the index. */
  async takeBase(): Promise<States> {
    const inIndex = await this.start.of([...this.#known.keys()].filter((path) => !this.#recent.has(path)));
    for (const [path, { state }] of this.#known) {
      const differs = !this.#recent.has(path) && !sameOnDisk(state, inIndex.get(path) ?? null);
      // An entry that is only meant to be added seems to be an empty file, and is in no tree.
      if (state?.size === 0 || differs) this.base.set(path, state);
    }
    return new Map(this.base);
  }

  /** Takes up what an earlier process knew: the tree of the base, and what had changed since. */
  async recall(base: string, states: ReadonlyMap<string, FileState | null>): Promise<void> {
    this.rebase(await this.start.differing(base));
    for (const [path, state] of [...this.base, ...states]) this.set(path, state);
  }

  /** Takes states into the base. */
  rebase(states: Iterable<readonly [string, FileState | null]>): void {
    for (const [path, state] of states) this.base.set(path, state);
  }

  /** From now on, what is known is read again whatever its stat says. */
  distrustStats(): void {
    for (const [path, { state }] of this.#known) if (!this.#recent.has(path)) this.set(path, state);
  }

  /** After a full look that began at `clock`: to git, later changes have another second than those before the run. */
  endRecent(clock: bigint): void {
    for (const path of this.#recent) {
      const stat = this.statOf(path);
      if (stat === null || stat.ctimeNs / SECOND >= clock / SECOND) continue;
      this.#recent.delete(path);
      this.#known.delete(path);
    }
  }

  /** Whether there was a file at the path, or there is one in the base or the index. Rules hide none of them. */
  isKnown(path: string): boolean {
    return Boolean(this.#known.get(path)?.state) || this.isKept(path);
  }

  /** Rules do not remove a path from the base, nor from the index. */
  isKept(path: string): boolean {
    return this.#parts.index.has(path) || Boolean(this.base.get(path));
  }

  /** Whether the base has files below the folder. */
  hasBelow(folder: string): boolean {
    if (this.#parts.index.hasBelow(folder)) return true;
    for (const [path, state] of this.base) if (state && path.startsWith(`${folder}/`)) return true;
    return false;
  }

  /** Paths that are known below one of these. */
  *below(folders: ReadonlySet<string>): Generator<string> {
    for (const folder of folders) yield* this.#parts.index.below(folder);
    for (const path of this.#known.keys())
      for (const folder of foldersOf(path)) if (folders.has(folder)) yield path;
  }

  /** Whether there is a file or a link now. */
  isFile(path: string): boolean {
    const look = lookAt(this.#parts.git.root, path);
    return look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'link');
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
    for (const [path, state] of await this.start.of(open)) states.set(path, state);
    return states;
  }

  /** Brings up to date what counts as present without a file, and returns the changes. */
  settleSparse(): PathChange[] {
    const changes = this.start.settle(this.#known, (path) => this.isFile(path));
    for (const { path, after } of changes) this.set(path, after);
    return changes;
  }

  /** Paths that are other than in the index, or were once. */
  get paths(): Iterable<string> {
    return this.#known.keys();
  }

  /** Files that are there as far as anyone knows. */
  present(): string[] {
    const paths = new Set(this.#known.keys());
    for (const { path } of this.#parts.index.entries('')) paths.add(path);
    return [...paths].filter((path) => this.#known.get(path)?.state !== null && !this.start.isSparse(path));
  }

  /** The stat of a file that need not be read again as long as it has that stat. */
  statOf(path: string): FileStat | null {
    return this.#known.get(path)?.stat ?? null;
  }

  /** Takes in what is at a path now. Without a `stat`, its content is read again at the next look. */
  set(path: string, state: FileState | null, stat: FileStat | null = null): void {
    if (!sameOnDisk(state, this.#known.get(path)?.state ?? null)) this.#recent.delete(path);
    this.#known.set(path, { state, stat });
  }
}
