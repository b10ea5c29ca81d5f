/** Reopens the workspace of a run that was killed, over the shadow repository it left. */

import { existsSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState, PathChange } from '../../domain/changes/change.ts';
import { nameOf, parseRepoPath } from '../../domain/changes/path.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { DEFAULT_CHANGE_LIMITS } from '../../domain/run/limits.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import { below, inParent, through } from '../../files/nofollow.ts';
import { TEMPORARY_NAME } from '../../files/nofollow-files.ts';
import { fileSystemTime } from '../../files/stat.ts';
import { Breath } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { type ListedPath, treeEntries } from '../../git/store/trees.ts';
import { coreSettings, readUserSettings, type UserSettings } from '../../git/user-settings.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { openGitWorkspace } from './git-workspace.ts';
import { doubtFiles, keepFiles } from './kept/kept-files.ts';
import {
  type BegunWorkspace,
  beginWith,
  nestedUnderPolicy,
  repositoriesOf,
  type WorkspacePlaces,
} from './open.ts';
import { keepRunStart, type RunStart, readRunStart } from './run-start.ts';
import { describeSandboxGitDir, makeSandboxGitDir } from './sandbox-git-dir.ts';
import { rulesFolder } from './tree/looking-git.ts';
import { shadowRepository, workTreeParts } from './tree/parts.ts';
import { START_INDEX } from './tree/start-index.ts';
import { WorkTree } from './tree/work-tree.ts';
import { copyLinkedOut } from './unwalked/hard-links.ts';
import { beganIn } from './unwalked/planted-git.ts';

/** What the journal says about the work tree. */
export interface KeptState {
  readonly base: BaseRevision;
  /** Paths that changed since the base, with their last known state; null means absent. */
  readonly states: ReadonlyMap<string, FileState | null>;
  /** Files that calls were asked to write, whether they did or not. */
  readonly written: readonly string[];
  /** The commit that a fresh checkout has where the base is the tree of none: the head that a base was merged into. */
  readonly checkedOut?: string;
  /**
   * Whether git dirs that are new become the user's: only a person can tell whether a command created them or someone since. Null
   * if no command was in progress.
   */
  readonly newGitDirs: 'accepted' | 'named' | null;
}

/** The workspace of a killed run, and the differences found in the work tree. */
export interface ReopenedWorkspace {
  readonly status: 'ok';
  readonly workspace: Workspace;
  /** The run was last at work in this checkout, which may have been moved since. */
  readonly isHere: boolean;
  /** How the work tree differs from its last known state. */
  readonly found: readonly PathChange[];
  /** Git dirs that did not exist when the run began; only searched for if commands were in progress. */
  readonly planted: readonly string[];
  /** Those of the found paths that equal the base, or what a fresh checkout has in its place. */
  readonly asInBase: ReadonlySet<string>;
}

/** The reopened workspace of an earlier run, or why it cannot be reopened. */
export type Reopening = ReopenedWorkspace | Failed;

/** As `reopenWorkspace`. */
export function beginReopening(
  checkout: Checkout,
  places: WorkspacePlaces,
  kept: KeptState,
): BegunWorkspace<Reopening> {
  const { root } = checkout;
  const { maxDiskBytes } = places.limits ?? DEFAULT_CHANGE_LIMITS;
  return beginWith(checkout, places, async () => {
    // Files may have been linked since, such as by the user's package manager.
    const copied = await copyLinkedOut({ root, maxBytes: maxDiskBytes });
    const reopened = await reopenWorkspace(checkout, places, kept, copied);
    const { shadowDir } = places;
    const began = readRunStart(shadowDir);
    if (reopened.status === 'ok' && began.status === 'ok')
      keepFiles({ root, shadowDir, format: checkout.objectFormat }, began.start.ignored);
    return reopened;
  });
}

/** The checkout may be another one than the run began in; tracked paths stay those of the start. */
export async function reopenWorkspace(
  checkout: Checkout,
  places: WorkspacePlaces,
  { base, states, written, checkedOut, newGitDirs }: KeptState,
  earlier: Iterable<Warning> = [],
): Promise<Reopening> {
  const { root } = checkout;
  const { shadowDir, isReadOnly = () => false, keepsBase = false } = places;
  const left = await readLeft(checkout, places, base);
  if (left.status === 'failed') return left;
  const { baseFiles, isHere, settings } = left;
  const start = isHere ? left.start : { ...left.start, openedNs: fileSystemTime(`${shadowDir}/clock`) };
  await removeLeftovers(root, written);
  if (isHere) await doubtFiles({ root, shadowDir, format: checkout.objectFormat });

  const warnings = new Set(earlier);
  const parts = await workTreeParts(checkout, places, { settings, warnings });
  // The repositories of the start: what a command has done to them since must not decide what the next one can reach.
  if (isHere) parts.planted.recall(start.gitDirs);
  const planted: string[] = [];
  const { tree, found: all } = await WorkTree.reopen(parts, {
    base: base.tree,
    states,
    start,
    async lookAtFolders(clock) {
      if (isHere && newGitDirs !== null) {
        const folders = await parts.planted.folders.look(clock);
        for (const { path } of parts.planted.judge(folders)) planted.push(path);
      }
      return parts.planted.begin(clock, 'commands');
    },
  });
  const found = await withoutLeftovers(root, tree, all);
  const atStart = { gitDir: shadowDir, index: START_INDEX };
  await makeSandboxGitDir(checkout, places.sandboxGitDir, coreSettings(settings), atStart);
  const { nested, foreign } = isHere ? start : repositoriesOf(checkout, { parts, tree });
  // One that is only named must not count as the user's next time.
  if (planted.length === 0 || newGitDirs === 'accepted')
    keepRunStart(shadowDir, { ...start, root, nested, foreign, gitDirs: [...parts.planted.known] });
  const workspace = openGitWorkspace({
    ...{ base, parts, tree, foreign, openedNs: start.openedNs, warnings, keepsBase },
    sandboxGitDir: {
      ...describeSandboxGitDir(checkout, places.sandboxGitDir),
      nested: nestedUnderPolicy({ nested, foreign }, isReadOnly),
    },
  });
  const fresh = checkedOut === undefined ? null : await treeEntries(shadowDir, checkedOut);
  const files = [baseFiles, ...(fresh === null ? [] : [fresh])].map(
    (entries) => new Map(entries.map(({ path, mode, id }) => [path, `${mode} ${id}`])),
  );
  const asInBase = found.filter(({ path, after }) =>
    files.some((known) => known.get(path) === (after === null ? undefined : `${after.mode} ${after.blob}`)),
  );
  const paths = asInBase.map(({ path }) => path);
  return { status: 'ok', workspace, isHere, found, planted, asInBase: new Set(paths) };
}

/** What the killed run has left in its shadow repository, and the settings of the user. */
interface Left {
  readonly status: 'ok';
  readonly settings: UserSettings;
  readonly baseFiles: readonly ListedPath[];
  readonly start: RunStart;
  /** The run was last at work in this checkout, which may have been moved since. */
  readonly isHere: boolean;
}

/** Makes the shadow repository usable again. Fails if the run cannot continue in this checkout. */
async function readLeft(
  checkout: Checkout,
  { shadowDir, env }: WorkspacePlaces,
  base: BaseRevision,
): Promise<Left | Failed> {
  const { root, objectFormat } = checkout;
  if (!existsSync(rulesFolder(shadowDir)))
    return failed(`The shadow repository ${shadowDir} is gone, and the run's changes with it.`);
  if (objectFormat !== base.objectFormat)
    return failed(`The checkout ${root} has ${objectFormat} ids, the run has ${base.objectFormat} ids.`);
  const settings = await readUserSettings(root, env);
  // Created again, since the checkout's objects may be somewhere else now.
  makeRepository(shadowRepository(checkout, shadowDir));
  for (const name of readdirSync(shadowDir)) if (name.endsWith('.lock')) rmSync(join(shadowDir, name));
  const baseFiles = await treeEntries(shadowDir, base.tree);
  if (baseFiles === null)
    return failed(`The base of the run, tree ${base.tree}, is in neither ${shadowDir} nor ${root}.`);
  const kept = readRunStart(shadowDir);
  if (kept.status === 'failed') return kept;
  return { status: 'ok', settings, baseFiles, start: kept.start, isHere: beganIn(root, kept.start) };
}

/** An interrupted restore has left its temporary file in a folder that was not known beforehand. */
async function withoutLeftovers(
  root: string,
  tree: WorkTree,
  found: readonly PathChange[],
): Promise<PathChange[]> {
  const isLeft = ({ path, before }: PathChange) => before === null && isTemporary(path);
  const left = found.filter(isLeft).map(({ path }) => path);
  if (left.length > 0) {
    await removeLeftovers(root, left);
    await tree.look(left);
  }
  return found.filter((change) => !isLeft(change));
}

/** Whether the path ends in a name that only a guarded write uses. */
function isTemporary(path: string): boolean {
  return TEMPORARY_NAME.test(nameOf(path));
}

/** Removes the temporary files beside these paths. */
async function removeLeftovers(root: string, targets: readonly string[]): Promise<void> {
  const breath = new Breath();
  for (const target of targets) {
    await breath.after(1);
    const parsed = parseRepoPath(target);
    if (!parsed.ok) continue;
    // The next scan of the work tree finds and reports what cannot be examined or removed.
    inParent(root, parsed.path, 'existing', ({ folder }) => {
      for (const name of readdirSync(through(folder)))
        if (TEMPORARY_NAME.test(name)) unlinkSync(below(folder, name));
      return null;
    });
  }
}
