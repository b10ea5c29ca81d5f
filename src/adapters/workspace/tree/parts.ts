/** The parts of a workspace, whether it is opened for the first time or reopened. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState } from '../../../domain/changes/change.ts';
import { NO_GUARD, type PathGuard } from '../../../domain/changes/path-policy.ts';
import { type ChangeLimits, DEFAULT_CHANGE_LIMITS } from '../../../domain/run/limits.ts';
import type { Warning } from '../../../domain/warnings/warning.ts';
import { ClosedPlaces } from '../../../files/closed-places.ts';
import { encodeNames } from '../../../files/names.ts';
import type { FileStat } from '../../../files/stat.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import type { RepositoryPlan } from '../../../git/store/bare-repository.ts';
import { ObjectStore } from '../../../git/store/object-store.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import { Folders } from '../unwalked/folders.ts';
import { PlantedGit } from '../unwalked/planted-git.ts';
import { beginningOf } from '../unwalked/unseen-changes.ts';
import { ChangeBudget, freeBytesOn } from './change-budget.ts';
import { HiddenFiles } from './hidden-files.ts';
import { LookingGit, makeLookingGit } from './looking-git.ts';
import { START_INDEX, StartIndex } from './start-index.ts';

/** A file to be read. */
export interface Wanted {
  readonly path: string;
  readonly stat: FileStat;
  /** What is known about the path so far; null if nothing is. */
  readonly before: FileState | null;
  /** The blob that the index of the start has for the path, or null. */
  readonly inIndex: string | null;
  /** The executable bit that counts where that of the work tree does not. */
  readonly isExecutable: boolean | null;
}

/** `stat` is null if the file kept changing and has to be read again next time. `filter` is one that git would run, or `lfs`. */
export type Taken =
  | { status: 'ok'; state: FileState; stat: FileStat | null; filter: string | null }
  | { status: 'absent' }
  | { status: 'unreadable' }
  /** A limit on what a run may change does not permit it. */
  | { status: 'left_out' };

/** What a work tree is looked at with. */
export interface WorkTreeParts {
  readonly git: LookingGit;
  readonly index: StartIndex;
  readonly store: ObjectStore;
  readonly budget: ChangeBudget;
  readonly hidden: HiddenFiles;
  readonly planted: PlantedGit;
  /** Opens files and folders that their owner has closed since the start. */
  readonly closed: ClosedPlaces;
  readonly guard: PathGuard;
  /** Names of the filters that the user's git would run. */
  readonly filters: ReadonlySet<string>;
  readonly warn: (warning: Warning) => void;
  /** Whether git may commit other bytes than those in the work tree: there are attributes, or `core.autocrlf` is set. */
  readonly mayConvert: () => boolean;
  /** The executable bit of the work tree is significant. */
  readonly fileMode: boolean;
}

/** How the shadow repository of a run is set up. */
export function shadowRepository({ objectFormat, objects }: Checkout, shadowDir: string): RepositoryPlan {
  return {
    gitDir: shadowDir,
    objectFormat,
    alternate: objects,
    head: 'ref: refs/heads/none',
    // Names that a checkout on Windows or macOS could not hold are refused one by one; here they must pass.
    core: { bare: true, fsmonitor: false, hooksPath: '/dev/null', protectHFS: false, protectNTFS: false },
  };
}

/** Where a workspace stores its own data, and what a run may change and hide. */
interface TreeBounds {
  readonly shadowDir: string;
  readonly limits?: ChangeLimits;
  readonly guard?: PathGuard | undefined;
}

/** The shadow repository exists, and has a copy of the user's index if there is one. */
export async function workTreeParts(
  checkout: Checkout,
  { shadowDir, limits = DEFAULT_CHANGE_LIMITS, guard = NO_GUARD }: TreeBounds,
  { settings, warnings }: { readonly settings: UserSettings; readonly warnings: Set<Warning> },
): Promise<WorkTreeParts> {
  const { root, objectFormat } = checkout;
  const hasAttributes = makeLookingGit(checkout, shadowDir, settings);
  const git = new LookingGit(root, shadowDir);
  const index = await readStartIndex(git, join(checkout.gitDir, 'index'));
  const warn = (warning: Warning) => void warnings.add(warning);
  const closed = new ClosedPlaces(root, warn);
  const budget = new ChangeBudget(limits, () => freeBytesOn(shadowDir));
  const hidden = new HiddenFiles(root, () => beginningOf(shadowDir));
  return {
    git,
    index,
    store: new ObjectStore(shadowDir, objectFormat),
    budget,
    hidden,
    planted: new PlantedGit(root, new Folders(root, closed, budget.folders), { closed, warn }),
    closed,
    guard,
    filters: settings.filters,
    warn,
    mayConvert: () => hasAttributes || settings.autocrlf !== 'false' || hidden.hasAttributes,
    fileMode: settings.fileMode,
  };
}

/**
 * The entries of the index. Bits that would hide changes from git are cleared in the copy; a file that a sparse checkout left out
 * keeps its bit as long as there is no file.
 */
async function readStartIndex(git: LookingGit, file: string): Promise<StartIndex> {
  if (!existsSync(join(git.shadowDir, START_INDEX))) return new StartIndex(Buffer.alloc(0), file);
  const list = async () => new StartIndex(await git.tell({ args: ['ls-files', '-s', '-v', '-z'] }), file);
  const index = await list();
  const assumed = [...index.entries(/^[a-z]/)];
  if (assumed.length === 0) return index;
  await git.tell({
    args: ['update-index', '--no-assume-unchanged', '-z', '--stdin'],
    input: encodeNames(assumed.map(({ path }) => path)),
  });
  return list();
}
