/** From a checkout to the workspace of a run: the shadow repository, the throwaway git dir and the baseline. */

import { mkdirSync } from 'node:fs';
import type { PathGuard } from '../../domain/changes/path-policy.ts';
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
import { copyGitDir, describeSandboxGitDir, hideSubmodules } from './sandbox-git-dir.ts';
import { shadowRepository, type WorkTreeParts, workTreeParts } from './tree/parts.ts';
import { copyIndex, START_INDEX } from './tree/start-index.ts';
import { WorkTree } from './tree/work-tree.ts';
import { copyLinkedOut, findLinked } from './unwalked/hard-links.ts';
import { keepRunStart } from './unwalked/run-start.ts';

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

/** Looks at the checkout and leaves it as it is. What goes wrong is reported when the baseline is taken. */
export function beginWorkspace(checkout: Checkout, places: WorkspacePlaces): BegunWorkspace<Workspace> {
  let permit = () => {};
  const permitted = new Promise<void>((resolve) => {
    permit = resolve;
  });
  const begun = beginWith(
    checkout,
    places,
    () => {
      permit();
      return opening;
    },
    (workspace) => workspace,
  );
  const opening = openWorkspace(checkout, places, permitted);
  opening.catch(() => undefined);
  return begun;
}

/** The sandbox learns of nested repositories when the workspace has been taken. */
export function beginWith<T>(
  checkout: Checkout,
  { sandboxGitDir }: Pick<WorkspacePlaces, 'sandboxGitDir'>,
  taking: () => Promise<T>,
  workspaceOf: (taken: T) => Workspace | null,
): BegunWorkspace<T> {
  mkdirSync(sandboxGitDir, { recursive: true, mode: 0o700 });
  const nested: NestedRepository[] = [];
  return {
    sandboxGitDir: { ...describeSandboxGitDir(checkout, sandboxGitDir), nested },
    async take() {
      const taken = await taking();
      nested.push(...(workspaceOf(taken)?.sandboxGitDir.nested ?? []));
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
  const linked = findLinked(root);
  // Its failure counts when it is awaited.
  linked.catch(() => undefined);
  const settings = await readUserSettings(root, places.env);
  makeRepository(shadowRepository(checkout, shadowDir));
  copyIndex(checkout.gitDir, shadowDir, START_INDEX);
  const warnings = new Set<Warning>();
  const madeGit = copyGitDir(checkout, places.sandboxGitDir, coreSettings(settings));
  // Its failure counts when it is awaited.
  madeGit.catch(() => undefined);
  const parts = await workTreeParts({
    ...{ checkout, shadowDir, settings, warnings, limits },
    guard: places.guard,
  });
  if ((await linked).length > 0) await permitted;
  for (const one of await copyLinkedOut({ root, maxBytes: limits.maxDiskBytes }, await linked))
    warnings.add(one);
  const { tree, edits, found, openedNs } = await WorkTree.take(parts);
  const [made, base] = await Promise.all([
    madeGit,
    baseRevision(checkout, shadowDir, edits),
    keepFiles({ root, shadowDir, format: checkout.objectFormat }, parts.hidden.atStart.ignored),
  ]);
  await hideSubmodules(made.gitDir, tree.seen.submodules);
  const { nested, uncovered, foreign } = repositoriesOf(checkout, { parts, tree });
  keepRunStart(shadowDir, {
    ...{ root, openedNs, nested, foreign, ...parts.hidden.atStart },
    gitDirs: [...parts.planted.known],
    emptyFolders: found.empty,
    closedToOthers: found.closedToOthers,
    converted: parts.mayConvert()
      ? [...edits].flatMap(([path, state]) => (state ? [[path, state]] : []))
      : [],
  });
  return openGitWorkspace({
    ...{ checkout, shadowDir, base, parts, tree, warnings, keepsBase },
    sandboxGitDir: { ...made, nested: nestedUnderPolicy({ nested, foreign }, isReadOnly), uncovered },
    beside: { there: foreign, absent: tree.seen.submodules, openedNs },
  });
}

interface Seen {
  readonly parts: WorkTreeParts;
  readonly tree: WorkTree;
}

/**
 * The repositories in the work tree that the first look found, and the submodules of the index. `foreign` are the folders of
 * those that exist and whose files do not belong to this repository.
 */
export function repositoriesOf(
  checkout: Checkout,
  { parts, tree }: Seen,
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
