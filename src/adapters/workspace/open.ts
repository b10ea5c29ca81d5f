/** From a checkout to the workspace of a run: the shadow repository, the throwaway git dir and the baseline. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState } from '../../domain/changes/change.ts';
import type { PathGuard } from '../../domain/changes/path-policy.ts';
import { type ChangeLimits, DEFAULT_CHANGE_LIMITS } from '../../domain/run/change-limits.ts';
import type { BaseCommit, BaseRevision } from '../../domain/run/events.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { runGit } from '../../git/git.ts';
import { type Coverage, coverable, linkedWorktrees, underPolicy } from '../../git/nested-git.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { editedTree } from '../../git/store/edited-tree.ts';
import type { ObjectFormat } from '../../git/store/object-store.ts';
import { BASE_INDEX, ScratchIndex, type TreeEdit } from '../../git/store/trees.ts';
import { readUserSettings, type UserEnvironment, type UserSettings } from '../../git/user-settings.ts';
import type { NestedRepository, SandboxGitDir, WholeWorkspace, Workspace } from '../../ports/workspace.ts';
import { BaselineRules } from './baseline/baseline-rules.ts';
import { BASELINE_INDEX, type BaselineIndex, readBaselineIndex } from './baseline/index/baseline-index.ts';
import { takeRuleFilesOfIndex } from './baseline/rule-files.ts';
import { MANY_FILES } from './baseline/stat-unchanged.ts';
import { earlyFiles } from './early/early-files.ts';
import { earlyRules } from './early/early-rules.ts';
import { EarlyWrites } from './early/early-writes.ts';
import { pendingWorkspace } from './early/pending-workspace.ts';
import { openGitWorkspace } from './git-workspace.ts';
import type { NotedPaths } from './noted-paths.ts';
import { shadowRepository, snapshotParts } from './parts.ts';
import { describeSandboxGitDir, hideSubmodules, makeSandboxGitDir } from './sandbox-git-dir.ts';
import { type BaselineStage, Snapshot, type SnapshotParts } from './snapshot/snapshot.ts';
import { keepBeginning } from './unwalked/ignored-changes.ts';
import { keepRepositories } from './unwalked/kept-repositories.ts';
import type { NestedFolders } from './unwalked/nested-changes.ts';

/** Where the workspace stores its own data: folders outside the work tree that do not exist yet. */
export interface WorkspacePlaces {
  readonly shadowDir: string;
  readonly sandboxGitDir: string;
  /** Locates the user's git configuration. */
  readonly env: UserEnvironment;
  /** Number of files above which git is asked for their stats. Default: 2,000. */
  readonly manyFiles?: number;
  /** What the run may change. Default: the default limits. */
  readonly limits?: ChangeLimits;
  /** Whether commands may not change anything in a repository in this folder. Default: they may. */
  readonly isReadOnly?: (folder: string) => boolean;
  /** What rules that the run writes may not hide. Default: they may hide everything. */
  readonly guard?: PathGuard | undefined;
  /** Awaited at each stage of taking the baseline, so that it can be held up. */
  readonly atStage?: ((stage: BaselineStage) => Promise<void>) | undefined;
  /** Whether the whole base is stored with the run. Default: only what the repository does not have. */
  readonly keepsBase?: boolean;
}

/** A workspace whose baseline is yet to be taken; a sandbox for its commands can be opened in the meantime. */
export interface BegunWorkspace {
  readonly sandboxGitDir: SandboxGitDir;
  /** As `openWorkspace`. Call once. `noted`: what an earlier process has written before it had a baseline. */
  takeBaseline(noted?: NotedPaths): Promise<WholeWorkspace>;
  /**
   * The same, but for a tree with many files it returns before the baseline is known: reads and single writes do not wait for
   * it. Call once, instead of the other.
   */
  takeMeanwhile(): Promise<Workspace>;
}

/** Takes no longer for a large tree than for a small one. */
export function beginWorkspace(checkout: Checkout, places: WorkspacePlaces): BegunWorkspace {
  mkdirSync(places.sandboxGitDir, { recursive: true, mode: 0o700 });
  const nested: NestedRepository[] = [];
  const sandboxGitDir = { ...describeSandboxGitDir(checkout, places.sandboxGitDir), nested };
  const finish = async (prepared: Prepared, noted: NotedPaths | null) => {
    const workspace = await takeWhole(prepared, noted);
    nested.push(...workspace.sandboxGitDir.nested);
    return workspace;
  };
  return {
    sandboxGitDir,
    takeBaseline: async (noted) => finish(await prepare(checkout, places), noted ?? null),
    async takeMeanwhile() {
      const prepared = await prepare(checkout, places);
      const { parts, shadowDir, settings, index } = prepared;
      if (!parts.settled.isMany) return finish(prepared, null);
      const { limits = DEFAULT_CHANGE_LIMITS } = places;
      const early = { checkout, shadowDir, settings, index, tree: parts.tree };
      const rules = earlyRules(early);
      const writes = new EarlyWrites({ ...early, rules, limits, store: parts.contents.store });
      const taken = finish(prepared, writes);
      // Its failure counts when somebody needs it.
      taken.catch(() => writes.close());
      return pendingWorkspace({
        files: earlyFiles(early, rules),
        writes,
        sandboxGitDir,
        taken,
        root: checkout.root,
        base: baseCommit(checkout),
      });
    },
  };
}

/** What was read before the work tree is scanned. */
interface Prepared {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly settings: UserSettings;
  readonly index: BaselineIndex;
  readonly parts: SnapshotParts;
  readonly madeGit: SandboxGitDir;
  readonly warnings: Set<Warning>;
  readonly isReadOnly: (folder: string) => boolean;
  readonly keepsBase: boolean;
}

/** Takes the current checkout as the baseline. Writes to none of the user's files and runs nothing from the checkout. */
export async function openWorkspace(checkout: Checkout, places: WorkspacePlaces): Promise<WholeWorkspace> {
  return takeWhole(await prepare(checkout, places), null);
}

/** Does not look at files of the work tree, except rule files that are only known from the index. */
async function prepare(checkout: Checkout, places: WorkspacePlaces): Promise<Prepared> {
  const { root } = checkout;
  const {
    shadowDir,
    limits = DEFAULT_CHANGE_LIMITS,
    manyFiles = MANY_FILES,
    isReadOnly = () => false,
    keepsBase = false,
  } = places;
  const settings = await readUserSettings(root, places.env);
  makeRepository(shadowRepository(checkout, shadowDir));
  const [madeGit, index] = await Promise.all([
    makeSandboxGitDir(checkout, places.sandboxGitDir, settings),
    readBaselineIndex(checkout.gitDir, shadowDir, checkout.objectFormat),
  ]);
  const rules = new BaselineRules(join(shadowDir, 'rules'), join(checkout.commonDir, 'info'), settings);
  await takeRuleFilesOfIndex(root, index, shadowDir, rules);

  const warnings = new Set<Warning>();
  const parts = snapshotParts({
    checkout,
    shadowDir,
    index,
    rules,
    settings,
    warnings,
    manyFiles,
    limits,
    guard: places.guard,
  });
  const { atStage } = places;
  return {
    ...{ checkout, shadowDir, settings, index, madeGit, warnings, isReadOnly, keepsBase },
    parts: { ...parts, ...(atStage === undefined ? {} : { atStage }) },
  };
}

async function takeWhole(
  { checkout, shadowDir, parts, madeGit, warnings, isReadOnly, keepsBase }: Prepared,
  noted: NotedPaths | null,
): Promise<WholeWorkspace> {
  const { root } = checkout;
  const known = knownTrees(checkout, shadowDir);
  const snapshot = await Snapshot.take(parts, () => noted?.close() ?? NOTHING);
  const { submodules } = parts.tree.tracked;
  if (submodules.length > 0) await hideSubmodules(madeGit.gitDir, submodules);
  const { nested, uncovered } = nestedIn(checkout, parts);
  const foreign = foreignIn({ nested, uncovered }, parts);
  const openedNs = snapshot.instant().clockNs;
  const gitDirs = [...parts.planted.known];
  keepRepositories(shadowDir, { root, nested, gitDirs, foreign, openedNs: String(openedNs) });
  const isKept = (folder: string) => foreign.includes(folder) && isReadOnly(folder);
  const sandboxGitDir = { ...madeGit, nested: underPolicy(nested, isKept), uncovered };
  const base = await baseRevision(checkout, shadowDir, { snapshot, known });
  const { tree, planted, contents } = parts;
  const { budget } = contents;
  const workspace = openGitWorkspace({
    checkout,
    shadowDir,
    base,
    sandboxGitDir,
    tree,
    snapshot,
    planted,
    beside: nestedFolders(parts, { foreign, openedNs, shadowDir }),
    warnings,
    budget,
    keepsBase,
    writeLog: parts.writeLog,
  });
  noted?.handOver((path, recorded) => {
    keepBeginning(shadowDir);
    snapshot.takeOver(path, recorded);
  });
  return workspace;
}

const NOTHING: ReadonlyMap<string, FileState | null> = new Map();

/**
 * The repositories found that exist and whose files do not belong to this one; if the index has files in one, those are
 * treated as any others.
 */
export function foreignIn({ nested, uncovered }: Coverage, { tree: { tracked } }: SnapshotParts): string[] {
  const folders = nested.flatMap(({ path, dotGit }) => (dotGit === 'itself' ? [] : [path]));
  return [...folders, ...uncovered].filter((path) => path !== '.' && !tracked.isFolder(path));
}

/** Folders in which to look for changes of theirs. */
export function nestedFolders(
  { tree: { root, closed, tracked, folders } }: SnapshotParts,
  { foreign, openedNs, shadowDir }: { foreign: readonly string[]; openedNs: bigint; shadowDir: string },
): NestedFolders {
  return { root, closed, limit: folders, there: foreign, absent: tracked.submodules, openedNs, shadowDir };
}

/** The repositories found by the first walk and those known to git itself. */
export function nestedIn(
  checkout: Checkout,
  { tree: { root, tracked }, planted, contents: { warn } }: SnapshotParts,
): Coverage {
  const found = planted.known.flatMap(({ path }) =>
    path.endsWith('/.git') ? [path.slice(0, -'/.git'.length)] : [],
  );
  return coverable(root, [...tracked.submodules, ...linkedWorktrees(checkout), ...found], warn);
}

/** The work that need not wait for a scan of the files. */
interface KnownTrees {
  /** Null without a commit. */
  readonly head: Promise<Buffer> | null;
  /** Null if git cannot write a tree from the index, as in the middle of a merge. */
  readonly index: Promise<string | null>;
}

function knownTrees({ head: { commit }, objectFormat }: Checkout, shadowDir: string): KnownTrees {
  const args = [`--git-dir=${shadowDir}`, 'rev-parse', '--verify', `${commit}^{tree}`];
  const head = commit === null ? null : runGit({ cwd: shadowDir, args });
  const scratch = new ScratchIndex(shadowDir, BASE_INDEX);
  scratch.copy(BASELINE_INDEX, objectFormat);
  const index = scratch.editedTree([]).catch(() => null);
  // Its failure counts when it is awaited.
  head?.catch(() => undefined);
  return { head, index };
}

async function baseRevision(
  checkout: Checkout,
  shadowDir: string,
  { snapshot, known }: { snapshot: Snapshot; known: KnownTrees },
): Promise<BaseRevision> {
  const { objectFormat } = checkout;
  const [head, index] = await Promise.all([known.head, known.index]);
  const differences = snapshot.known.differences();
  const edited =
    index === null ? null : await editedTree({ gitDir: shadowDir, tree: index, objectFormat }, differences);
  const tree = edited?.id ?? (await treeOfIndex(shadowDir, differences, objectFormat));
  const dirty = head === null ? !snapshot.known.isEmpty : head.toString('latin1').trim() !== tree;
  return { ...baseCommit(checkout), tree, dirty };
}

function treeOfIndex(
  shadowDir: string,
  differences: readonly TreeEdit[],
  objectFormat: ObjectFormat,
): Promise<string> {
  const scratch = new ScratchIndex(shadowDir, BASE_INDEX);
  scratch.copy(BASELINE_INDEX, objectFormat);
  return scratch.editedTree(differences);
}

function baseCommit({ head: { commit, branchRef }, objectFormat }: Checkout): BaseCommit {
  const branch = branchRef === null ? null : branchRef.replace(/^refs\/heads\//, '');
  return { commit, branch, objectFormat };
}
