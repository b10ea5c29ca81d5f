/** The known state of the work tree, and how it differs from the current one. */

import { join } from 'node:path';
import type { FileState, PathChange, Writer } from '../../../domain/changes/change.ts';
import { isTurned, sameOnDisk, sameState } from '../../../domain/changes/change.ts';
import { quotedName } from '../../../domain/changes/path.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { viewing } from '../../../files/tree-view.ts';
import type { CaptureScope, SinceCheckpoint } from '../../../ports/workspace.ts';
import type { BaselineIndex } from '../baseline/baseline-index.ts';
import { keepEmptyFolders } from '../baseline/empty-folders.ts';
import type { StatUnchanged } from '../baseline/stat-unchanged.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import { beginningOf } from '../unwalked/ignored-changes.ts';
import type { IsEarlier, PlantedGit } from '../unwalked/planted-git.ts';
import type { WriteLog } from '../unwalked/write-log.ts';
import { BaseStates } from './base-states.ts';
import type { ChangeBudget } from './change-budget.ts';
import { type ContentSources, type Taken, takeContents, type Wanted } from './content-store.ts';
import { appearedBefore, earlierThan, fileSystemTime, type Instant, nowByBoth } from './earlier-changes.ts';
import { KnownFiles } from './file-states.ts';
import { hiddenChange, RuleEffects } from './rule-effects.ts';
import { type IsExpected, seedKnown } from './seed.ts';
import { type Earlier, type Walked, walk, walkAll } from './walk.ts';
import type { WalkedTree } from './walked-tree.ts';
import { warnOfFilters, warnOfWalk } from './warnings.ts';

/** What a snapshot reads and compares with. */
export interface SnapshotParts {
  readonly tree: WalkedTree;
  readonly index: BaselineIndex;
  readonly settled: StatUnchanged;
  readonly planted: PlantedGit;
  readonly contents: ContentSources & { readonly budget: ChangeBudget };
  /** The executable bit of the work tree is significant. */
  readonly fileMode: boolean;
  /** A file outside the work tree that is written in order to read the file system's clock. */
  readonly clockFile: string;
  readonly writeLog: WriteLog;
  readonly shadowDir: string;
  /** The file that lists the folders that were empty at the start. */
  readonly emptyFoldersFile: string;
}

/** The work tree as last seen; each look returns what has changed since the previous one. */
export class Snapshot {
  readonly #parts: SnapshotParts;
  readonly #known: KnownFiles;
  readonly #folders: Earlier['folders'] = new Map();
  #lastLookNs = 0n;
  /** Files and folders that the last look could not read. */
  #unreadable: ReadonlySet<string> = new Set();
  #hidden: readonly string[] = [];
  readonly #base: BaseStates;
  readonly #effects: RuleEffects;
  /** The rules that the last look at everything went by; none for the first look of a process that resumes. */
  #generation = -1;
  #attributes = 0;
  /** The last look at everything was the first one by its rules. */
  #hasNewRules = false;
  /** What has come into view at the last look. */
  #shown: ReadonlySet<string> = new Set();
  /** Who wrote what the last look at everything found because rules have changed. */
  #writers: Map<string, Writer | 'outside'> = new Map();
  /** Files that were written since a moment and that are what they were; null while they are not asked for. */
  #identical: { readonly sinceNs: bigint; readonly found: PathChange[] } | null = null;
  /** Paths that are not as at the start, or were not. */
  readonly #touched = new Set<string>();

  private constructor(parts: SnapshotParts) {
    const { index, settled, tree, fileMode } = parts;
    this.#parts = parts;
    this.#known = new KnownFiles({ index, settled, tracked: tree.tracked, fileMode });
    this.#base = new BaseStates({ index, known: this.#known, tracked: tree.tracked });
    const { shadowDir } = parts;
    this.#effects = new RuleEffects({
      tree,
      ignoredFile: join(shadowDir, 'ignored-at-start'),
      began: () => beginningOf(shadowDir),
    });
  }

  get known(): Pick<KnownFiles, 'isEmpty' | 'differences' | 'stateOf'> {
    return this.#known;
  }

  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  get hidden(): readonly string[] {
    return this.#hidden;
  }

  /** Files that rules hid when the run began, that no rule hides now, and that the run has not changed; sorted. */
  get exposed(): readonly string[] {
    return this.#effects.exposed();
  }

  /** As in the port. */
  writerOf(path: string): Writer | 'outside' | null {
    return this.#writers.get(path) ?? null;
  }

  /** Records the current work tree. Files that the index shows to be unchanged are not read. */
  static async take(parts: SnapshotParts): Promise<Snapshot> {
    const snapshot = new Snapshot(parts);
    const clock = snapshot.#readClock();
    snapshot.#lastLookNs = clock;
    snapshot.#keepRules();
    const walked = await snapshot.#lookFirst(clock, null);
    warnOfWalk(walked, parts.contents.warn);
    await parts.planted.begin(walked, clock);
    keepEmptyFolders(parts.emptyFoldersFile, walked.empty);
    snapshot.#known.keepWithoutFile();
    await seedKnown(walked, { clock, isExpected: null }, { ...parts, known: snapshot.#known });
    await snapshot.#update(walked, clock, new Map());
    parts.contents.budget.begin();
    parts.tree.setIds.begin();
    snapshot.#base.takeEdits(
      new Map(snapshot.known.differences().map(({ path }) => [path, snapshot.#known.stateOf(path)])),
    );
    snapshot.#effects.begin(walked);
    const { rules } = parts.tree;
    rules.begin((path) => snapshot.#base.isRuleFileThere(path));
    parts.tree.closed.keepAsFound([...snapshot.#unreadable, ...parts.planted.unreadable]);
    return snapshot;
  }

  /**
   * Continues from what an earlier process knew, and returns how the work tree differs from that as git sees it. `kept`
   * holds null for paths that were gone.
   */
  static async reopen(
    parts: SnapshotParts,
    { base, states }: { base: ReadonlyMap<string, FileState>; states: ReadonlyMap<string, FileState | null> },
  ): Promise<{ snapshot: Snapshot; found: PathChange[] }> {
    const snapshot = new Snapshot(parts);
    const clock = snapshot.#readClock();
    snapshot.#lastLookNs = clock;
    parts.writeLog.recall(clock);
    parts.tree.closed.recall();
    parts.tree.setIds.recall();
    // Here the index alone proves nothing: the earlier process may have changed files that it lists.
    snapshot.#known.forgetIndex();
    snapshot.#known.keepWithoutFile();
    for (const [path, state] of base) snapshot.#known.set(path, { state, stat: null });
    for (const [path, state] of states) {
      snapshot.#known.set(path, { state, stat: null });
      snapshot.#touched.add(path);
    }
    snapshot.#base.recall(base);
    snapshot.#effects.recall();
    const { rules } = parts.tree;
    rules.begin((path) => snapshot.#base.isRuleFileThere(path));
    rules.refresh();
    const isExpected = (path: string, entry: FileState) => sameState(snapshot.#known.stateOf(path), entry);
    const walked = await snapshot.#lookFirst(clock, isExpected);
    warnOfWalk(walked, parts.contents.warn);
    await parts.planted.begin(walked, clock);
    await seedKnown(walked, { clock, isExpected }, { ...parts, known: snapshot.#known });
    parts.contents.budget.begin();
    parts.tree.setIds.begin();
    const changes = await snapshot.#update(walked, clock, new Map());
    const found = changes.filter(
      (change) =>
        change.ignored === 'from_now' || !(sameState(change.before, change.after) || isTurned(change)),
    );
    snapshot.#keepRules();
    return { snapshot, found: found.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  /** Examines everything, or some paths, and returns what changed since the last look, sorted by path. */
  capture(scope: CaptureScope): Promise<PathChange[]> {
    if (scope === 'after_commands') return this.#capture([''], new Map(), () => false);
    return this.#capture(scope === 'all' ? [''] : scope, new Map(), null);
  }

  /** Takes changes into the base. */
  rebase(changes: readonly PathChange[]): void {
    this.#base.rebase(changes);
  }

  /** The current time, to find out later what changed before it. */
  instant(): Instant {
    return { ...nowByBoth(() => this.#readClock()), lastLookNs: this.#lastLookNs };
  }

  /** Removes git dirs that commands created since `then`, for when no capture has got to it; null means since the start. */
  async sweepGitDirs(then: Instant | null): Promise<void> {
    const { planted, tree } = this.#parts;
    const isEarlier = then === null ? () => false : appearedBefore(then, this.instant(), tree.root);
    await planted.sweep(this.#readClock(), isEarlier);
  }

  /** Examines everything and separates what changed before `then`, as far as the file system's times show it. */
  async captureSince(then: Instant): Promise<SinceCheckpoint> {
    const now = this.instant();
    const { root } = this.#parts.tree;
    const inodes = new Map<string, bigint>();
    const identical: PathChange[] = [];
    this.#identical = { sinceNs: then.clockNs, found: identical };
    const changes = await this.#capture([''], inodes, appearedBefore(then, now, root)).finally(() => {
      this.#identical = null;
    });
    const sides: { earlier: PathChange[]; since: PathChange[] } = { earlier: [], since: [] };
    viewing(root, (view) => {
      const isEarlier = earlierThan(then, now, view);
      for (const change of changes) {
        const { path } = change;
        // What rules do to a file is the work of whoever changed them, however old the file is.
        const isByRules =
          this.#hasNewRules && (this.#shown.has(path) || change.ignored !== undefined || isTurned(change));
        sides[!isByRules && isEarlier(path, inodes.get(path) ?? null) ? 'earlier' : 'since'].push(change);
      }
    });
    return { ...sides, identical };
  }

  /**
   * Adds the inodes that changed files had to `inodes`. With `isEarlier`, the git dirs that commands created are removed,
   * and their surroundings examined.
   */
  async #capture(
    scopes: readonly string[],
    inodes: Map<string, bigint>,
    isEarlier: IsEarlier | null,
  ): Promise<PathChange[]> {
    const changes = new Map<string, PathChange>();
    for (const path of scopes) {
      let clock = this.#readClock();
      let walked = await this.#look(path, clock);
      if (isEarlier !== null && (await this.#parts.planted.remove(walked, clock, isEarlier))) {
        clock = this.#readClock();
        walked = await this.#look(path, clock);
      }
      if (path === '') this.#lastLookNs = clock;
      warnOfWalk(walked, this.#parts.contents.warn);
      const found = await this.#update(walked, clock, inodes);
      for (const change of found) this.#touched.add(change.path);
      if (path === '') this.#keepRules();
      await warnOfFilters(found, this.#parts.contents);
      for (const change of found) {
        const earlier = changes.get(change.path);
        changes.set(change.path, earlier ? { ...change, before: earlier.before } : change);
      }
    }
    return [...changes.values()]
      .filter(({ before, after, ignored }) => ignored === 'from_now' || !sameOnDisk(before, after))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The first look, after which files that are as in the index are known. */
  async #lookFirst(clock: bigint, isExpected: IsExpected): Promise<Walked> {
    const { tree, settled } = this.#parts;
    const believed = isExpected === null ? settled : this.#where(isExpected);
    if (settled.isMany) return walkAll(tree, { settled: believed, folders: this.#folders, clock });
    const [walked, changed] = await Promise.all([walk(tree, ''), settled.changed()]);
    return { ...walked, isUnchanged: (path) => believed.isSettled(path) && !changed.has(path) };
  }

  /** Git's answer counts only for paths that are expected to be as in the index. */
  #where(isExpected: NonNullable<IsExpected>): StatUnchanged {
    const { settled } = this.#parts;
    const isSettled = (path: string) => {
      const entry = settled.isSettled(path) ? this.#known.inIndex(path) : null;
      return entry !== null && isExpected(path, entry);
    };
    const settledIn = (folder: string) => {
      const isSettledName = settled.settledIn(folder);
      const before = folder === '' ? '' : `${folder}/`;
      return (name: string) => isSettledName(name) && isSettled(`${before}${name}`);
    };
    return { ...settled, isSettled, settledIn };
  }

  async #look(scope: string, clock: bigint): Promise<Walked> {
    const { rules } = this.#parts.tree;
    if (scope !== '') return this.#lookOnce(scope, clock);
    rules.refresh();
    for (let looks = 1; ; looks += 1) {
      const { generation, attributesGeneration } = rules;
      if (generation !== this.#generation) this.#folders.clear();
      if (attributesGeneration !== this.#attributes)
        for (const path of this.#touched) this.#known.unsettle(path);
      const walked = await this.#lookOnce(scope, clock);
      // A rule file that was met on the way may hold for what was seen before.
      if (rules.generation === generation || looks === MAX_LOOKS) return walked;
    }
  }

  #lookOnce(scope: string, clock: bigint): Promise<Walked> {
    const { tree, settled } = this.#parts;
    const isForGit = scope === '' && settled.isMany;
    return isForGit ? walkAll(tree, { settled, folders: this.#folders, clock }) : walk(tree, scope);
  }

  /** Updates what is known about the walked part and returns the differences. */
  async #update(walked: Walked, clock: bigint, inodes: Map<string, bigint>): Promise<PathChange[]> {
    const { index, contents, tree } = this.#parts;
    const wanted: Wanted[] = [];
    const isNew = (path: string) => this.#known.stateOf(path) === null;
    const { left, shown } = await this.#effects.intoView(walked, isNew);
    this.#shown = shown;
    if (walked.scope === '') this.#writers = this.#writersOf(walked, isNew);
    for (const [path, stat] of walked.files) {
      if (left.has(path)) continue;
      const known = this.#known.get(path);
      if (known?.stat && sameStat(known.stat, stat)) continue;
      const before = this.#known.stateOf(path);
      wanted.push({ path, stat, before, inIndex: index.entries.get(path)?.blob ?? null });
    }
    // Files that existed before come first: no number of new files may hide what happened to them.
    wanted.sort((a, b) => Number(a.before === null) - Number(b.before === null));
    const taken = wanted.length > 0 ? await takeContents(wanted, contents) : new Map<string, Taken>();
    await this.#keepUnchanged(wanted, taken);
    const changes: PathChange[] = [];
    const unreadable = new Set(walked.unreadable);
    for (const { path, stat } of wanted) {
      const one = taken.get(path);
      if (one?.status === 'unreadable') unreadable.add(path);
      if (one?.status !== 'ok') continue;
      const raw = one.raw === undefined ? {} : { raw: one.raw };
      const state = { mode: this.#known.modeOf(path, one), blob: one.blob, size: one.size, ...raw };
      const before = this.#known.stateOf(path);
      const inode = this.#known.get(path)?.stat?.ino ?? index.entries.get(path)?.ino;
      if (before && inode !== undefined) inodes.set(path, BigInt(inode));
      if (before && sameOnDisk(before, state)) this.#noteIdentical(path, before, stat);
      const settled = one.stat && one.stat.ctimeNs < clock ? one.stat : null;
      this.#known.set(path, { state, stat: settled });
      const ignored =
        shown.has(path) && this.#effects.mayHaveBeen(path) ? { ignored: 'until_now' as const } : {};
      if (!sameOnDisk(before, state)) changes.push({ path, before, after: state, ...ignored });
    }
    this.#unreadable = unreadable;
    for (const path of unreadable)
      contents.warn(
        warning('WARN_UNREADABLE', `${quotedName(path)} cannot be read and counts as unchanged.`),
      );
    const isThere = (path: string) =>
      walked.isUnchanged(path) || (walked.files.has(path) && taken.get(path)?.status !== 'absent');
    const isHidden = (path: string) => isWithin(unreadable, path);
    if (walked.scope === '') {
      const closed = new Set([...unreadable].filter((path) => !tree.closed.isAsFound(path)));
      this.#hidden = closed.size === 0 ? [] : this.#known.present().filter((path) => isWithin(closed, path));
    }
    const missing = this.#known.updateMissing(walked, (path) => isThere(path) || isHidden(path));
    const gone = new Set(missing.flatMap(({ before, after }) => (before && !after ? [before.blob] : [])));
    // What was moved is the work of whoever moved it, however old the file is.
    for (const { path, after } of changes) if (after && gone.has(after.blob)) this.#writers.delete(path);
    return [...changes, ...(await this.#withHidden(missing))];
  }

  /** A file that rules have hidden and hide no longer may have been written long before. */
  #writersOf({ files }: Walked, isNew: (path: string) => boolean): Map<string, Writer | 'outside'> {
    const writers = new Map<string, Writer | 'outside'>();
    const { tree, writeLog, shadowDir } = this.#parts;
    const beganNs = beginningOf(shadowDir) ?? 0n;
    if (tree.rules.generation === this.#generation) return writers;
    for (const [path, { ctimeNs }] of files) {
      if (!isNew(path)) continue;
      const writer = writeLog.writerOf(path, ctimeNs);
      // One that no rule is known to have hidden, or that is older than the work, has come with a folder.
      const isByUser = this.#shown.has(path) && ctimeNs >= beganNs;
      if (writer !== null && (writer !== 'outside' || isByUser)) writers.set(path, writer);
    }
    return writers;
  }

  /** Of a file that is what it was, its times and its inode say whether it was written. */
  #noteIdentical(path: string, state: FileState, { ctimeNs, mtimeNs, ino }: FileStat): void {
    const { sinceNs, found } = this.#identical ?? { sinceNs: null, found: [] };
    if (sinceNs === null || ctimeNs < sinceNs) return;
    const was = this.#known.get(path)?.stat;
    if (mtimeNs >= sinceNs || (was && was.ino !== ino)) found.push({ path, before: state, after: state });
  }

  /** A file that git no longer sees is gone, or a rule hides it. */
  async #withHidden(missing: readonly PathChange[]): Promise<readonly PathChange[]> {
    const { rules } = this.#parts.tree;
    if (missing.length === 0 || rules.generation === this.#generation) return missing;
    const gone = missing.flatMap(({ path, after }) => (after === null ? [path] : []));
    const hidden = await this.#effects.outOfView(gone);
    return missing.map((change) =>
      hidden.has(change.path) ? hiddenChange(change.path, change.before) : change,
    );
  }

  /**
   * Attributes turn the contents of files that the run has changed. One that is as it was at the start stays that, as it does
   * for git, which does not read it.
   */
  async #keepUnchanged(wanted: readonly Wanted[], taken: Map<string, Taken>): Promise<void> {
    const { contents, tree } = this.#parts;
    if (tree.rules.attributesGeneration === 0) return;
    const doubtful = wanted.filter(({ path }) => {
      const one = taken.get(path);
      const base = this.#base.stateOf(path);
      return one?.status === 'ok' && one.kind === 'file' && base !== null && base.blob !== one.blob;
    });
    if (doubtful.length === 0) return;
    const conversions = (paths: readonly string[]) => tree.rules.conversionsAtStart(paths);
    const asAtStart = await takeContents(doubtful, { ...contents, budget: NO_BUDGET, conversions });
    for (const [path, one] of asAtStart) {
      const base = this.#base.stateOf(path);
      if (one.status !== 'ok' || one.blob !== base?.blob) continue;
      // Sizes of a base that was read from its tree are not those in the work tree.
      if (!this.#base.isRecalled && one.size !== base.size) continue;
      taken.set(path, one);
    }
  }

  /** A look at everything has gone by the rules of now. */
  #keepRules(): void {
    const { generation, attributesGeneration } = this.#parts.tree.rules;
    this.#hasNewRules = generation !== this.#generation;
    this.#generation = generation;
    this.#attributes = attributesGeneration;
  }

  #readClock(): bigint {
    return fileSystemTime(this.#parts.clockFile);
  }
}

/** Looks at everything within one capture: whoever keeps writing rule files is not waited for. */
const MAX_LOOKS = 4;

/** For what has been counted. */
const NO_BUDGET = { fits: () => true, count: () => true };

/** Whether the path or a folder that contains it is one of these. */
function isWithin(places: ReadonlySet<string>, path: string): boolean {
  return places.size > 0 && [path, ...foldersOf(path), ''].some((place) => places.has(place));
}
