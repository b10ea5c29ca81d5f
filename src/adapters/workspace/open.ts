/** From a checkout to the workspace of a run: the shadow repository, the throwaway git dir and the baseline. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ChangeLimits, DEFAULT_CHANGE_LIMITS } from '../../domain/run/change-limits.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { runGit } from '../../git/git.ts';
import { type Coverage, coverable, linkedWorktrees, underPolicy } from '../../git/nested-git.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { BASE_INDEX, ScratchIndex } from '../../git/store/trees.ts';
import { readUserSettings, type UserEnvironment } from '../../git/user-settings.ts';
import type { NestedRepository, SandboxGitDir, Workspace } from '../../ports.ts';
import { BASELINE_INDEX, readBaselineIndex } from './baseline/baseline-index.ts';
import { BaselineRules } from './baseline/baseline-rules.ts';
import { takeRuleFilesOfIndex } from './baseline/rule-files.ts';
import { MANY_FILES } from './baseline/stat-unchanged.ts';
import { openGitWorkspace } from './git-workspace.ts';
import { shadowRepository, snapshotParts } from './parts.ts';
import { describeSandboxGitDir, hideSubmodules, makeSandboxGitDir } from './sandbox-git-dir.ts';
import { Snapshot, type SnapshotParts } from './snapshot/snapshot.ts';
import { keepRepositories } from './unwalked/kept-repositories.ts';
import type { NestedFolders } from './unwalked/nested-changes.ts';

/** Where the workspace keeps its own things: folders outside the work tree that do not exist yet. */
export interface WorkspacePlaces {
  readonly shadowDir: string;
  readonly agentGitDir: string;
  /** Names the user's git configuration. */
  readonly env: UserEnvironment;
  /** Number of files from which git is asked for their stats; 2,000 when left out. */
  readonly manyFiles?: number;
  /** What the run may change; the defaults when left out. */
  readonly limits?: ChangeLimits;
  /** Whether commands may change nothing in a repository in this folder; left out, they may. */
  readonly isReadOnly?: (folder: string) => boolean;
}

/** A workspace whose baseline is still to be taken; a sandbox for its commands can be made meanwhile. */
export interface BegunWorkspace {
  readonly agentGit: SandboxGitDir;
  /** As `openWorkspace`. To be called once. */
  takeBaseline(): Promise<Workspace>;
}

/** Takes as long for a large tree as for a small one. */
export function beginWorkspace(checkout: Checkout, places: WorkspacePlaces): BegunWorkspace {
  mkdirSync(places.agentGitDir, { recursive: true, mode: 0o700 });
  const nested: NestedRepository[] = [];
  return {
    agentGit: { ...describeSandboxGitDir(checkout, places.agentGitDir), nested },
    async takeBaseline() {
      const workspace = await openWorkspace(checkout, places);
      nested.push(...workspace.agentGit.nested);
      return workspace;
    },
  };
}

/** Takes the checkout as it is now as the baseline. Nothing of the user's is written to, and nothing of it is run. */
export async function openWorkspace(checkout: Checkout, places: WorkspacePlaces): Promise<Workspace> {
  const { root } = checkout;
  const {
    shadowDir,
    limits = DEFAULT_CHANGE_LIMITS,
    manyFiles = MANY_FILES,
    isReadOnly = () => false,
  } = places;
  const settings = await readUserSettings(root, places.env);
  makeRepository(shadowRepository(checkout, shadowDir));
  const [madeGit, index] = await Promise.all([
    makeSandboxGitDir(checkout, places.agentGitDir, settings),
    readBaselineIndex(checkout.gitDir, shadowDir, checkout.objectFormat),
  ]);
  const rules = new BaselineRules(join(shadowDir, 'rules'), join(checkout.commonDir, 'info'), settings);
  await takeRuleFilesOfIndex(root, index, shadowDir, rules);

  const warnings = new Set<string>();
  const parts = snapshotParts({
    checkout,
    shadowDir,
    index,
    rules,
    settings,
    warnings,
    manyFiles,
    limits,
  });
  const snapshot = await Snapshot.take(parts);
  const { submodules } = parts.tree.tracked;
  if (submodules.length > 0) await hideSubmodules(madeGit.gitDir, submodules);
  const { nested, uncovered } = nestedIn(checkout, parts);
  const foreign = foreignIn({ nested, uncovered }, parts);
  const openedNs = snapshot.instant().clockNs;
  const gitDirs = [...parts.planted.known];
  keepRepositories(shadowDir, { root, nested, gitDirs, foreign, openedNs: String(openedNs) });
  const isKept = (folder: string) => foreign.includes(folder) && isReadOnly(folder);
  const agentGit = { ...madeGit, nested: underPolicy(nested, isKept), uncovered };
  const base = await baseRevision(checkout, shadowDir, snapshot);
  const { tree, planted, contents } = parts;
  const { budget } = contents;
  return openGitWorkspace({
    checkout,
    shadowDir,
    base,
    agentGit,
    tree,
    snapshot,
    planted,
    beside: nestedFolders(parts, { foreign, openedNs, shadowDir }),
    warnings,
    budget,
  });
}

/**
 * Of the repositories that were found, those that are there and whose files are no files of this one; the index has files in
 * some, and those count as any others.
 */
export function foreignIn({ nested, uncovered }: Coverage, { tree: { tracked } }: SnapshotParts): string[] {
  const folders = nested.flatMap(({ path, dotGit }) => (dotGit === 'itself' ? [] : [path]));
  return [...folders, ...uncovered].filter((path) => path !== '.' && !tracked.isFolder(path));
}

/** Where to look for changes in them. */
export function nestedFolders(
  { tree: { root, closed, tracked, folders } }: SnapshotParts,
  { foreign, openedNs, shadowDir }: { foreign: readonly string[]; openedNs: bigint; shadowDir: string },
): NestedFolders {
  return { root, closed, limit: folders, there: foreign, absent: tracked.submodules, openedNs, shadowDir };
}

/** The repositories that the first look has found, and those that git itself knows of. */
export function nestedIn(
  checkout: Checkout,
  { tree: { root, tracked }, planted, contents: { warn } }: SnapshotParts,
): Coverage {
  const found = planted.known.flatMap(({ path }) =>
    path.endsWith('/.git') ? [path.slice(0, -'/.git'.length)] : [],
  );
  return coverable(root, [...tracked.submodules, ...linkedWorktrees(checkout), ...found], warn);
}

async function baseRevision(
  checkout: Checkout,
  shadowDir: string,
  snapshot: Snapshot,
): Promise<BaseRevision> {
  const { objectFormat } = checkout;
  const { commit, branchRef } = checkout.head;
  const headTree =
    commit === null
      ? null
      : runGit({
          cwd: shadowDir,
          args: [`--git-dir=${shadowDir}`, 'rev-parse', '--verify', `${commit}^{tree}`],
        });
  const scratch = new ScratchIndex(shadowDir, BASE_INDEX);
  scratch.copy(BASELINE_INDEX, objectFormat);
  const writeTree = async () => {
    await scratch.edit(snapshot.known.differences());
    return scratch.writeTree();
  };
  const [head, tree] = await Promise.all([headTree, writeTree()]);
  return {
    commit,
    tree,
    branch: branchRef === null ? null : branchRef.replace(/^refs\/heads\//, ''),
    dirty: head === null ? !snapshot.known.isEmpty : head.toString('latin1').trim() !== tree,
    objectFormat,
  };
}
