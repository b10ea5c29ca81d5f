/**
 * The throwaway git dir that commands get instead of the real one: the same history, branches and index, so that the
 * model's git commands work, and nothing that reaches the user's repository (no hook, credential, remote or include).
 */

import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RepoPath } from '../../domain/changes/path.ts';
import { decodeName, encodeNames } from '../../files/names.ts';
import { below, enterParent, through } from '../../files/nofollow.ts';
import { Breath } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { runGit, runIn } from '../../git/git.ts';
import { copyIfThere } from '../../git/repository-file.ts';
import { makeRepository, readsFrom } from '../../git/store/bare-repository.ts';
import type { CoreSettings } from '../../git/user-settings.ts';
import type { SandboxGitDir } from '../../ports/workspace.ts';
import { startSettings } from './kept/base-copy.ts';
import { copyIndex, setMtime } from './tree/start-index.ts';
import { openToOwner, removeGitDir } from './unwalked/remove-git-dir.ts';

/** Creates the git dir in the folder `gitDir`, which may already exist if empty; `from` has its index. */
export async function makeSandboxGitDir(
  checkout: Checkout,
  gitDir: string,
  settings: CoreSettings,
  from?: { readonly gitDir: string; readonly index: string },
): Promise<void> {
  await copyGitDir(checkout, gitDir, settings, from);
  if (existsSync(join(gitDir, 'index')))
    await hideSubmodules(
      gitDir,
      stagedPaths(await runIn(gitDir, ['ls-files', '--stage', '-z']), 'submodules'),
    );
}

/** The same for a caller that hides the submodules, once it knows them. */
export async function copyGitDir(
  checkout: Checkout,
  gitDir: string,
  settings: CoreSettings,
  from = { gitDir: checkout.gitDir, index: 'index' },
): Promise<void> {
  await makeGitDir(checkout, gitDir, settings);
  copyIndex(from.gitDir, gitDir, 'index', from.index);
}

/** Writes what it needs besides refs and index, where it is missing: nothing in its place may be a link. */
function writeGitDir(checkout: Checkout, gitDir: string, settings: CoreSettings): void {
  const { commit, branchRef } = checkout.head;
  const head = branchRef === null ? (commit ?? '') : `ref: ${branchRef}`;
  makeRepository({
    gitDir,
    objectFormat: checkout.objectFormat,
    alternate: checkout.objects,
    head: existsSync(join(gitDir, 'HEAD')) ? null : head,
    core: { bare: false, ...settings, logallrefupdates: true },
    // Without a name the model's own commits would fail.
    config: '[user]\n\tname = patchsmith\n\temail = patchsmith@localhost\n[gc]\n\tauto = 0\n',
  });
  copyIfThere(join(checkout.commonDir, 'info/attributes'), join(gitDir, 'info/attributes'));
}

/** The same with refs, and without an index. */
export async function makeGitDir(checkout: Checkout, gitDir: string, settings: CoreSettings): Promise<void> {
  writeGitDir(checkout, gitDir, settings);
  // Listed one by one, so that any ref storage works; the stash is the user's own and is left out.
  const refs = await runGit({
    cwd: checkout.root,
    args: [
      ...[`--git-dir=${checkout.gitDir}`, 'for-each-ref', '--format=%(objectname) %(refname)'],
      ...['refs/heads', 'refs/tags', 'refs/remotes'],
    ],
  });
  writeFileSync(join(gitDir, 'packed-refs'), Buffer.concat([Buffer.from('# pack-refs with:\n'), refs]));
  for (const name of ['shallow', 'info/exclude'])
    copyIfThere(join(checkout.commonDir, name), join(gitDir, name));
}

/** Marks submodules as not checked out. Git would abort at the first whose git dir, inside the real one, it cannot open. */
export async function hideSubmodules(gitDir: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const index = join(gitDir, 'index');
  const { mtimeNs } = statSync(index, { bigint: true });
  await runIn(gitDir, ['update-index', '-z', '--skip-worktree', '--stdin'], { input: encodeNames(paths) });
  setMtime(index, mtimeNs);
}

/** Paths in the output of `ls-files --stage -z`. */
export function stagedPaths(listed: Buffer, kind: 'files' | 'submodules'): string[] {
  const isOfKind = kind === 'files' ? /^1[02]/ : /^160000 /;
  const entries = decodeName(listed).split('\0');
  return entries.flatMap((entry) => (isOfKind.test(entry) ? [entry.slice(entry.indexOf('\t') + 1)] : []));
}

/** Describes it to a sandbox, whether it exists or not; without the nested repositories, which only the walk knows. */
export function describeSandboxGitDir(checkout: Checkout, gitDir: string): SandboxGitDir {
  const dotGit = lstatSync(join(checkout.root, '.git'), { throwIfNoEntry: false });
  return { gitDir, objects: checkout.objects, dotGitIsFile: dotGit?.isFile() ?? false, nested: [] };
}

/** For the end of a run, when no command is running any more. Succeeds if the run has not created the git dir. */
export async function disarmSandboxGitDir(
  checkout: Checkout,
  { shadowGit, sandboxGitDir }: { shadowGit: string; sandboxGitDir: string },
): Promise<void> {
  await resetSandboxGitDir(checkout, sandboxGitDir, startSettings(shadowGit));
}

/** The git dir of an earlier process, disarmed, or a new one if the checkout's objects are somewhere else now. */
export async function reopenSandboxGitDir(
  checkout: Checkout,
  gitDir: string,
  settings: CoreSettings,
): Promise<SandboxGitDir> {
  // A lock left by a killed git is removed with the rest.
  if (readsFrom(gitDir, checkout.objects)) await resetSandboxGitDir(checkout, gitDir, settings);
  else {
    // The folder itself may be mounted by now, and stays.
    mkdirSync(gitDir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(gitDir)) rmSync(join(gitDir, name), { recursive: true, force: true });
    await makeSandboxGitDir(checkout, gitDir, settings);
  }
  return describeSandboxGitDir(checkout, gitDir);
}

/**
 * Keeps what the model's commands did with git, and removes everything that git runs or obeys. Works through descriptors and follows
 * no link.
 */
async function resetSandboxGitDir(checkout: Checkout, gitDir: string, settings: CoreSettings): Promise<void> {
  const stat = lstatSync(gitDir, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    await removeGitDir(dirname(gitDir), basename(gitDir));
    return;
  }
  for (const kept of KEPT) await keepOnly(gitDir, kept);
  writeGitDir(checkout, gitDir, settings);
}

interface KeptEntries {
  /** Empty, or ends with a slash. */
  readonly folder: string;
  readonly files?: RegExp;
  readonly folders?: RegExp;
}

/** Git only reads data from these. Configuration, hooks, attributes and unfinished rebases are not among them. */
const KEPT: readonly KeptEntries[] = [
  {
    folder: '',
    // A split index refers to its other part.
    files: /^(?:HEAD|index|packed-refs|shallow|sharedindex\.[0-9a-f]+)$/,
    folders: /^(?:refs|logs|objects|info)$/,
  },
  { folder: 'refs/', files: /^stash$/, folders: /^(?!stash$)/ },
  { folder: 'info/', files: /^exclude$/ },
  { folder: 'objects/', folders: /^(?:[0-9a-f]{2}|pack|info)$/ },
  { folder: 'objects/info/' },
];

/** The folder is created if it is missing, and opened if a command has closed it. */
async function keepOnly(gitDir: string, { folder, files, folders }: KeptEntries): Promise<void> {
  const place = enterParent(gitDir, `${folder}x` as RepoPath, 'make');
  if (place.status === 'failed') throw new Error(`${folder} in ${gitDir}: ${place.message}`);
  try {
    openToOwner(place.folder);
    const breath = new Breath();
    for (const name of (await readdir(through(place.folder), { encoding: 'buffer' })).map(decodeName)) {
      const stat = lstatSync(below(place.folder, name));
      const kept = stat.isFile() ? files : stat.isDirectory() ? folders : undefined;
      if (!kept?.test(name)) await removeGitDir(gitDir, `${folder}${name}`);
      await breath.after(1);
    }
  } finally {
    closeSync(place.folder);
  }
}
