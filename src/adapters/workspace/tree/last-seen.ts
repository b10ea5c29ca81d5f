/**
 * What is known of the work tree: the base, and what has changed since. To compare is to look at paths, to read what may be other
 * than known, and to take that over.
 */

import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import type { Warning } from '../../../domain/warnings/warning.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { lookAt, viewing } from '../../../files/tree-view.ts';
import { type Taken, takeContents, type Wanted } from './contents.ts';
import { keepFiltered, keepUnchanged, learnTurned } from './conversions.ts';
import type { WorkTreeParts } from './parts.ts';
import { recentlyChanged } from './start-index.ts';
import { StartStates, type States } from './start-states.ts';
import { filterWarnings, nameWarning, unreadableWarnings } from './tree-warnings.ts';

/** `stat` is null if the content must be read at the next look, whatever its stat says. `state` is null for a path that is gone. */
interface Known {
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

const GONE: Known = { state: null, stat: null };

/** What a comparison is about. */
export interface Comparing {
  /** The file system's time before the look, in ns. */
  readonly clock: bigint;
  /** Untracked paths that git sees; null for a look at some paths only, and for the first one. */
  readonly visible: ReadonlySet<string> | null;
  readonly isStart: boolean;
  /** Folders and files that could not be read. */
  readonly closed: Set<string>;
}

/** Where a look found files or links, and where it found neither. */
interface Places {
  readonly stats: Map<string, FileStat>;
  readonly gone: string[];
}

/** The states of all paths as last seen. */
export class LastSeen {
  /** What the index implies. */
  readonly start: StartStates;
  readonly #parts: WorkTreeParts;
  /** Paths that are not as in the index, or whose stat git does not compare exactly enough. */
  readonly #known = new Map<string, Known>();
  /** Where the base is not as in the index. */
  readonly #base: States = new Map();
  #hidden: readonly string[] = [];

  constructor(parts: WorkTreeParts) {
    this.#parts = parts;
    this.start = new StartStates(parts);
  }

  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  get hidden(): readonly string[] {
    return this.#hidden;
  }

  /** Prepares for the first comparison, in which `dirty` paths are read anyway. */
  async learn(dirty: readonly string[]): Promise<void> {
    const { git, hidden, index } = this.#parts;
    await learnTurned(this.#conversion, dirty);
    // From now on they are compared here, to the nanosecond.
    const recent = new Set(recentlyChanged(index, git, hidden.startedNs));
    for (const path of dirty) recent.delete(path);
    for (const [path, state] of await this.start.of([...recent]))
      this.#known.set(path, { state, stat: null });
  }

  /** Makes what is known now the base, and returns how it differs from the index. */
  async takeBase(): Promise<States> {
    const inIndex = await this.start.of([...this.#known.keys()]);
    for (const [path, { state }] of this.#known) {
      // An entry that is only meant to be added seems to be an empty file, and is in no tree.
      if (state?.size === 0 || !sameOnDisk(state, inIndex.get(path) ?? null)) this.#base.set(path, state);
    }
    return new Map(this.#base);
  }

  /** Takes up what an earlier process knew: the tree of the base, and what had changed since. */
  async recall(base: string, states: ReadonlyMap<string, FileState | null>): Promise<void> {
    this.rebase(await this.start.differing(base));
    for (const [path, state] of [...this.#base, ...states]) this.#known.set(path, { state, stat: null });
  }

  /** Takes states into the base. */
  rebase(states: Iterable<readonly [string, FileState | null]>): void {
    for (const [path, state] of states) this.#base.set(path, state);
  }

  /** From now on, what is known is read again whatever its stat says. */
  distrustStats(): void {
    for (const [path, { state }] of this.#known) this.#known.set(path, { state, stat: null });
  }

  /** Whether there was a file at the path, or there is one in the base or the index. Rules hide none of them. */
  isKnown(path: string): boolean {
    return Boolean(this.#known.get(path)?.state) || this.isKept(path);
  }

  /** Rules do not remove a path from the base, nor from the index. */
  isKept(path: string): boolean {
    return this.#parts.index.has(path) || Boolean(this.#base.get(path));
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

  /** Whether there is a file or a link now. */
  isFile(path: string): boolean {
    const look = lookAt(this.#parts.git.root, path);
    return look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'link');
  }

  /** Reads what may differ from what is known, updates that, and returns the differences. */
  async compare(candidates: readonly string[], comparing: Comparing): Promise<PathChange[]> {
    const { visible, isStart, closed } = comparing;
    const isFull = visible !== null || isStart;
    const more = isFull ? [...this.#known.keys(), ...this.start.submodules] : [];
    const paths = new Set([...candidates, ...more]);
    const { stats, gone } = this.#placesOf(paths, closed);
    const befores = await this.statesOf(paths);
    const hidden = visible === null ? [] : this.#takeHidden(stats, befores, visible);
    const wanted = this.#wantedOf(stats, befores);
    const taken = await takeContents(wanted, this.#parts.contents);
    if (isStart) await keepFiltered(this.#conversion, taken);
    else await keepUnchanged(this.#conversion, this.#base, taken);
    const read = this.#takeOver(wanted, taken, comparing);
    for (const [path, { status }] of taken) {
      if (status === 'absent') gone.push(path);
      if (status === 'unreadable') closed.add(path);
    }
    const changes = [...hidden, ...read, ...this.#takeGone(gone, befores, closed), ...this.#settleSparse()];
    this.#warn(unreadableWarnings(closed));
    if (isFull) this.#noteUnreadable(closed);
    this.#warn(await filterWarnings(this.#parts.contents, changes));
    return changes.filter(isChange).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Looks at each of the paths. Those that cannot be looked at are added to `closed`. */
  #placesOf(paths: Iterable<string>, closed: Set<string>): Places {
    const { contents, setIds, git } = this.#parts;
    const places: Places = { stats: new Map(), gone: [] };
    viewing(git.root, (view) => {
      for (const path of paths) {
        const submodule = this.start.submoduleOf(path);
        if (path.endsWith('/') || (submodule !== null && submodule !== path)) continue;
        const look = contents.closed.insist(path, () => view.lookAt(path));
        if (look.status === 'unreadable') closed.add(path);
        const stat = look.status === 'seen' ? look.stat : null;
        const refused = nameWarning(path, stat?.kind ?? null);
        if (refused !== null) contents.warn(refused);
        else if (stat === null) {
          if (look.status === 'absent') places.gone.push(path);
        } else {
          setIds.see(view, path, stat);
          if (stat.kind === 'file' || stat.kind === 'link') places.stats.set(path, stat);
          else places.gone.push(path);
        }
      }
    });
    return places;
  }

  /** Takes away what git does not see. A new rule hides what the run has made: it stays where it is. */
  #takeHidden(stats: Map<string, FileStat>, befores: States, visible: ReadonlySet<string>): PathChange[] {
    const { hidden } = this.#parts;
    const changes: PathChange[] = [];
    for (const path of stats.keys()) {
      if (visible.has(path) || this.isKept(path)) continue;
      const before = befores.get(path) ?? null;
      // A git dir that appeared beside a file does not hide it.
      if (before !== null && !hidden.mayDiffer) continue;
      stats.delete(path);
      if (before === null) continue;
      this.#known.set(path, GONE);
      hidden.hide(path);
      changes.push({ path, before, after: before, ignored: 'from_now' });
    }
    return changes;
  }

  /** Files whose content may have changed. Those that existed before come first, so that many new ones cannot hide what happened to them. */
  #wantedOf(stats: ReadonlyMap<string, FileStat>, befores: States): Wanted[] {
    const { index, hidden, fileMode } = this.#parts;
    const wanted: Wanted[] = [];
    for (const [path, stat] of stats) {
      const known = this.#known.get(path);
      const before = befores.get(path) ?? null;
      if (known?.stat && sameStat(known.stat, stat)) continue;
      if (before === null && !this.isKept(path) && hidden.isExposed(path, stat)) continue;
      const entry = index.get(path);
      const isExecutable = fileMode ? null : entry?.mode === '100755';
      wanted.push({ path, stat, before, inIndex: entry?.blob ?? null, isExecutable });
    }
    return wanted.sort((a, b) => Number(a.before === null) - Number(b.before === null));
  }

  #takeOver(
    wanted: readonly Wanted[],
    taken: ReadonlyMap<string, Taken>,
    { clock, isStart }: Comparing,
  ): PathChange[] {
    const { hidden } = this.#parts;
    return wanted.flatMap(({ path, before }) => {
      const one = taken.get(path);
      if (one?.status !== 'ok') return [];
      const stat = one.stat && one.stat.ctimeNs < clock ? one.stat : null;
      this.#known.set(path, { state: one.state, stat });
      const wasHidden = !isStart && before === null && hidden.wasHidden(path);
      return [{ path, before, after: one.state, ...(wasHidden ? { ignored: 'until_now' as const } : {}) }];
    });
  }

  #takeGone(gone: readonly string[], befores: States, closed: ReadonlySet<string>): PathChange[] {
    return gone.flatMap((path) => {
      const before = befores.get(path) ?? null;
      if (before === null || this.start.isSparse(path) || isWithinAny(closed, path)) return [];
      this.#known.set(path, GONE);
      return [{ path, before, after: null }];
    });
  }

  #settleSparse(): PathChange[] {
    const changes = this.start.settle(this.#known, (path) => this.isFile(path));
    for (const { path, after } of changes) this.#known.set(path, { state: after, stat: null });
    return changes;
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

  /** Files in what was closed since the start are there as far as anyone knows. */
  #noteUnreadable(closed: ReadonlySet<string>): void {
    const { contents, index } = this.#parts;
    const since = new Set([...closed].filter((path) => !contents.closed.isAsFound(path)));
    this.#hidden = [];
    if (since.size === 0) return;
    const paths = new Set([...this.#known.keys(), ...[...index.entries()].map(({ path }) => path)]);
    const isThere = (path: string) => this.#known.get(path)?.state !== null && !this.start.isSparse(path);
    this.#hidden = [...paths].filter((path) => isThere(path) && isWithinAny(since, path)).sort();
  }

  get #conversion() {
    return { ...this.#parts, states: this.start };
  }

  #warn(warnings: readonly Warning[]): void {
    for (const one of warnings) this.#parts.contents.warn(one);
  }
}

function isChange({ before, after, ignored }: PathChange): boolean {
  return ignored === 'from_now' || !sameOnDisk(before, after);
}

/** Whether the path or a folder that contains it is one of these. */
function isWithinAny(places: ReadonlySet<string>, path: string): boolean {
  return places.size > 0 && [path, ...foldersOf(path), ''].some((place) => places.has(place));
}
