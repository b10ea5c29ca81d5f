/** The known state of the work tree, and how it differs from what is there now. */

import { lstatSync, utimesSync, writeFileSync } from 'node:fs';
import type { FileMode, FileState, PathChange } from '../../domain/change.ts';
import { sameOnDisk, sameState } from '../../domain/change.ts';
import { type ContentSources, keepBytes, type Taken, takeContents, type Wanted } from './content-store.ts';
import { NO_CONVERSION } from './conversion.ts';
import { earlierThan, type Instant } from './earlier-changes.ts';
import { keepEmptyFolders } from './empty-folders.ts';
import type { SettledFiles } from './settled-files.ts';
import type { StartIndex } from './start-index.ts';
import { foldersOf } from './tracked-paths.ts';
import type { TreeEdit } from './trees.ts';
import { type Earlier, type Walked, type WalkedTree, walk, walkAll } from './walk.ts';
import { type FileStat, sameStat } from './work-tree.ts';

export interface SnapshotParts {
  readonly tree: WalkedTree;
  readonly index: StartIndex;
  readonly settled: SettledFiles;
  readonly contents: ContentSources;
  /** The executable bit of the work tree counts. */
  readonly fileMode: boolean;
  /** A file outside the work tree that is written to learn the file system's time. */
  readonly clockFile: string;
  /** Where the start's empty folders are written down. */
  readonly emptyFoldersFile: string;
}

/** `stat` is null when the content has to be looked at as soon as the file is, whatever its stat says. */
interface Known {
  /** Null when the path is gone. */
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

/** Whether a path may have the state that the index has. */
type IsExpected = (path: string, entry: FileState) => boolean;

export class Snapshot {
  readonly #parts: SnapshotParts;
  /** Paths that are not as the start's index has them, or that git does not look at. All other files are in the index. */
  readonly #known = new Map<string, Known>();
  readonly #folders: Earlier['folders'] = new Map();
  #lastLookNs = 0n;
  /** Submodules and files left out of a sparse checkout: they count as present though no file is there. */
  readonly #kept = new Map<string, FileState>();

  private constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** Takes the work tree as it is now. Files that the index knows to be unchanged are not read. */
  static async take(parts: SnapshotParts): Promise<Snapshot> {
    const snapshot = new Snapshot(parts);
    const clock = snapshot.#readClock();
    snapshot.#lastLookNs = clock;
    const walked = await snapshot.#lookFirst(clock, () => true);
    snapshot.#note(walked);
    keepEmptyFolders(parts.emptyFoldersFile, walked.empty);
    snapshot.#keepWithoutFile();
    await snapshot.#seed(walked, clock, () => true);
    await snapshot.#update(walked, clock, new Map());
    return snapshot;
  }

  /**
   * Goes on from what an earlier process knew, and returns how the work tree differs from that as git sees it. `kept` holds
   * null for paths that were gone.
   */
  static async reopen(
    parts: SnapshotParts,
    kept: ReadonlyMap<string, FileState | null>,
  ): Promise<{ snapshot: Snapshot; found: PathChange[] }> {
    const snapshot = new Snapshot(parts);
    const clock = snapshot.#readClock();
    snapshot.#lastLookNs = clock;
    // The index alone proves nothing here: the earlier process may have changed what it has.
    for (const path of parts.index.entries.keys()) snapshot.#known.set(path, { state: null, stat: null });
    snapshot.#keepWithoutFile();
    for (const [path, state] of kept) {
      snapshot.#known.set(path, { state, stat: null });
      parts.tree.tracked.addFolders(path);
    }
    const isExpected = (path: string, entry: FileState) => sameState(snapshot.#stateOf(path), entry);
    const walked = await snapshot.#lookFirst(clock, isExpected);
    snapshot.#note(walked);
    await snapshot.#seed(walked, clock, isExpected);
    const changes = await snapshot.#update(walked, clock, new Map());
    const found = changes.filter(({ before, after }) => !sameState(before, after));
    return { snapshot, found: found.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  get isEmpty(): boolean {
    const { entries } = this.#parts.index;
    const isThere = (path: string) => this.#stateOf(path) !== null;
    return ![...this.#known.keys()].some(isThere) && ![...entries.keys()].some(isThere);
  }

  /** What has to be done to the start's index to make it what is known: little or nothing in a clean checkout. */
  differences({ entries }: StartIndex): TreeEdit[] {
    const edits: TreeEdit[] = [];
    for (const [path, { state }] of this.#known) {
      const entry = entries.get(path);
      if (state ? entry?.blob !== state.blob || entry.mode !== state.mode : entry)
        edits.push({ path, state });
    }
    for (const path of entries.keys())
      if (!this.#known.has(path) && !this.#isImplied(path)) edits.push({ path, state: null });
    return edits;
  }

  /** Looks at everything, or at some paths, and returns what changed since the last look, sorted by path. */
  capture(scope: 'all' | readonly string[]): Promise<PathChange[]> {
    return this.#capture(scope === 'all' ? [''] : scope, new Map());
  }

  /** Now, to tell later what changed before. */
  instant(): Instant {
    return { clockNs: this.#readClock(), monotonicMs: performance.now(), lastLookNs: this.#lastLookNs };
  }

  /** Looks at everything; what had changed before `then` is told apart, as far as the file system's times tell. */
  async captureSince(then: Instant): Promise<{ earlier: PathChange[]; since: PathChange[] }> {
    const isEarlier = earlierThan(then, this.instant(), this.#parts.tree.root);
    const inodes = new Map<string, bigint>();
    const changes = await this.#capture([''], inodes);
    const sides: { earlier: PathChange[]; since: PathChange[] } = { earlier: [], since: [] };
    for (const change of changes) {
      const { path } = change;
      sides[isEarlier(path, inodes.get(path) ?? null) ? 'earlier' : 'since'].push(change);
    }
    return sides;
  }

  /** Puts the inodes that changed files had into `inodes`. */
  async #capture(scopes: readonly string[], inodes: Map<string, bigint>): Promise<PathChange[]> {
    const changes = new Map<string, PathChange>();
    for (const path of scopes) {
      const clock = this.#readClock();
      if (path === '') this.#lastLookNs = clock;
      const walked = await this.#look(path, clock);
      this.#note(walked);
      const found = await this.#update(walked, clock, inodes);
      await this.#warnOfFilters(found);
      for (const change of found) {
        const earlier = changes.get(change.path);
        changes.set(change.path, earlier ? { ...change, before: earlier.before } : change);
      }
    }
    return [...changes.values()]
      .filter(({ before, after }) => !sameOnDisk(before, after))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The look after which what is as in the index is known. */
  async #lookFirst(clock: bigint, isExpected: IsExpected): Promise<Walked> {
    const { tree, settled } = this.#parts;
    const isSettled = (path: string) => {
      const entry = settled.isSettled(path) ? this.#inIndex(path) : null;
      return entry !== null && isExpected(path, entry);
    };
    if (settled.isMany)
      return walkAll(tree, { settled: { ...settled, isSettled }, folders: this.#folders, clock });
    const [walked, changed] = await Promise.all([walk(tree, ''), settled.changed()]);
    return { ...walked, isUnchanged: (path) => isSettled(path) && !changed.has(path) };
  }

  #look(scope: string, clock: bigint): Promise<Walked> {
    const { tree, settled } = this.#parts;
    const isForGit = scope === '' && settled.isMany;
    return isForGit ? walkAll(tree, { settled, folders: this.#folders, clock }) : walk(tree, scope);
  }

  /** Null when nothing is known to be there. */
  #stateOf(path: string): FileState | null {
    const known = this.#known.get(path);
    if (known) return known.state;
    return this.#isImplied(path) ? this.#inIndex(path) : null;
  }

  /** Is as in the index unless something else is known. */
  #isImplied(path: string): boolean {
    const { settled } = this.#parts;
    return settled.isMany && settled.isSettled(path);
  }

  /** What the start's index has; null when it has nothing, or several things to be merged. */
  #inIndex(path: string): FileState | null {
    const entry = this.#parts.index.entries.get(path);
    return entry?.blob ? { mode: entry.mode, blob: entry.blob, size: entry.size } : null;
  }

  #keepWithoutFile(): void {
    for (const [path, { mode, blob, skipWorktree }] of this.#parts.index.entries) {
      if (blob === null || !(skipWorktree || mode === '160000')) continue;
      const state = { mode, blob, size: 0 };
      this.#kept.set(path, state);
      this.#known.set(path, { state, stat: null });
    }
  }

  /** Takes what counts as in the user's index for known, where the index says what is expected. */
  async #seed({ files, isUnchanged }: Walked, clock: bigint, isExpected: IsExpected): Promise<void> {
    const { index, contents, tree } = this.#parts;
    const unsure: { path: string; stat: FileStat; state: FileState }[] = [];
    for (const [path, stat] of files) {
      const entry = this.#inIndex(path);
      if (entry !== null && isUnchanged(path)) {
        this.#known.set(path, { state: entry, stat: stat.ctimeNs < clock ? stat : null });
        continue;
      }
      // Until its content has been taken in, nothing is known of it.
      if (!this.#known.has(path)) this.#known.set(path, { state: null, stat: null });
      if (entry === null || entry.mode === '160000' || entry.mode === '120000' || stat.kind !== 'file')
        continue;
      const state = { mode: this.#modeOf(path, stat), blob: entry.blob, size: stat.size };
      if (isExpected(path, state)) unsure.push({ path, stat, state });
    }
    const conversions = await contents.conversions(unsure.map(({ path }) => path));
    const seeded: string[] = [];
    for (const { path, stat, state } of unsure) {
      const filter = conversions.get(path)?.filter ?? null;
      // Without running the filter nobody can tell what git would keep, so the file counts as unchanged.
      if (filter === null || filter === 'lfs') continue;
      this.#known.set(path, { state, stat });
      seeded.push(path);
    }
    if (!tree.rules.hidesBytes) return;
    for (const path of index.entries.keys()) if (isUnchanged(path)) seeded.push(path);
    await this.#keepHiddenBytes(seeded);
  }

  /** Keeps the bytes of files that are not read otherwise and that their blob and size do not tell. */
  async #keepHiddenBytes(paths: readonly string[]): Promise<void> {
    const { contents } = this.#parts;
    const conversions = await contents.conversions(paths);
    for (const path of paths) {
      const { ident, encoding, filter } = conversions.get(path) ?? NO_CONVERSION;
      if (!ident && encoding === null && (filter === null || filter === 'lfs')) continue;
      const state = this.#stateOf(path);
      const raw = state && state.mode !== '120000' ? await keepBytes(path, contents) : null;
      if (state === null || raw === null || raw === state.blob) continue;
      this.#known.set(path, { state: { ...state, raw }, stat: this.#known.get(path)?.stat ?? null });
    }
  }

  #modeOf(path: string, { kind, executable }: { kind: FileStat['kind']; executable: boolean }): FileMode {
    if (kind === 'link') return '120000';
    if (this.#parts.fileMode) return executable ? '100755' : '100644';
    return this.#parts.index.entries.get(path)?.mode === '100755' ? '100755' : '100644';
  }

  /** Brings what is known of the walked part up to date and returns the differences. */
  async #update(walked: Walked, clock: bigint, inodes: Map<string, bigint>): Promise<PathChange[]> {
    const { index, contents } = this.#parts;
    const wanted: Wanted[] = [];
    for (const [path, stat] of walked.files) {
      const known = this.#known.get(path);
      if (known?.stat && sameStat(known.stat, stat)) continue;
      wanted.push({ path, stat, inIndex: index.entries.get(path)?.blob ?? null });
    }
    const taken = wanted.length > 0 ? await takeContents(wanted, contents) : new Map<string, Taken>();
    const changes: PathChange[] = [];
    const unreadable = new Set(walked.unreadable);
    for (const { path } of wanted) {
      const one = taken.get(path);
      if (one?.status === 'unreadable') unreadable.add(path);
      if (one?.status !== 'ok') continue;
      const raw = one.raw === undefined ? {} : { raw: one.raw };
      const state = { mode: this.#modeOf(path, one), blob: one.blob, size: one.size, ...raw };
      const before = this.#stateOf(path);
      const inode = this.#known.get(path)?.stat?.ino ?? index.entries.get(path)?.ino;
      if (before && inode !== undefined) inodes.set(path, BigInt(inode));
      const settled = one.stat && one.stat.ctimeNs < clock ? one.stat : null;
      this.#known.set(path, { state, stat: settled });
      this.#parts.tree.tracked.addFolders(path);
      if (!sameOnDisk(before, state)) changes.push({ path, before, after: state });
    }
    for (const path of unreadable)
      contents.warn(`${shown(path)} cannot be read and counts as it was before.`);
    const isThere = (path: string) =>
      walked.isUnchanged(path) || (walked.files.has(path) && taken.get(path)?.status !== 'absent');
    const isHidden = (path: string) =>
      unreadable.size > 0 && [path, ...foldersOf(path), ''].some((place) => unreadable.has(place));
    return [...changes, ...this.#updateMissing(walked, (path) => isThere(path) || isHidden(path))];
  }

  /** Drops what is known and gone, and puts back what counts as present without a file. */
  #updateMissing({ scope, gone }: Walked, stays: (path: string) => boolean): PathChange[] {
    const inScope = (path: string) => scope === '' || path === scope || path.startsWith(`${scope}/`);
    const { index, tree } = this.#parts;
    // Git tells what is gone of the whole tree.
    const inIndex =
      scope === '' ? gone : tree.tracked.isFolder(scope) ? index.entries.keys() : [scope].values();
    const changes: PathChange[] = [];
    for (const path of new Set([...this.#known.keys(), ...inIndex])) {
      if (!inScope(path) || this.#kept.has(path) || stays(path)) continue;
      const before = this.#stateOf(path);
      this.#known.set(path, { state: null, stat: null });
      if (before) changes.push({ path, before, after: null });
    }
    for (const [path, kept] of this.#kept) {
      if (!(inScope(path) || scope.startsWith(`${path}/`)) || stays(path)) continue;
      const before = this.#stateOf(path);
      const after = this.#isDisplaced(path) ? null : kept;
      this.#known.set(path, { state: after, stat: null });
      if (!sameState(before, after)) changes.push({ path, before, after });
    }
    return changes;
  }

  /** A file stands where one of the path's folders was, or files stand below the path. */
  #isDisplaced(path: string): boolean {
    for (const folder of foldersOf(path)) if (this.#stateOf(folder)) return true;
    if (!this.#parts.tree.tracked.isFolder(path)) return false;
    for (const [known, { state }] of this.#known) if (state && known.startsWith(`${path}/`)) return true;
    return false;
  }

  #note({ nested, unstorable }: Walked): void {
    const { warn } = this.#parts.contents;
    for (const path of nested) warn(`${shown(path)} is a repository of its own and is left out.`);
    for (const path of unstorable) warn(`${shown(path)} has a name that git refuses and is left out.`);
  }

  async #warnOfFilters(changes: readonly PathChange[]): Promise<void> {
    const { conversions, warn } = this.#parts.contents;
    const files = changes.filter(({ after }) => after?.mode === '100644' || after?.mode === '100755');
    if (files.length === 0) return;
    const found = await conversions(files.map(({ path }) => path));
    for (const { path } of files) {
      const filter = found.get(path)?.filter ?? null;
      if (filter === 'lfs') {
        warn(
          `${shown(path)} is in the patch as a Git LFS pointer; its content has to be pushed with git lfs.`,
        );
      } else if (filter !== null) {
        warn(`${shown(path)} is in the patch as it is on disk; its filter ${shown(filter)} was not run.`);
      }
    }
  }

  /**
   * The time of the file system, in ns. A file whose ctime is not older may change again without a trace, so its content
   * is looked at next time.
   */
  #readClock(): bigint {
    writeFileSync(this.#parts.clockFile, '');
    utimesSync(this.#parts.clockFile, 0, 0);
    return lstatSync(this.#parts.clockFile, { bigint: true }).ctimeNs;
  }
}

/** A name in quotes, cut where it helps nobody. */
function shown(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
}
