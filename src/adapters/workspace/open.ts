/** From a checkout to the workspace of a run: the shadow repository, the throwaway git dir and the baseline. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PathGuard } from '../../domain/changes/path-policy.ts';
import { type ChangeLimits, DEFAULT_CHANGE_LIMITS } from '../../domain/run/change-limits.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { readUserSettings, type UserEnvironment } from '../../git/user-settings.ts';
import type { NestedRepository, SandboxGitDir, Workspace } from '../../ports/workspace.ts';
import { BaselineRules } from './baseline/baseline-rules.ts';
import { readBaselineIndex } from './baseline/index/baseline-index.ts';
import { takeRuleFilesOfIndex } from './baseline/rule-files.ts';
import { MANY_FILES } from './baseline/stat-unchanged.ts';
import { openGitWorkspace } from './git-workspace.ts';
import { baseRevision, knownTrees } from './kept/base-revision.ts';
import { shadowRepository, snapshotParts } from './parts.ts';
import { describeSandboxGitDir, hideSubmodules, makeSandboxGitDir } from './sandbox-git-dir.ts';
import { Snapshot, type SnapshotParts } from './snapshot/snapshot.ts';
import { copyLinkedOut } from './unwalked/hard-links.ts';
import { keepRepositories } from './unwalked/kept-repositories.ts';
import { nestedFolders, nestedUnderPolicy, startRepositories } from './unwalked/start-repositories.ts';

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
  /** Whether the whole base is stored with the run. Default: only what the repository does not have. */
  readonly keepsBase?: boolean;
}

/** A workspace whose baseline is yet to be taken; a sandbox for its commands can be opened in the meantime. */
export interface BegunWorkspace {
  readonly sandboxGitDir: SandboxGitDir;
  /** As `openWorkspace`. Call once. */
  takeBaseline(): Promise<Workspace>;
}

/** Takes no longer for a large tree than for a small one. */
export function beginWorkspace(checkout: Checkout, places: WorkspacePlaces): BegunWorkspace {
  mkdirSync(places.sandboxGitDir, { recursive: true, mode: 0o700 });
  const nested: NestedRepository[] = [];
  const sandboxGitDir = { ...describeSandboxGitDir(checkout, places.sandboxGitDir), nested };
  return {
    sandboxGitDir,
    async takeBaseline() {
      const workspace = await openWorkspace(checkout, places);
      nested.push(...workspace.sandboxGitDir.nested);
      return workspace;
    },
  };
}

/** What was read before the work tree is scanned. */
interface Prepared {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly parts: SnapshotParts;
  readonly madeGit: SandboxGitDir;
  readonly warnings: Set<Warning>;
  readonly limits: ChangeLimits;
  readonly isReadOnly: (folder: string) => boolean;
  readonly keepsBase: boolean;
}

/**
 * Takes the current checkout as the baseline, and runs nothing from it. Of the user's files, it only replaces hard links out of
 * the work tree by copies.
 */
export async function openWorkspace(checkout: Checkout, places: WorkspacePlaces): Promise<Workspace> {
  return takeWhole(await prepare(checkout, places));
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
  return { checkout, shadowDir, parts, madeGit, warnings, limits, isReadOnly, keepsBase };
}

async function takeWhole({
  checkout,
  shadowDir,
  parts,
  madeGit,
  warnings,
  limits,
  isReadOnly,
  keepsBase,
}: Prepared): Promise<Workspace> {
  const { root } = checkout;
  const known = knownTrees(checkout, shadowDir);
  const { maxDiskBytes: maxBytes } = limits;
  for (const one of await copyLinkedOut({ root, closed: parts.tree.closed, maxBytes })) warnings.add(one);
  const snapshot = await Snapshot.take(parts);
  const { submodules } = parts.tree.tracked;
  if (submodules.length > 0) await hideSubmodules(madeGit.gitDir, submodules);
  const { nested, uncovered, foreign } = startRepositories(checkout, parts);
  const openedNs = snapshot.now();
  const gitDirs = [...parts.planted.known];
  keepRepositories(shadowDir, { root, nested, gitDirs, foreign, openedNs: String(openedNs) });
  const sandboxGitDir = {
    ...madeGit,
    nested: nestedUnderPolicy({ nested, foreign }, isReadOnly),
    uncovered,
  };
  const base = await baseRevision(checkout, shadowDir, { snapshot, known });
  const { tree, planted, contents } = parts;
  const { budget } = contents;
  return openGitWorkspace({
    checkout,
    shadowDir,
    base,
    sandboxGitDir,
    tree,
    snapshot,
    planted,
    beside: nestedFolders(parts, { foreign, openedNs }),
    warnings,
    budget,
    keepsBase,
  });
}
