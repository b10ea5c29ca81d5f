/** The names at the top of the checked-out commit. */

import type { Checkout } from './checkout-layout.ts';
import { askGit } from './git.ts';
import { type UserEnvironment, userGitEnvironment } from './user-settings.ts';

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
