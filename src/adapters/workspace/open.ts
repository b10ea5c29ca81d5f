/** From a checkout to the workspace of a run: the shadow repository, the throwaway git dir and the baseline. */

import { mkdirSync } from 'node:fs';
import type { PathGuard } from '../../domain/changes/path-policy.ts';
import type { Failed } from '../../domain/failed.ts';
import { type ChangeLimits, DEFAULT_CHANGE_LIMITS } from '../../domain/run/limits.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { coverable } from '../../git/nested-git.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { coreSettings, readUserSettings, type UserEnvironment } from '../../git/user-settings.ts';
import type { NestedRepository, SandboxGitDir, Workspace } from '../../ports/workspace.ts';
import { openGitWorkspace } from './git-workspace.ts';
import { keepFiles } from './kept/kept-files.ts';
import { baseRevision } from './kept/uncommitted.ts';
import { keepRunStart } from './run-start.ts';
import { copyGitDir, describeSandboxGitDir, hideSubmodules } from './sandbox-git-dir.ts';
import { shadowRepository, type WorkTreeParts, workTreeParts } from './tree/parts.ts';
import { copyIndex, START_INDEX } from './tree/start-index.ts';
import { WorkTree } from './tree/work-tree.ts';
import { copyLinkedOut } from './unwalked/hard-links.ts';

/** Where the workspace stores its own data: folders outside the work tree that do not exist yet. */
export interface WorkspacePlaces {
  readonly shadowDir: string;
  readonly sandboxGitDir: string;
  /** Locates the user's git configuration. */
  readonly env: UserEnvironment;
  /** What the run may change. Default: the default limits. */
  readonly limits?: ChangeLimits;
  /** Whether commands may not change anything in a repository in this folder. Default: they may. */
  readonly isReadOnly?: (folder: string) => boolean;
  /** What rules that the run writes may not hide. Default: they may hide everything. */
  readonly guard?: PathGuard | undefined;
  /** Whether the whole base is stored with the run. Default: only what the repository does not have. */
  readonly keepsBase?: boolean;
}

/** A workspace that is not there yet; a sandbox for its commands can be opened in the meantime. */
export interface BegunWorkspace<T> {
  readonly sandboxGitDir: SandboxGitDir;
  /** Writes to the checkout only from now on. Call once. */
  take(): Promise<T>;
}

/** What becomes of it. */
export interface TakenWorkspace {
  readonly status: 'ok';
  readonly workspace: Workspace;
}

/** Looks at the checkout and leaves it as it is. What goes wrong is reported when the baseline is taken. */
export function beginWorkspace(checkout: Checkout, places: WorkspacePlaces): BegunWorkspace<TakenWorkspace> {
  let permit = () => {};
  const permitted = new Promise<void>((resolve) => {
    permit = resolve;
  });
  const begun = beginWith(checkout, places, () => {
    permit();
    return opening;
  });
  const opening = openWorkspace(checkout, places, permitted).then((workspace) => ({
    status: 'ok' as const,
    workspace,
  }));
  opening.catch(() => undefined);
  return begun;
}

/** The sandbox learns of nested repositories when the workspace has been taken. */
export function beginWith<T extends TakenWorkspace | Failed>(
  checkout: Checkout,
  { sandboxGitDir }: Pick<WorkspacePlaces, 'sandboxGitDir'>,
  taking: () => Promise<T>,
): BegunWorkspace<T> {
  mkdirSync(sandboxGitDir, { recursive: true, mode: 0o700 });
  const nested: NestedRepository[] = [];
  return {
    sandboxGitDir: { ...describeSandboxGitDir(checkout, sandboxGitDir), nested },
    async take() {
      const taken = await taking();
      if (taken.status === 'ok') nested.push(...taken.workspace.sandboxGitDir.nested);
      return taken;
    },
  };
}

/**
 * Takes the current checkout as the baseline, and runs nothing from it. Of the user's files, it only replaces hard links out of
 * the work tree by copies, and not before that is permitted.
 */
export async function openWorkspace(
  checkout: Checkout,
  places: WorkspacePlaces,
  permitted?: Promise<void>,
): Promise<Workspace> {
  const { root } = checkout;
  const { shadowDir, limits = DEFAULT_CHANGE_LIMITS, isReadOnly = () => false, keepsBase = false } = places;
  const copied = copyLinkedOut({ root, maxBytes: limits.maxDiskBytes }, permitted);
  // Its failure counts when it is awaited.
  copied.catch(() => undefined);
  const settings = await readUserSettings(root, places.env);
  makeRepository(shadowRepository(checkout, shadowDir));
  copyIndex(checkout.gitDir, shadowDir, START_INDEX);
  const warnings = new Set<Warning>();
  const madeGit = copyGitDir(checkout, places.sandboxGitDir, coreSettings(settings));
  // Its failure counts when it is awaited.
  madeGit.catch(() => undefined);
  const parts = await workTreeParts(checkout, places, { settings, warnings });
  for (const one of await copied) warnings.add(one);
  const { tree, edits, found, openedNs } = await WorkTree.take(parts);
  const [base] = await Promise.all([
    baseRevision(checkout, shadowDir, edits),
    madeGit,
    keepFiles({ root, shadowDir, format: checkout.objectFormat }, parts.hidden.atStart.ignored),
  ]);
  await hideSubmodules(places.sandboxGitDir, tree.seen.submodules);
  const { nested, uncovered, foreign } = repositoriesOf(checkout, { parts, tree });
  keepRunStart(shadowDir, {
    ...{ root, openedNs, nested, foreign, ...parts.hidden.atStart },
    gitDirs: [...parts.planted.known],
    emptyFolders: found.empty,
    closedToOthers: found.closedToOthers,
    sparse: [...parts.index.entries(/^S/)].map(({ path }) => path),
    converted: parts.mayConvert()
      ? [...edits].flatMap(([path, state]) => (state ? [[path, state]] : []))
      : [],
  });
  return openGitWorkspace({
    ...{ base, parts, tree, foreign, openedNs, warnings, keepsBase },
    sandboxGitDir: {
      ...describeSandboxGitDir(checkout, places.sandboxGitDir),
      nested: nestedUnderPolicy({ nested, foreign }, isReadOnly),
      uncovered,
    },
  });
}

/**
 * The repositories in the work tree that the first look found, and the submodules of the index. `foreign` are the folders of
 * those that exist and whose files do not belong to this repository.
 */
export function repositoriesOf(
  checkout: Checkout,
  { parts, tree }: { readonly parts: WorkTreeParts; readonly tree: WorkTree },
): { nested: NestedRepository[]; uncovered: string[]; foreign: string[] } {
  const found = parts.planted.known.flatMap(({ path }) =>
    path.endsWith('/.git') ? [path.slice(0, -'/.git'.length)] : [],
  );
  const known = [...tree.seen.submodules, ...found];
  const { nested, uncovered } = coverable(checkout.root, known, parts.warn);
  const folders = nested.flatMap(({ path, dotGit }) => (dotGit === 'itself' ? [] : [path]));
  // If the index has files in one, those are treated as any others.
  const foreign = [...folders, ...uncovered].filter((path) => path !== '.' && !tree.seen.hasBelow(path));
  return { nested, uncovered, foreign };
}

/** How commands see them; `isReadOnly` says where they may not change anything. */
export function nestedUnderPolicy(
  { nested, foreign }: { nested: readonly NestedRepository[]; foreign: readonly string[] },
  isReadOnly: (folder: string) => boolean,
): NestedRepository[] {
  const isFixed = (folder: string) => foreign.includes(folder) && isReadOnly(folder);
  return nested.map((one) => (isFixed(one.path) ? { ...one, readOnly: true } : one));
}
