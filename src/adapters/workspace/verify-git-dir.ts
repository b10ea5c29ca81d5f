/**
 * Prepares what verify commands use instead of the model's commands' files: a git dir as it was when the run began and, on
 * request, a fresh checkout of the base with the run's changes.
 */

import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PathChange } from '../../domain/changes/change.ts';
import { nameOf } from '../../domain/changes/path.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { decodeNames } from '../../files/names.ts';
import { fileSystemTime } from '../../files/stat.ts';
import { Breath, until } from '../../files/time-limit.ts';
import { lookAt } from '../../files/tree-view.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { stateOnDisk } from '../../git/store/object-store.ts';
import { ScratchIndex } from '../../git/store/trees.ts';
import { checkoutSteps, gitIn, inTurn, packTree, startSettings } from './kept/base-copy.ts';
import { leftOut } from './run-start.ts';
import { makeGitDir, makeSandboxGitDir, stagedPaths } from './sandbox-git-dir.ts';
import { START_INDEX } from './tree/start-index.ts';

/** The checkout of a run and its shadow repository. */
export interface RunPlaces {
  readonly checkout: Checkout;
  /** The shadow repository of the run. */
  readonly shadowDir: string;
}

/**
 * Creates `gitDir`, a folder that does not exist yet, as the throwaway git dir was when the run began: without anything that
 * the model's commands wrote into theirs (settings, hooks, branches, index).
 */
export async function makeVerifyGit({ checkout, shadowDir }: RunPlaces, gitDir: string): Promise<void> {
  const start = { gitDir: shadowDir, index: START_INDEX };
  await makeSandboxGitDir(checkout, gitDir, startSettings(shadowDir), start);
}

/** Which base and changes to check out, and where to. */
export interface CheckoutRequest extends RunPlaces {
  readonly base: BaseRevision;
  /** The changes to the base. */
  readonly net: readonly PathChange[];
  /** Two folders that do not exist yet. */
  readonly folder: string;
  readonly gitDir: string;
  /** Cut-off for the work, which then rejects with `CutShort`. */
  readonly signal: AbortSignal;
}

/** What was checked out. */
export interface FreshCheckout {
  readonly status: 'ok';
  /** Submodules, which are only empty folders here. */
  readonly submodules: readonly string[];
  /** LFS files, which are only pointers here. */
  readonly pointers: readonly string[];
  /** Tracked files that are no longer as they were checked out, sorted. */
  changed(): string[];
  /** Paths of the changes at which there is something else than was checked out. */
  otherwise(): Promise<string[]>;
}

/**
 * Checks out the base with its changes, as `git clone` and `git apply --index` would: line endings follow the attributes, no
 * filter or hook runs (an LFS file is its pointer), and nothing untracked is there. HEAD is the base's commit, and the index
 * has the changes. Does not reject for anything that a tree can contain.
 */
export function makeFreshCheckout(request: CheckoutRequest): Promise<CheckedOut> {
  return until(request.signal, () => checkOut(request));
}

type CheckedOut = FreshCheckout | Failed;

async function checkOut({
  checkout,
  shadowDir,
  base,
  net,
  folder,
  gitDir,
}: CheckoutRequest): Promise<CheckedOut> {
  const index = 'verify.index';
  const scratch = new ScratchIndex(shadowDir, index);
  await scratch.readTree(base.tree);
  const tree = await scratch.editedTree(net.map(({ path, after }) => ({ path, state: after })));
  mkdirSync(folder, { mode: 0o700 });
  // The sandbox mounts the git dir there.
  mkdirSync(join(folder, '.git'));
  await makeGitDir(checkout, gitDir, startSettings(shadowDir));
  copyFileSync(join(shadowDir, index), join(gitDir, 'index'));
  // Commands also see the checkout's own objects.
  const known = base.commit === null ? null : `${base.commit}^{tree}`;
  const unpacked = await packTree(shadowDir, tree, gitDir, known);
  if (unpacked !== null) return failed(unpacked);
  const attributes = join(shadowDir, 'rules/attributes');
  const ask = gitIn(folder, gitDir, [
    `core.attributesFile=${attributes}`,
    'core.protectHFS=false',
    'core.protectNTFS=false',
  ]);
  const left = leftOut(shadowDir);
  const unmade = await inTurn(ask, checkoutSteps(left));
  if (unmade !== null) return failed(unmade);
  const listed = (await ask(['ls-files', '--stage', '-z'])).stdout;
  const files = stagedPaths(listed, 'files');
  const hasAttributes =
    [attributes, join(gitDir, 'info/attributes')].some((file) => existsSync(file)) ||
    files.some((path) => nameOf(path) === '.gitattributes');
  const isPointer = ['ls-files', '-z', '--', ':(attr:filter=lfs)'];
  const pointers = hasAttributes ? decodeNames((await ask(isPointer)).stdout) : [];
  const absent = new Set(left);
  // No command runs in the milliseconds that follow, which the file system may not distinguish.
  const instant = fileSystemTime(join(gitDir, 'checked-out'));
  const isChanged = (path: string) => {
    const look = lookAt(folder, path);
    return look.status === 'seen' ? look.stat.ctimeNs > instant : !absent.has(path);
  };
  const paths = net.map(({ path }) => path);
  const before = await contentsOf(folder, paths);
  return {
    status: 'ok',
    submodules: stagedPaths(listed, 'submodules'),
    pointers,
    changed: () => files.filter(isChanged).sort(),
    async otherwise() {
      const after = await contentsOf(folder, paths);
      return paths.filter((path) => before.get(path) !== after.get(path));
    },
  };
}

/** For larger files, the time of the last change is compared instead of the content. */
const MAX_BYTES = 32 * 1024 * 1024;

/** For each path, a text that changes exactly when its kind, executable bit or content does, including when it is absent. */
async function contentsOf(root: string, paths: readonly string[]): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  const breath = new Breath();
  for (const path of paths) contents.set(path, await contentOf(root, path, breath));
  return contents;
}

async function contentOf(root: string, path: string, breath: Breath): Promise<string> {
  const now = await stateOnDisk(root, path, 'sha256', MAX_BYTES);
  await breath.after(1, now?.size);
  if (now) return `${now.mode} ${now.blob}`;
  const look = lookAt(root, path);
  if (look.status !== 'seen') return look.status;
  return look.stat.kind === 'file' ? `since ${look.stat.ctimeNs}` : look.stat.kind;
}
