/**
 * The throwaway git dir that commands get instead of the real one: the same history, branches and index, so that the
 * model's git commands work, and nothing that reaches the user's repository (no hook, credential, remote or include).
 */

import { existsSync, lstatSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeName, encodeNames } from '../../files/names.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { runGit, runIn } from '../../git/git.ts';
import { copyIfThere } from '../../git/repository-file.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import type { CoreSettings } from '../../git/user-settings.ts';
import type { SandboxGitDir } from '../../ports/workspace.ts';
import { copyIndex, setMtime } from './tree/start-index.ts';

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

/** The same without an index. */
export async function makeGitDir(checkout: Checkout, gitDir: string, settings: CoreSettings): Promise<void> {
  const { commit, branchRef } = checkout.head;
  makeRepository({
    gitDir,
    objectFormat: checkout.objectFormat,
    alternate: checkout.objects,
    head: branchRef === null ? (commit ?? '') : `ref: ${branchRef}`,
    core: { bare: false, ...settings, logallrefupdates: true },
    // Without a name the model's own commits would fail.
    config: '[user]\n\tname = patchsmith\n\temail = patchsmith@localhost\n[gc]\n\tauto = 0\n',
  });
  // Listed one by one, so that any ref storage works; the stash is the user's own and is left out.
  const refs = await runGit({
    cwd: checkout.root,
    args: [
      ...[`--git-dir=${checkout.gitDir}`, 'for-each-ref', '--format=%(objectname) %(refname)'],
      ...['refs/heads', 'refs/tags', 'refs/remotes'],
    ],
  });
  writeFileSync(join(gitDir, 'packed-refs'), Buffer.concat([Buffer.from('# pack-refs with:\n'), refs]));
  for (const name of ['shallow', 'info/exclude', 'info/attributes'])
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
