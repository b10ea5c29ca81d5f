/**
 * The work tree as git sees it through a git dir of our own. The index of the start stays as it is; what has changed since is
 * known from earlier looks. A look asks git for the paths that differ from the index or are untracked, and reads those that may
 * differ from what is known.
 */

import { lstatSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FileState,
  isTurned,
  type PathChange,
  sameOnDisk,
  sameState,
} from '../../../domain/changes/change.ts';
import { foldedName, isGitDirName, isRuleFile, isWithin, quotedName } from '../../../domain/changes/path.ts';
import type { PathGuard } from '../../../domain/changes/path-policy.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { decodeName } from '../../../files/names.ts';
import { type FileStat, invisible, sameStat } from '../../../files/stat.ts';
import { TreeView } from '../../../files/tree-view.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import type { CaptureScope } from '../../../ports/workspace.ts';
import type { FoundFolders } from '../unwalked/git-dirs.ts';
import type { PlantedGit } from '../unwalked/planted-git.ts';
import type { SetIds } from '../unwalked/set-ids.ts';
import type { ChangeBudget } from './change-budget.ts';
import { attributesOf } from './committed-forms.ts';
import { type ContentPlaces, type Taken, takeContents, type Wanted } from './contents.ts';
import { foldersOf } from './folders-of.ts';
import type { HiddenFiles } from './hidden-files.ts';
import type { LookingGit } from './looking-git.ts';
import { START_INDEX, type StartIndex } from './start-index.ts';

/** What a work tree is looked at with. */
export interface WorkTreeParts {
  readonly git: LookingGit;
  readonly index: StartIndex;
  readonly hidden: HiddenFiles;
  readonly contents: ContentPlaces & { readonly budget: ChangeBudget; readonly closed: ClosedPlaces };
  readonly planted: PlantedGit;
  readonly setIds: SetIds;
  readonly guard: PathGuard;
  /** The executable bit of the work tree is significant. */
  readonly fileMode: boolean;
}

/** `stat` is null if the content must be read at the next look, whatever its stat says. `state` is null for a path that is gone. */
interface Known {
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

const GONE: Known = { state: null, stat: null };

/** The work tree as last seen; each look returns the changes since the previous one. */
export class WorkTree {
  readonly #parts: WorkTreeParts;
  /** Paths that are not as in the index, or whose stat git does not compare exactly enough. */
  readonly #known = new Map<string, Known>();
  /** Where the base is not as in the index. */
  readonly #base = new Map<string, FileState | null>();
  /** Submodules, and files that a sparse checkout left out: they count as present although there is no file. */
  readonly #sparse = new Map<string, FileState>();
  /** Files of the index whose bytes or size on disk do not follow from the blob. */
  readonly #turned = new Map<string, FileState>();
  readonly #submodules: readonly string[];
  #unreadable: ReadonlySet<string> = new Set();
  #hiddenPaths: readonly string[] = [];

  private constructor(parts: WorkTreeParts) {
    this.#parts = parts;
    const withoutFile = [
      ...parts.index.entries((facts) => facts.startsWith('S') || facts.includes(' 160000 ')),
    ];
    this.#submodules = withoutFile.flatMap(({ mode, path }) => (mode === '160000' ? [path] : []));
    for (const { mode, blob, path } of withoutFile) this.#sparse.set(path, { mode, blob, size: 0 });
  }

  /** Paths of the index's submodules. */
  get submodules(): readonly string[] {
    return this.#submodules;
  }

  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  get hidden(): readonly string[] {
    return this.#hiddenPaths;
  }

  /** The submodule that `path` is or lies in, or null. */
  submoduleOf(path: string): string | null {
    return this.#submodules.find((folder) => path === folder || path.startsWith(`${folder}/`)) ?? null;
  }

  /** Whether the base has files below the folder. */
  hasBelow(folder: string): boolean {
    const isBelow = ([path, state]: [string, FileState | null]) =>
      state !== null && path.startsWith(`${folder}/`);
    return this.#parts.index.hasBelow(folder) || [...this.#base].some(isBelow);
  }

  /** Looks for the first time, and returns how the base differs from the index, and which folders are empty. */
  static async take(parts: WorkTreeParts): Promise<{
    tree: WorkTree;
    edits: Map<string, FileState | null>;
    empty: readonly string[];
  }> {
    const tree = new WorkTree(parts);
    const { planted, contents, hidden, setIds } = parts;
    const clock = tree.#clock();
    const [folders, seen] = await Promise.all([planted.begin(clock), tree.#ask([])]);
    tree.#refuseBlocked(folders);
    hidden.begin(folders.rules, seen.ignored);
    await tree.#learnTurned(seen.dirty);
    await tree.#takeDoubtful(new Set(seen.dirty));
    await tree.#compare([...seen.dirty, ...seen.untracked], { clock, isStart: true });
    const inIndex = await tree.#inIndex([...tree.#known.keys()]);
    for (const [path, { state }] of tree.#known)
      if (!sameOnDisk(state, inIndex.get(path) ?? null)) tree.#base.set(path, state);
    contents.budget.begin();
    setIds.begin();
    contents.closed.keepAsFound([...tree.#unreadable, ...planted.unreadable]);
    tree.#warnOfRepositories(seen.untracked);
    tree.#warnOfStart();
    return { tree, edits: new Map(tree.#base), empty: folders.empty };
  }

  /**
   * Continues from what an earlier process knew, and returns how the work tree differs from that, as git sees it. `base` is the
   * base's tree, and `states` what has changed since; null for paths that are gone.
   */
  static async reopen(
    parts: WorkTreeParts,
    { base, states }: { base: string; states: ReadonlyMap<string, FileState | null> },
  ): Promise<{ tree: WorkTree; found: PathChange[] }> {
    const tree = new WorkTree(parts);
    const { contents, hidden, planted, setIds } = parts;
    contents.closed.recall();
    setIds.recall();
    hidden.recall();
    hidden.see((await planted.begin(tree.#clock())).rules);
    await tree.#learnTurned([]);
    await tree.#takeDoubtful(new Set());
    for (const [path, state] of await tree.#differingFrom(base)) tree.#base.set(path, state);
    for (const [path, state] of [...tree.#base, ...states]) tree.#known.set(path, { state, stat: null });
    tree.#warnOfStart();
    contents.budget.begin();
    setIds.begin();
    const changes = await tree.look('all');
    const found = changes.filter(
      ({ before, after, ignored }) =>
        ignored === 'from_now' || !(sameState(before, after) || isTurned({ before, after })),
    );
    return { tree, found };
  }

  /** The last known state of a path; null when nothing is known to be there. */
  async stateOf(path: string): Promise<FileState | null> {
    return (await this.#statesOf([path])).get(path) ?? null;
  }

  /** Takes changes into the base. */
  rebase(changes: readonly PathChange[]): void {
    for (const { path, after } of changes) this.#base.set(path, after);
  }

  /** Looks at everything or at some paths, and returns what changed since the last look, sorted by path. */
  async look(scope: CaptureScope): Promise<PathChange[]> {
    const { planted, hidden } = this.#parts;
    const clock = this.#clock();
    if (scope !== 'all' && scope !== 'after_commands')
      return this.#compare(await this.#visibleAmong(scope), { clock });
    const folders = await planted.look(clock, scope === 'all' ? 'outside' : 'commands');
    this.#removeBlocking(folders);
    hidden.see(folders.rules);
    // What an earlier look has read may have changed without new times: a process can go on writing to a file that it mapped.
    if (scope === 'all')
      for (const [path, { state }] of this.#known) this.#known.set(path, { state, stat: null });
    const { dirty, untracked, all } = await this.#ask(folders.tooLarge);
    this.#warnOfRepositories(untracked);
    const visible = hidden.visible(untracked, all, this.#parts.guard);
    return this.#compare([...dirty, ...visible], {
      clock,
      visible: new Set(visible),
      unreadable: folders.unreadable,
    });
  }

  /** Whether git would see a file at the path, which exists. */
  async isVisible(path: string): Promise<boolean> {
    if (this.#isKept(path)) return true;
    if (path === '') return true;
    const args = ['--literal-pathspecs', 'ls-files', '-o', '--exclude-standard', '-z', ...scopeOf(path)];
    return names(await this.#parts.git.tell({ args })).includes(path);
  }

  /** Files that git sees below a folder: tracked, or not ignored; sorted. Links are listed and not followed. */
  async files(folder: string): Promise<string[]> {
    const args = [
      '--literal-pathspecs',
      'ls-files',
      '-c',
      '-o',
      '--exclude-standard',
      '-z',
      ...scopeOf(folder),
    ];
    const listed = new Set(names(await this.#parts.git.tell({ args })));
    for (const path of this.#submodules) listed.delete(path);
    const view = new TreeView(this.#parts.git.root);
    try {
      return [...listed]
        .filter((path) => {
          if (path.endsWith('/') || !isWithin(path, folder)) return false;
          const look = view.lookAt(path);
          return look.status === 'seen' && look.stat.kind !== 'folder' && look.stat.kind !== 'special';
        })
        .sort();
    } finally {
      view.close();
    }
  }

  /** Paths that git ignores; a folder that is ignored as a whole ends with a slash. */
  async ignored(): Promise<string[]> {
    const listed = await this.#listed(['-i', '--directory', '--exclude-standard']);
    // Git also lists folders of which it ignores each file, and these files.
    const around = new Set(listed.flatMap((path) => [...foldersOf(path.replace(/\/$/, ''))]));
    return listed.filter((path) => !path.endsWith('/') || !around.has(path.slice(0, -1)));
  }

  /** Rules do not remove a path from the base, nor from the index. */
  #isKept(path: string): boolean {
    return this.#parts.index.has(path) || (this.#base.get(path) ?? null) !== null;
  }

  /** What git finds: paths that differ from the index, and those that it does not have. */
  async #ask(
    tooLarge: readonly string[],
  ): Promise<{ dirty: string[]; untracked: string[]; ignored: string[]; all: string[] | null }> {
    const { hidden, git } = this.#parts;
    const besides = tooLarge.map((folder) => `--exclude=/${folder.replace(/[\\*?[\]!# ]/g, '\\$&')}/`);
    const [dirty, untracked, ignored, all] = await Promise.all([
      this.#dirty(),
      this.#listed(['--exclude-standard', ...besides]),
      hidden.hasBegun ? [] : this.ignored(),
      hidden.mayDiffer ? this.#listed(besides) : null,
    ]);
    if (dirty.length < MANY_DIRTY || hidden.hasBegun) return { dirty, untracked, ignored, all };
    // After a copy or a restored cache all stats are new: git compares the contents faster than they are read one by one.
    await git.ask({ args: ['update-index', '-q', '--refresh'] });
    return { dirty: await this.#dirty(), untracked, ignored, all };
  }

  async #dirty(): Promise<string[]> {
    const listed = await this.#parts.git.tell({ args: ['diff-files', '--name-only', '-z'] });
    return [...new Set(names(listed))];
  }

  async #listed(which: readonly string[]): Promise<string[]> {
    return names(await this.#parts.git.tell({ args: ['ls-files', '-o', '-z', ...which] }));
  }

  /** Those of the paths that exist and that git sees, or that are known. */
  async #visibleAmong(paths: readonly string[]): Promise<string[]> {
    const visible: string[] = [];
    for (const path of this.#withNeighbours(paths)) {
      const isThere = this.#see((view) => view.lookAt(path)).status === 'seen';
      const isKnown = (this.#known.get(path)?.state ?? null) !== null;
      if (!isThere || isKnown || (await this.isVisible(path))) visible.push(path);
    }
    return visible;
  }

  /** What is known below these paths is gone if there is a file now, and a file above them is looked at as well. */
  #withNeighbours(paths: readonly string[]): Set<string> {
    const { index } = this.#parts;
    const all = new Set(paths);
    for (const path of paths) {
      for (const folder of foldersOf(path)) if (this.#isFile(folder)) all.add(folder);
      for (const known of this.#known.keys()) if (known.startsWith(`${path}/`)) all.add(known);
      if (!index.hasBelow(path)) continue;
      for (const entry of index.entries()) if (entry.path.startsWith(`${path}/`)) all.add(entry.path);
    }
    return all;
  }

  /** Reads what may differ from what is known, updates that, and returns the differences. */
  async #compare(
    candidates: readonly string[],
    { clock, visible = null, isStart = false, unreadable = [] }: Comparing,
  ): Promise<PathChange[]> {
    const { contents, hidden, index } = this.#parts;
    const isFull = visible !== null;
    const paths = new Set([
      ...candidates,
      ...(isFull || isStart ? [...this.#known.keys(), ...this.#submodules] : []),
    ]);
    const closed = new Set(unreadable);
    const wanted: Wanted[] = [];
    const gone: string[] = [];
    const stats = new Map<string, FileStat>();
    const view = new TreeView(contents.git.root);
    try {
      for (const path of paths) {
        const submodule = this.submoduleOf(path);
        if (path.endsWith('/') || (submodule !== null && submodule !== path)) continue;
        const look = contents.closed.insist(path, () => view.lookAt(path));
        if (look.status === 'unreadable') closed.add(path);
        const kind = look.status === 'seen' ? look.stat.kind : null;
        if (this.#isRefused(path, kind)) continue;
        if (look.status === 'absent') gone.push(path);
        if (look.status !== 'seen') continue;
        this.#parts.setIds.see(view, path, look.stat);
        if (look.stat.kind === 'folder' || look.stat.kind === 'special') gone.push(path);
        else stats.set(path, look.stat);
      }
    } finally {
      view.close();
    }
    const befores = await this.#statesOf([...paths]);
    const covered: PathChange[] = [];
    for (const [path, stat] of stats) {
      const known = this.#known.get(path);
      const before = befores.get(path) ?? null;
      const isSeen = !isFull || visible.has(path) || this.#isKept(path);
      if (!isSeen) {
        if (before === null) continue;
        if (hidden.mayDiffer) {
          // A new rule hides what the run has made: it stays where it is.
          this.#known.set(path, GONE);
          hidden.hide(path);
          covered.push({ path, before, after: before, ignored: 'from_now' });
          continue;
        }
        // A git dir that appeared beside a file does not hide it.
      }
      if (known?.stat && sameStat(known.stat, stat)) continue;
      if (before === null && !this.#isKept(path) && hidden.isExposed(path, stat)) continue;
      const entry = index.get(path);
      const isExecutable = this.#parts.fileMode ? null : entry?.mode === '100755';
      wanted.push({ path, stat, before, inIndex: entry?.blob ?? null, isExecutable });
    }
    // Files that existed before come first, so that many new files cannot hide what happened to them.
    wanted.sort((a, b) => Number(a.before === null) - Number(b.before === null));
    const taken = await takeContents(wanted, contents);
    if (isStart) await this.#keepFiltered(wanted, taken);
    else await this.#keepUnchanged(taken);
    const changes = [...covered, ...this.#takeOver(wanted, taken, clock, isStart)];
    for (const [path, one] of taken) {
      if (one.status === 'absent') gone.push(path);
      if (one.status === 'unreadable') closed.add(path);
    }
    changes.push(...this.#takeGone(gone, befores, closed));
    changes.push(...this.#settleSparse());
    await this.#noteUnreadable(closed, isFull || isStart);
    if (!isStart) await this.#warnOfFilters(changes);
    return changes.filter(isChange).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #takeOver(
    wanted: readonly Wanted[],
    taken: ReadonlyMap<string, Taken>,
    clock: bigint,
    isStart: boolean,
  ): PathChange[] {
    const { hidden } = this.#parts;
    return wanted.flatMap(({ path, before }) => {
      const one = taken.get(path);
      if (one?.status !== 'ok') return [];
      const stat = one.stat && one.stat.ctimeNs < clock ? one.stat : null;
      this.#known.set(path, { state: one.state, stat });
      const ignored =
        !isStart && before === null && hidden.wasHidden(path) ? { ignored: 'until_now' as const } : {};
      return [{ path, before, after: one.state, ...ignored }];
    });
  }

  #takeGone(
    gone: readonly string[],
    befores: ReadonlyMap<string, FileState | null>,
    closed: ReadonlySet<string>,
  ): PathChange[] {
    return gone.flatMap((path) => {
      if (this.#sparse.has(path) || isWithinAny(closed, path)) return [];
      const before = befores.get(path) ?? null;
      if (before === null) return [];
      this.#known.set(path, GONE);
      return [{ path, before, after: null }];
    });
  }

  /** Files of a sparse checkout that have no file are there, unless something is in their place. */
  #settleSparse(): PathChange[] {
    if (this.#sparse.size === 0) return [];
    const present = new Set([...this.#known].flatMap(([path, { state }]) => (state ? [path] : [])));
    const folders = new Set([...present].flatMap((path) => [...foldersOf(path)]));
    const changes: PathChange[] = [];
    for (const [path, state] of this.#sparse) {
      const known = this.#known.get(path);
      const before = known === undefined ? state : known.state;
      if (known !== undefined && this.#isFile(path)) continue;
      const isDisplaced = folders.has(path) || [...foldersOf(path)].some((folder) => present.has(folder));
      const after = isDisplaced ? null : state;
      if (known !== undefined || isDisplaced) this.#known.set(path, { state: after, stat: null });
      if (!sameOnDisk(before, after)) changes.push({ path, before, after });
    }
    return changes;
  }

  #isFile(path: string): boolean {
    const look = this.#see((view) => view.lookAt(path));
    return look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'link');
  }

  async #statesOf(paths: readonly string[]): Promise<Map<string, FileState | null>> {
    const states = new Map<string, FileState | null>();
    const open: string[] = [];
    for (const path of paths) {
      const known = this.#known.get(path);
      if (known) states.set(path, known.state);
      else open.push(path);
    }
    for (const [path, state] of await this.#inIndex(open)) states.set(path, state);
    return states;
  }

  /** The states that the index implies. */
  async #inIndex(paths: readonly string[]): Promise<Map<string, FileState | null>> {
    const states = new Map<string, FileState | null>();
    const entries = paths.flatMap((path) => {
      const entry = this.#parts.index.get(path);
      const other = this.#sparse.get(path) ?? this.#turned.get(path);
      if (other !== undefined) states.set(path, other);
      return entry === null || entry.mode === '160000' || other !== undefined ? [] : [{ path, ...entry }];
    });
    const sizes = await sizesOf(this.#parts.git.shadowDir, [...new Set(entries.map(({ blob }) => blob))]);
    for (const { path, mode, blob } of entries) states.set(path, { mode, blob, size: sizes.get(blob) ?? 0 });
    return states;
  }

  /** Where this tree is not as the index, with the tree's states. */
  async #differingFrom(tree: string): Promise<Map<string, FileState | null>> {
    const { git } = this.#parts;
    const args = ['diff-index', '--cached', '--raw', '-z', '--no-abbrev', '--no-renames', tree];
    const raw = (await git.tell({ args })).toString('latin1');
    const sides = [...raw.matchAll(DIFFERENCE)].map(([, mode = '', blob = '', name = '']) => ({
      path: decodeName(Buffer.from(name, 'latin1')),
      state: mode === '000000' ? null : { mode: mode as FileState['mode'], blob },
    }));
    const sizes = await sizesOf(git.shadowDir, [...new Set(sides.flatMap(({ state }) => state?.blob ?? []))]);
    return new Map(
      sides.map(({ path, state }) => [path, state && { ...state, size: sizes.get(state.blob) ?? 0 }]),
    );
  }

  /** No patch can hold some names. `kind` is what is there, if anything is. */
  #isRefused(path: string, kind: FileStat['kind'] | null): boolean {
    const names = path.split('/');
    const isLink = kind === 'link' && foldedName(names.at(-1) ?? '') === '.gitmodules';
    const at = isLink ? names.length - 1 : names.findIndex(isGitDirName);
    if (at < 0) return false;
    const refused = quotedName(names.slice(0, at + 1).join('/'));
    this.#parts.contents.warn(
      warning('WARN_NAME_NOT_ACCEPTED', `${refused} has a name that git does not accept and is left out.`),
    );
    return true;
  }

  async #noteUnreadable(closed: ReadonlySet<string>, isFull: boolean): Promise<void> {
    const { contents, index } = this.#parts;
    for (const path of closed)
      contents.warn(
        warning('WARN_UNREADABLE', `${quotedName(path)} cannot be read and counts as unchanged.`),
      );
    if (!isFull) return;
    this.#unreadable = closed;
    const since = new Set([...closed].filter((path) => !contents.closed.isAsFound(path)));
    if (since.size === 0) {
      this.#hiddenPaths = [];
      return;
    }
    const paths = new Set([...this.#known.keys(), ...[...index.entries()].map(({ path }) => path)]);
    const isThere = (path: string) => this.#known.get(path)?.state !== null && !this.#sparse.has(path);
    this.#hiddenPaths = [...paths].filter((path) => isThere(path) && isWithinAny(since, path)).sort();
  }

  /**
   * Files that may have changed within the second in which they were last indexed, which git does not tell apart: from now on
   * they are compared here, to the nanosecond.
   */
  async #takeDoubtful(besides: ReadonlySet<string>): Promise<void> {
    const { git, hidden, index } = this.#parts;
    const file = join(git.shadowDir, START_INDEX);
    const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    const since = (hidden.startedNs / SECOND - 1n) * SECOND;
    if (stat === undefined || stat.mtimeNs < since) return;
    const recent: string[] = [];
    this.#see((view) => {
      for (const { path } of index.entries((facts) => facts.startsWith('H 1'))) {
        const look = view.lookAt(path);
        if (look.status === 'seen' && look.stat.ctimeNs >= since && !besides.has(path)) recent.push(path);
      }
    });
    for (const [path, state] of await this.#inIndex(recent)) this.#known.set(path, { state, stat: null });
  }

  /** Learns which files of the index have other bytes or another size on disk than their blobs. */
  async #learnTurned(dirty: readonly string[]): Promise<void> {
    const { contents, index, git } = this.#parts;
    if (!contents.mayConvert()) return;
    const isDirty = new Set(dirty);
    const files = [...index.entries((facts) => facts.startsWith('H 100'))].filter(
      ({ path }) => !isDirty.has(path),
    );
    const sizes = await sizesOf(git.shadowDir, [...new Set(files.map(({ blob }) => blob))]);
    const hiding = new Set(await this.#hidingBytes());
    const wanted: Wanted[] = [];
    const view = new TreeView(git.root);
    try {
      for (const { path, mode, blob } of files) {
        const look = view.lookAt(path);
        if (look.status !== 'seen' || look.stat.kind !== 'file') continue;
        const { stat } = look;
        if (stat.size !== sizes.get(blob)) this.#turned.set(path, { mode, blob, size: stat.size });
        if (hiding.has(path)) wanted.push({ path, stat, before: null, inIndex: blob, isExecutable: null });
      }
    } finally {
      view.close();
    }
    for (const [path, one] of await takeContents(wanted, contents)) {
      const entry = index.get(path);
      if (one.status !== 'ok' || entry === null) continue;
      const raw = one.state.raw ?? one.state.blob;
      if (raw !== entry.blob) this.#turned.set(path, { ...entry, size: one.state.size, raw });
    }
  }

  /** Files whose bytes follow neither from blob nor size. Of LFS, only the pointer is kept. */
  async #hidingBytes(): Promise<string[]> {
    const { git } = this.#parts;
    const args = ['ls-files', '-z', '--', ':(attr:ident)', ':(attr:working-tree-encoding)', ':(attr:filter)'];
    const paths = [...new Set(names(await git.tell({ args })))];
    const attributes = await attributesOf(this.#parts.contents, paths);
    return paths.filter((path) => attributes.get(path)?.filter !== 'lfs');
  }

  /** New attributes apply to files that the run has changed. One with its original bytes keeps its state, as in git. */
  async #keepUnchanged(taken: Map<string, Taken>): Promise<void> {
    if (!this.#parts.contents.mayConvert()) return;
    const inIndex = await this.#inIndex([...taken.keys()]);
    for (const [path, one] of taken) {
      const base = this.#base.get(path) ?? inIndex.get(path) ?? null;
      if (one.status !== 'ok' || base === null) continue;
      const { raw, blob, size, mode } = one.state;
      if (size === base.size && mode === base.mode && (raw ?? blob) === (base.raw ?? base.blob))
        taken.set(path, { ...one, state: base });
    }
  }

  /** What git would store of a file whose filter is not run is not known, so the file counts as unchanged at the start. */
  async #keepFiltered(wanted: readonly Wanted[], taken: Map<string, Taken>): Promise<void> {
    const { contents, index } = this.#parts;
    if (!contents.mayConvert()) return;
    const attributes = await attributesOf(
      contents,
      wanted.map(({ path }) => path),
    );
    for (const { path } of wanted) {
      const one = taken.get(path);
      const entry = index.get(path);
      const filter = attributes.get(path)?.filter ?? null;
      if (filter === null || filter === 'lfs' || one?.status !== 'ok' || entry === null) continue;
      const raw = one.state.raw ?? one.state.blob;
      const state = { ...one.state, blob: entry.blob, ...(raw === entry.blob ? {} : { raw }) };
      this.#turned.set(path, state);
      taken.set(path, { ...one, state });
    }
  }

  /** Says which changed files are in the patch otherwise than their filter would have them. */
  async #warnOfFilters(changes: readonly PathChange[]): Promise<void> {
    const { contents } = this.#parts;
    const paths = changes.flatMap(({ path, before, after, ignored }) =>
      after === null || ignored === 'from_now' || after.mode === '120000' || sameOnDisk(before, after)
        ? []
        : [path],
    );
    if (paths.length === 0 || !contents.mayConvert()) return;
    for (const [path, { filter }] of await attributesOf(this.#parts.contents, paths)) {
      if (filter === null) continue;
      contents.warn(
        filter === 'lfs'
          ? warning(
              'WARN_LFS_POINTER',
              `${quotedName(path)} is in the patch as a Git LFS pointer; push its content with git lfs.`,
            )
          : warning(
              'WARN_FILTER_NOT_RUN',
              `${quotedName(path)} is in the patch as it is on disk; its filter ${quotedName(filter)} was not run.`,
            ),
      );
    }
  }

  #warnOfRepositories(untracked: readonly string[]): void {
    const { contents } = this.#parts;
    for (const path of untracked)
      if (path.endsWith('/'))
        contents.warn(
          warning(
            'WARN_REPOSITORY_LEFT_OUT',
            `${quotedName(path.slice(0, -1))} is a separate repository and is left out.`,
          ),
        );
  }

  #warnOfStart(): void {
    const { contents, planted } = this.#parts;
    if (this.#submodules.length > 0)
      contents.warn(
        warning('WARN_SUBMODULES_LEFT_OUT', `Submodules are left out: ${this.#submodules.join(', ')}.`),
      );
    for (const { path } of planted.known) {
      const folder = path.slice(0, -'/.git'.length);
      if (path.endsWith('/.git') && !this.#submodules.includes(folder) && this.hasBelow(folder))
        contents.warn(
          warning(
            'WARN_GIT_FOLDER_INSIDE',
            `${quotedName(folder)} has its own git folder; its files are included anyway.`,
          ),
        );
    }
  }

  #refuseBlocked({ special }: FoundFolders): void {
    const [first] = special.filter(isRuleFile);
    if (first !== undefined)
      throw new Error(
        `${this.#parts.git.root}/${first} is a pipe or device, which git would wait for. Remove it.`,
      );
  }

  /** A pipe in place of a rule file would hold up every git, also the user's. */
  #removeBlocking({ special }: FoundFolders): void {
    for (const path of special.filter(isRuleFile)) {
      try {
        this.#see((view) => unlinkSync(view.place(path)));
      } catch (error) {
        invisible(error);
      }
      this.#parts.contents.warn(
        warning('WARN_SPECIAL_REMOVED', `${quotedName(path)} was a pipe or device, and was removed.`),
      );
    }
  }

  #see<T>(work: (view: TreeView) => T): T {
    const view = new TreeView(this.#parts.git.root);
    try {
      return work(view);
    } finally {
      view.close();
    }
  }

  #clock(): bigint {
    return fileSystemTime(join(this.#parts.git.shadowDir, 'clock'));
  }
}

/** What a comparison is about. */
interface Comparing {
  /** The file system's time before the look, in ns. */
  readonly clock: bigint;
  /** Untracked paths that git sees; null for a look at some paths only. */
  readonly visible?: ReadonlySet<string> | null;
  readonly isStart?: boolean;
  /** Folders that could not be read. */
  readonly unreadable?: readonly string[];
}

/** `:MODE MODE ID ID STATUS NUL PATH NUL`, of which the first mode and id are the tree's. */
const DIFFERENCE = /:(\d{6}) \d{6} ([0-9a-f]+) [0-9a-f]+ [A-Z]\d*\0([^\0]+)\0/g;

const SECOND = 1_000_000_000n;

/** From so many files on that differ by their stats, git compares the contents first. */
const MANY_DIRTY = 1_000;

function isChange({ before, after, ignored }: PathChange): boolean {
  return ignored === 'from_now' || !sameOnDisk(before, after);
}

/** A program takes no name that is not UTF-8: then git is asked about everything. */
function scopeOf(path: string): string[] {
  return path === '' || /\p{Surrogate}/u.test(path) ? [] : ['--', path];
}

function names(listed: Buffer): string[] {
  return decodeName(listed).split('\0').slice(0, -1);
}

/** Whether the path or a folder that contains it is one of these. */
function isWithinAny(places: ReadonlySet<string>, path: string): boolean {
  return places.size > 0 && [path, ...foldersOf(path), ''].some((place) => places.has(place));
}

/**
 * The time of the file system, in ns, taken from a file that is written for it. A file that is not older may change again without
 * a trace.
 */
export function fileSystemTime(file: string): bigint {
  writeFileSync(file, '');
  utimesSync(file, 0, 0);
  return lstatSync(file, { bigint: true }).ctimeNs;
}
