/** Files and names of a commit, read from a checkout's objects and not from its work tree. */

import type { Revision } from '../ports/workspace.ts';
import type { CheckedOutHead, Checkout } from './checkout-layout.ts';
import { askGit, type GitAnswer, runGit } from './git.ts';
import type { ObjectFormat } from './store/object-store.ts';
import { readDifferences } from './store/trees.ts';
import { type UserEnvironment, userGitEnvironment } from './user-settings.ts';

/** Larger than anything that is read in this way. */
const MAX_BYTES = 16 * 1_048_576;

/** Null when the checkout has no such commit. `name` is an id or a ref; `root` is the work tree's root. */
export async function openRevision(
  root: string,
  name: string,
  env: UserEnvironment,
): Promise<Revision | null> {
  const git = { cwd: root, env: userGitEnvironment(env) };
  // A leading dash would make it an option.
  const found = name.startsWith('-')
    ? null
    : await askGit({
        ...git,
        args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
      });
  if (found?.exitCode !== 0) return null;
  const commit = found.stdout.toString('utf8').trim();
  return {
    commit,
    async read(path) {
      const args = ['--literal-pathspecs', 'ls-tree', '-l', '-z', '--full-tree', commit, '--', path];
      const [entry = ''] = (await runGit({ ...git, args })).toString('utf8').split('\0');
      const [head = '', id, size] = /^100(?:644|755) blob (\S+) +(\d+)\t/.exec(entry) ?? [];
      if (id === undefined || entry.slice(head.length) !== path || Number(size) > MAX_BYTES) return null;
      return runGit({ ...git, args: ['cat-file', 'blob', id] });
    },
  };
}

/** What is checked out. `ask` puts a question to git in the work tree. */
export async function askHead(ask: (...args: string[]) => Promise<GitAnswer>): Promise<CheckedOutHead> {
  const [commit, branch] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD'),
    ask('symbolic-ref', '--quiet', 'HEAD'),
  ]);
  const said = ({ exitCode, stdout }: GitAnswer) => (exitCode === 0 ? stdout.toString('utf8').trim() : null);
  return { commit: said(commit), branchRef: said(branch) };
}

/** The commit that is checked out in a folder; null before the first one. */
export async function headOf(cwd: string, env: UserEnvironment): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  const { stdout } = await askGit({ cwd, env: userGitEnvironment(env), args });
  return stdout.toString('utf8').trim() || null;
}

/** A tree without entries, which every repository has. */
export const EMPTY_TREE: Readonly<Record<ObjectFormat, string>> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/**
 * What a commit has at the paths where it differs from another one: git's id, or null for a path that is gone. From an unknown
 * commit (null, or one that the repository has no more) everything differs, and nothing is gone.
 */
export async function differingPaths(
  { root, objectFormat }: Pick<Checkout, 'root' | 'objectFormat'>,
  { from, to }: { readonly from: string | null; readonly to: string },
  env: UserEnvironment,
): Promise<ReadonlyMap<string, string | null>> {
  const git = { cwd: root, env: userGitEnvironment(env) };
  const known = from !== null && (await openRevision(root, from, env)) !== null;
  const base = known ? from : EMPTY_TREE[objectFormat];
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-abbrev', '--no-renames', '--no-commit-id', base, to];
  const found = readDifferences(await runGit({ ...git, args }));
  return new Map(found.map(({ path, after }) => [path, after?.blob ?? null]));
}

/** The names in the root of the commit and in `folders` of it, without duplicates; none if there is no commit. */
export async function namesAtBase(
  { root, head }: Checkout,
  folders: readonly string[],
  env: UserEnvironment,
): Promise<string[]> {
  const { commit } = head;
  if (commit === null) return [];
  const trees = [...new Set(['', ...folders])].map((folder) => `${commit}:${folder}`);
  const answers = await Promise.all(
    trees.map((tree) =>
      askGit({
        cwd: root,
        env: userGitEnvironment(env),
        args: ['ls-tree', '-z', '--name-only', '--full-tree', tree],
      }),
    ),
  );
  return [...new Set(answers.flatMap(({ stdout }) => stdout.toString('utf8').split('\0')))].filter(Boolean);
}
