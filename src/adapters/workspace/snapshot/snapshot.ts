/** The known state of the work tree, and how it differs from the current one. */

import { join } from 'node:path';
import type { FileState, PathChange } from '../../../domain/changes/change.ts';
import { isTurned, sameOnDisk, sameState } from '../../../domain/changes/change.ts';
import type { CaptureScope } from '../../../ports/workspace.ts';
import { keepEmptyFolders } from '../baseline/empty-folders.ts';
import type { BaselineIndex } from '../baseline/index/baseline-index.ts';
import type { StatUnchanged } from '../baseline/stat-unchanged.ts';
import { beginningOf } from '../unwalked/ignored-changes.ts';
import type { PlantedGit } from '../unwalked/planted-git.ts';
import { BaseStates } from './base-states.ts';
import type { ChangeBudget } from './change-budget.ts';
import { Comparison } from './comparison.ts';
import type { ContentSources } from './content-store.ts';
import { KnownFiles } from './file-states.ts';
import { fileSystemTime } from './file-system-time.ts';
import { Looks } from './looks.ts';
import { RuleEffects } from './rule-effects.ts';
import { seedKnown } from './seed.ts';
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
  readonly shadowDir: string;
  /** The file that lists the folders that were empty at the start. */
  readonly emptyFoldersFile: string;
}

/** The work tree as last seen; each scan returns the changes since the previous one. */
export class Snapshot {
  readonly #parts: SnapshotParts;
  readonly #known: KnownFiles;
  readonly #base: BaseStates;
  readonly #effects: RuleEffects;
  readonly #looks: Looks;
  readonly #comparison: Comparison;
  #firstLookNs = 0n;

  private constructor(parts: SnapshotParts) {
    const { index, settled, tree, fileMode, contents, shadowDir } = parts;
    this.#parts = parts;
    const known = new KnownFiles({ index, settled, tracked: tree.tracked, fileMode });
    const base = new BaseStates({ index, known, tracked: tree.tracked });
    const began = () => beginningOf(shadowDir);
    const effects = new RuleEffects({ tree, ignoredFile: join(shadowDir, 'ignored-at-start'), began });
    const looks = new Looks({ tree, settled, known });
    this.#known = known;
    this.#base = base;
    this.#effects = effects;
    this.#looks = looks;
    this.#comparison = new Comparison({ tree, index, contents, known, base, effects, looks });
  }

  get known(): Pick<KnownFiles, 'isEmpty' | 'differences' | 'stateOf'> {
    return this.#known;
  }

  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  get hidden(): readonly string[] {
    return this.#comparison.hidden;
  }

  /** Files that rules hid when the run began, that no rule hides now, and that the run has not changed; sorted. */
  get exposed(): readonly string[] {
    return this.#effects.exposed();
  }

  /** Records the current work tree. Files that the index shows to be unchanged are not read. */
  static async take(parts: SnapshotParts): Promise<Snapshot> {
    const snapshot = new Snapshot(parts);
    const known = snapshot.#known;
    const clock = snapshot.#readClock();
    snapshot.#firstLookNs = clock;
    snapshot.#looks.keepRules();
    const walked = await snapshot.#looks.first(clock, null);
    warnOfWalk(walked, parts.contents.warn);
    await parts.planted.begin(walked, clock);
    keepEmptyFolders(parts.emptyFoldersFile, walked.empty);
    known.keepWithoutFile();
    await seedKnown(walked, { clock, isExpected: null }, { ...parts, known });
    await snapshot.#comparison.take(walked, clock);
    snapshot.#beginLimits();
    snapshot.#base.takeEdits(new Map(known.differences().map(({ path }) => [path, known.stateOf(path)])));
    snapshot.#effects.begin(walked);
    snapshot.#beginRules();
    parts.tree.closed.keepAsFound([...snapshot.#comparison.unreadable, ...parts.planted.unreadable]);
    return snapshot;
  }

  /**
   * Continues from what an earlier process knew, and returns how the work tree differs from that as git sees it. `states`
   * holds null for paths that were gone.
   */
  static async reopen(
    parts: SnapshotParts,
    { base, states }: { base: ReadonlyMap<string, FileState>; states: ReadonlyMap<string, FileState | null> },
  ): Promise<{ snapshot: Snapshot; found: PathChange[] }> {
    const snapshot = new Snapshot(parts);
    const known = snapshot.#known;
    const clock = snapshot.#readClock();
    snapshot.#firstLookNs = clock;
    parts.tree.closed.recall();
    parts.tree.setIds.recall();
    // Here the index alone proves nothing: the earlier process may have changed files that it lists.
    known.forgetIndex();
    known.keepWithoutFile();
    for (const [path, state] of base) known.set(path, { state, stat: null });
    for (const [path, state] of states) {
      known.set(path, { state, stat: null });
      snapshot.#looks.touch(path);
    }
    snapshot.#base.recall(base);
    snapshot.#effects.recall();
    snapshot.#beginRules();
    parts.tree.rules.refresh();
    const isExpected = (path: string, entry: FileState) => sameState(known.stateOf(path), entry);
    const walked = await snapshot.#looks.first(clock, isExpected);
    warnOfWalk(walked, parts.contents.warn);
    await parts.planted.begin(walked, clock);
    await seedKnown(walked, { clock, isExpected }, { ...parts, known });
    snapshot.#beginLimits();
    const changes = await snapshot.#comparison.take(walked, clock);
    const found = changes.filter(
      (change) =>
        change.ignored === 'from_now' || !(sameState(change.before, change.after) || isTurned(change)),
    );
    snapshot.#looks.keepRules();
    return { snapshot, found: found.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  /** Examines everything, or some paths, and returns what changed since the last look, sorted by path. */
  capture(scope: CaptureScope): Promise<PathChange[]> {
    if (scope === 'after_commands') return this.#capture([''], 'commands');
    return scope === 'all' ? this.#capture([''], 'outside') : this.#capture(scope, null);
  }

  /**
   * The next look reads all files again that have changed since the first one: a process that has mapped one into its memory
   * goes on changing it without new times.
   */
  distrustTimes(): void {
    this.#known.unsettleSince(this.#firstLookNs);
  }

  /** Takes changes into the base. */
  rebase(changes: readonly PathChange[]): void {
    this.#base.rebase(changes);
  }

  /** The current time by the clock of the file system. */
  now(): bigint {
    return this.#readClock();
  }

  /** Removes git dirs that commands created, if no capture has done so. */
  async sweepGitDirs(): Promise<void> {
    await this.#parts.planted.sweep(this.#readClock());
  }

  /** New git dirs are removed and their surroundings examined if they are by commands, and left to the user otherwise. */
  async #capture(scopes: readonly string[], by: 'commands' | 'outside' | null): Promise<PathChange[]> {
    const { planted } = this.#parts;
    const changes = new Map<string, PathChange>();
    for (const path of scopes) {
      let clock = this.#readClock();
      let walked = await this.#looks.at(path, clock);
      if (by === 'outside') await planted.adopt(walked, clock);
      if (by === 'commands' && (await planted.remove(walked, clock))) {
        clock = this.#readClock();
        walked = await this.#looks.at(path, clock);
      }
      warnOfWalk(walked, this.#parts.contents.warn);
      const found = await this.#comparison.take(walked, clock);
      for (const change of found) this.#looks.touch(change.path);
      if (path === '') this.#looks.keepRules();
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

  /** Changes, and set-uid and set-gid bits, are counted from here on. */
  #beginLimits(): void {
    this.#parts.contents.budget.begin();
    this.#parts.tree.setIds.begin();
  }

  #beginRules(): void {
    this.#parts.tree.rules.begin((path) => this.#base.isRuleFileThere(path));
  }

  #readClock(): bigint {
    return fileSystemTime(this.#parts.clockFile);
  }
}
