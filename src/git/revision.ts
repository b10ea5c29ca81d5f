/** Files and names of a commit, read from a checkout's objects and not from its work tree. */

import type { Revision } from '../ports/workspace.ts';
import type { Checkout } from './checkout-layout.ts';
import { askGit, runGit } from './git.ts';
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
      const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--', path];
      const [entry = ''] = (await runGit({ ...git, args })).toString('utf8').split('\0');
      const file = /^100(?:644|755) blob (\S+)\t/.exec(entry);
      if (file?.[1] === undefined || entry.slice(file[0].length) !== path) return null;
      const size = Number((await runGit({ ...git, args: ['cat-file', '-s', file[1]] })).toString('utf8'));
      return size > MAX_BYTES ? null : runGit({ ...git, args: ['cat-file', 'blob', file[1]] });
    },
  };
}

/** The checked-out commit; null if there is none. */
export async function headOf(root: string, env: UserEnvironment): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  const answer = await askGit({ cwd: root, env: userGitEnvironment(env), args });
  return answer.exitCode === 0 ? answer.stdout.toString('utf8').trim() : null;
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
