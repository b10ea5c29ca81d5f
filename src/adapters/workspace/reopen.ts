/** Reopens the workspace of a run that was killed, over the shadow repository it left. */

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState, PathChange } from '../../domain/changes/change.ts';
import { sameState } from '../../domain/changes/change.ts';
import { deletionsFirst } from '../../domain/changes/deletions-first.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { DEFAULT_CHANGE_LIMITS } from '../../domain/run/change-limits.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { underPolicy } from '../../git/nested-git.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { listTree } from '../../git/store/tree-listing.ts';
import { BASE_INDEX } from '../../git/store/trees.ts';
import { readUserSettings, type UserSettings } from '../../git/user-settings.ts';
import type { NestedRepository, SandboxGitDir, WholeWorkspace } from '../../ports/workspace.ts';
import { BaselineRules } from './baseline/baseline-rules.ts';
import { readKeptIndex } from './baseline/index/baseline-index.ts';
import { MANY_FILES } from './baseline/stat-unchanged.ts';
import { openGitWorkspace } from './git-workspace.ts';
import { beginWorkspace, foreignIn, nestedFolders, nestedIn, type WorkspacePlaces } from './open.ts';
import { shadowRepository, snapshotParts } from './parts.ts';
import { keptSandboxGitDir } from './reset-sandbox-git-dir.ts';
import { isTemporary, removeLeftovers } from './restore/leftovers.ts';
import { openRestorer, type RestorePlaces } from './restore/restore.ts';
import { describeSandboxGitDir, hideSubmodules, makeSandboxGitDir } from './sandbox-git-dir.ts';
import { Snapshot, type SnapshotParts } from './snapshot/snapshot.ts';
import { type Kept, keepRepositories, keptRepositories } from './unwalked/kept-repositories.ts';
import { plantedGitDirs } from './unwalked/planted-git.ts';
import { removeGitDir } from './unwalked/remove-git-dir.ts';

/** What the journal says about the work tree. */
export interface KeptState {
  readonly base: BaseRevision;
  /** Paths that changed since the base, with their last known state; null means absent. */
  readonly states: ReadonlyMap<string, FileState | null>;
  /** Files that calls were asked to write, whether they did or not. */
  readonly written: readonly string[];
  /** The commit that a fresh checkout has where the base is the tree of none: the head that a base was merged into. */
  readonly checkedOut?: string;
  /** What to do with git dirs that commands may have created; null if no command was in progress. */
  readonly mayHavePlanted: 'remove' | 'leave' | null;
}

/** The workspace of a killed run, and the differences found in the work tree. */
export interface ReopenedWorkspace {
  readonly status: 'ok';
  readonly workspace: WholeWorkspace;
  /** How the work tree differs from its last known state. */
  readonly found: readonly PathChange[];
  /** Git dirs that did not exist when the run began; only searched for if commands were in progress. */
  readonly planted: readonly string[];
  /** Those of the found paths that equal the base, or what a fresh checkout has in its place. */
  readonly asInBase: ReadonlySet<string>;
}

/** The reopened workspace of an earlier run, or why it cannot be reopened. */
export type Reopening = ReopenedWorkspace | Failed;

/** A workspace that has not been reopened yet; a sandbox for its commands can be opened in the meantime. */
export interface BegunReopening {
  readonly sandboxGitDir: SandboxGitDir;
  /** As `reopenWorkspace`. Call once. */
  take(): Promise<Reopening>;
}

/** Changes nothing in the checkout. */
export function beginReopening(checkout: Checkout, places: WorkspacePlaces, kept: KeptState): BegunReopening {
  mkdirSync(places.sandboxGitDir, { recursive: true, mode: 0o700 });
  const nested: NestedRepository[] = [];
  return {
    sandboxGitDir: { ...describeSandboxGitDir(checkout, places.sandboxGitDir), nested },
    async take() {
      const reopened = await reopenWorkspace(checkout, places, kept);
      if (reopened.status === 'ok') nested.push(...reopened.workspace.sandboxGitDir.nested);
      return reopened;
    },
  };
}

/** What the journal says of files that were written before the baseline had been taken. */
export interface NotedState {
  /** By path, what counts as there when the run began. */
  readonly noted: ReadonlyMap<string, FileState | null>;
  /** Paths that have been recorded as changed, with their last known state. */
  readonly states: ReadonlyMap<string, FileState | null>;
}

/** For a run that was ended before its baseline had been taken: it is taken now, of all but the files that the run has noted. */
export function beginAnew(
  checkout: Checkout,
  places: WorkspacePlaces,
  { noted, states }: NotedState,
): BegunReopening {
  const { shadowDir } = places;
  // What was stored of noted files is nowhere else.
  for (const name of existsSync(shadowDir) ? readdirSync(shadowDir) : [])
    if (name !== 'objects') rmSync(join(shadowDir, name), { recursive: true, force: true });
  rmSync(places.sandboxGitDir, { recursive: true, force: true });
  const begun = beginWorkspace(checkout, places);
  const paths = [...noted.keys()];
  return {
    sandboxGitDir: begun.sandboxGitDir,
    async take() {
      await removeLeftovers(checkout.root, paths);
      const workspace = await begun.takeBaseline({
        close: () => noted,
        handOver(take) {
          for (const [path, before] of noted) {
            const state = states.get(path);
            const sizes = state ? [state.size] : [];
            take(path, { state: state === undefined ? before : state, sizes, inodes: [] });
          }
        },
      });
      const found = await workspace.capture(paths);
      const isBefore = ({ path, after }: PathChange) => sameState(noted.get(path) ?? null, after);
      const asInBase = new Set(found.filter(isBefore).map(({ path }) => path));
      return { status: 'ok', workspace, found, planted: [], asInBase };
    },
  };
}

/** The checkout may be another one than the run began in; tracked paths stay those of the start. */
export async function reopenWorkspace(
  checkout: Checkout,
  places: WorkspacePlaces,
  { base, states, written, checkedOut, mayHavePlanted }: KeptState,
): Promise<Reopening> {
  const {
    shadowDir,
    limits = DEFAULT_CHANGE_LIMITS,
    manyFiles = MANY_FILES,
    isReadOnly = () => false,
    keepsBase = false,
  } = places;
  if (!existsSync(join(shadowDir, 'rules')))
    return failed(`The shadow repository ${shadowDir} is gone, and the run's changes with it.`);
  if (checkout.objectFormat !== base.objectFormat)
    return failed(
      `The checkout ${checkout.root} has ${checkout.objectFormat} ids, the run has ${base.objectFormat} ids.`,
    );
  const settings = await readUserSettings(checkout.root, places.env);
  // Created again, since the checkout's objects may be somewhere else now.
  makeRepository(shadowRepository(checkout, shadowDir));
  for (const name of readdirSync(shadowDir)) if (name.endsWith('.lock')) rmSync(join(shadowDir, name));
  // The process may have been killed while writing it.
  rmSync(join(shadowDir, BASE_INDEX), { force: true });
  const [index, listed] = await Promise.all([
    readKeptIndex(shadowDir, checkout.objectFormat),
    listTree(shadowDir, base.tree),
  ]);
  if (listed === null)
    return failed(`The base of the run, tree ${base.tree}, is in neither ${shadowDir} nor ${checkout.root}.`);
  const repositories = keptRepositories(shadowDir, checkout.root);
  if (repositories.status === 'failed') return repositories;
  const { planted, kept, inDoubt } = mayHavePlanted
    ? await plantedGitDirs(checkout.root, shadowDir)
    : { planted: [], kept: [], inDoubt: [] };
  if (mayHavePlanted === 'remove') for (const path of planted) await removeGitDir(checkout.root, path);
  await removeLeftovers(checkout.root, written);

  const rules = new BaselineRules(join(shadowDir, 'rules'), null, settings);
  const warnings = new Set(kept);
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
  const { snapshot, found: all } = await Snapshot.reopen(parts, { base: listed, states });
  const found = await withoutLeftovers(checkout.root, snapshot, all);
  const { tree, planted: watch } = parts;
  if (mayHavePlanted === 'remove') watch.tellRemoved(planted);
  watch.tellInDoubt(inDoubt);
  const keptGit =
    (await keptSandboxGitDir(checkout, places.sandboxGitDir, settings)) ??
    (await newSandboxGitDir(checkout, places.sandboxGitDir, {
      settings,
      submodules: tree.tracked.submodules,
    }));
  // The repositories of the start: what a command has done to them since must not decide what the next one can reach.
  if (repositories.status === 'ok') watch.recall(repositories.gitDirs);
  const { nested, foreign, openedNs } =
    repositories.status === 'ok' ? repositories : foundAnew(checkout, parts, snapshot.instant().clockNs);
  // A git dir that was left in place must not count as the user's next time.
  if (mayHavePlanted !== 'leave')
    keepRepositories(shadowDir, {
      root: checkout.root,
      nested,
      gitDirs: [...watch.known],
      foreign,
      openedNs,
    });
  const isKept = (folder: string) => foreign.includes(folder) && isReadOnly(folder);
  const sandboxGitDir = { ...keptGit, nested: underPolicy(nested, isKept) };
  const workspace = openGitWorkspace({
    checkout,
    shadowDir,
    base,
    sandboxGitDir,
    tree,
    snapshot,
    planted: watch,
    beside: nestedFolders(parts, { foreign, openedNs: BigInt(openedNs), shadowDir }),
    warnings,
    budget: parts.contents.budget,
    keepsBase,
    writeLog: parts.writeLog,
  });
  const fresh = checkedOut === undefined ? null : await listTree(shadowDir, checkedOut);
  const asInBase = found.filter(({ path, after }) =>
    [listed, fresh].some((tree) => tree !== null && sameState(tree.get(path) ?? null, after)),
  );
  return { status: 'ok', workspace, found, planted, asInBase: new Set(asInBase.map(({ path }) => path)) };
}

/** In a checkout other than the one the run began in, the repositories are those that exist now. */
function foundAnew(
  checkout: Checkout,
  parts: SnapshotParts,
  nowNs: bigint,
): Pick<Kept, 'nested' | 'foreign' | 'openedNs'> {
  const coverage = nestedIn(checkout, parts);
  return { nested: coverage.nested, foreign: foreignIn(coverage, parts), openedNs: String(nowNs) };
}

/** An interrupted restore has left its temporary file in a folder that was not known beforehand. */
async function withoutLeftovers(
  root: string,
  snapshot: Snapshot,
  found: readonly PathChange[],
): Promise<PathChange[]> {
  const isLeft = ({ path, before }: PathChange) => before === null && isTemporary(path);
  const left = found.filter(isLeft).map(({ path }) => path);
  if (left.length > 0) {
    await removeLeftovers(root, left);
    await snapshot.capture(left);
  }
  return found.filter((change) => !isLeft(change));
}

async function newSandboxGitDir(
  checkout: Checkout,
  gitDir: string,
  { settings, submodules }: { settings: UserSettings; submodules: readonly string[] },
): Promise<SandboxGitDir> {
  rmSync(gitDir, { recursive: true, force: true });
  const sandboxGitDir = await makeSandboxGitDir(checkout, gitDir, settings);
  if (submodules.length > 0) await hideSubmodules(gitDir, submodules);
  return sandboxGitDir;
}

/** Restores paths of the work tree to their state before these changes. Null on success, otherwise the reason. */
export async function revertChanges(
  places: RestorePlaces,
  changes: readonly PathChange[],
): Promise<string | null> {
  const restorer = await openRestorer(places);
  for (const { path, before } of deletionsFirst(changes, (change) => change.before)) {
    const failure = await restorer.put(path, before);
    if (failure !== null) return failure;
  }
  return null;
}
