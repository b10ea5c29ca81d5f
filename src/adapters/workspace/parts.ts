/** The parts of a workspace, whether it is opened for the first time or reopened. */

import { join } from 'node:path';
import { NO_GUARD, type PathGuard } from '../../domain/changes/path-policy.ts';
import type { ChangeLimits } from '../../domain/run/change-limits.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { ClosedPlaces, closedPlacesFile } from '../../files/closed-places.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { RepositoryPlan } from '../../git/store/bare-repository.ts';
import { ObjectStore } from '../../git/store/object-store.ts';
import type { UserSettings } from '../../git/user-settings.ts';
import { BaselineRules } from './baseline/baseline-rules.ts';
import { emptyFoldersFile } from './baseline/empty-folders.ts';
import { type BaselineIndex, crlfInIndex } from './baseline/index/baseline-index.ts';
import { LiveRules } from './baseline/live-rules.ts';
import { takeRuleFile } from './baseline/rule-files.ts';
import { findStatUnchanged } from './baseline/stat-unchanged.ts';
import { TrackedPaths } from './baseline/tracked-paths.ts';
import { ChangeBudget, freeBytesOn } from './snapshot/change-budget.ts';
import { fileSystemTime } from './snapshot/file-system-time.ts';
import type { SnapshotParts } from './snapshot/snapshot.ts';
import { GitDirs } from './unwalked/git-dirs.ts';
import { beginningOf } from './unwalked/ignored-changes.ts';
import { PlantedGit } from './unwalked/planted-git.ts';
import { SetIds, setIdsFile } from './unwalked/set-ids.ts';

/** How the shadow repository of a run is set up. */
export function shadowRepository({ objectFormat, objects }: Checkout, shadowDir: string): RepositoryPlan {
  return {
    gitDir: shadowDir,
    objectFormat,
    alternate: objects,
    head: 'ref: refs/heads/none',
    // The walk rejects names that a checkout on Windows or macOS could not hold; here they must pass.
    core: { bare: true, fsmonitor: false, hooksPath: '/dev/null', protectHFS: false, protectNTFS: false },
  };
}

interface Knowledge {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly index: BaselineIndex;
  /** Those of the start. */
  readonly rules: BaselineRules;
  readonly settings: UserSettings;
  readonly warnings: Set<Warning>;
  /** Number of files above which git is asked for their stats. */
  readonly manyFiles: number;
  readonly limits: ChangeLimits;
  readonly guard: PathGuard | undefined;
}

/** Assembles the parts of a snapshot of a checkout. */
export function snapshotParts(known: Knowledge): SnapshotParts {
  const { checkout, shadowDir, index, rules, settings, warnings, manyFiles, limits } = known;
  const { root, objectFormat } = checkout;
  const tracked = trackedIn(index);
  if (tracked.submodules.length > 0)
    warnings.add(
      warning('WARN_SUBMODULES_LEFT_OUT', `Submodules are left out: ${tracked.submodules.join(', ')}.`),
    );
  const warn = (warning: Warning) => void warnings.add(warning);
  const closed = new ClosedPlaces({ root, file: closedPlacesFile(shadowDir), warn });
  const setIds = new SetIds(setIdsFile(shadowDir));
  const budget = new ChangeBudget(limits, () => freeBytesOn(shadowDir));
  const { folders } = budget;
  const { fileMode } = settings;
  const clockFile = join(shadowDir, 'clock');
  const live = liveRules(known, { closed, clockFile, warn });
  const onRuleFile = (path: string) => {
    if (rules.isFrozen) live.see(path);
    else takeRuleFile(root, path, rules);
  };
  return {
    tree: { root, rules: live, tracked, keepsBase: true, closed, folders, setIds, onRuleFile },
    index,
    settled: findStatUnchanged({ root, shadowDir, fileMode, manyFiles }, index),
    planted: new PlantedGit({
      root,
      tracked,
      unwalked: new GitDirs({ root, closed, setIds, limit: folders }),
      warn,
    }),
    fileMode,
    clockFile,
    shadowDir,
    emptyFoldersFile: emptyFoldersFile(shadowDir),
    contents: {
      root,
      store: new ObjectStore(shadowDir, objectFormat),
      budget,
      closed,
      conversions: (paths) => live.conversions(paths),
      crlfInIndex: (paths) => crlfInIndex(index, paths, shadowDir),
      warn,
    },
  };
}

function trackedIn({ entries }: BaselineIndex): TrackedPaths {
  const tracked = new TrackedPaths(entries);
  for (const path of entries.onePathAFolder()) tracked.addFolders(path);
  for (const [path, { mode }] of entries.withoutFile()) {
    if (mode === '160000') tracked.addSubmodule(path);
  }
  return tracked;
}

function liveRules(
  { checkout: { root }, shadowDir, rules, settings, guard = NO_GUARD }: Knowledge,
  { closed, clockFile, warn }: { closed: ClosedPlaces; clockFile: string; warn: (warning: Warning) => void },
): LiveRules {
  return new LiveRules({
    root,
    baseline: rules,
    copy: () => BaselineRules.copy(rules, join(shadowDir, 'rules-now'), settings),
    closed,
    guard,
    // What setup commands write are the operator's rules.
    isVoid: (path) => !guard.permits(path) && beginningOf(shadowDir) !== null,
    clock: () => fileSystemTime(clockFile),
    warn,
  });
}
