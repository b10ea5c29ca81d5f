/** What people and other programs moved in the repository while the run worked. Commands of the run cannot: they do not reach it. */

import { START_INDEX } from '../../adapters/workspace/tree/start-index.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import type { CheckedOutHead, Checkout } from '../../git/checkout-layout.ts';
import { askGit } from '../../git/git.ts';
import { headOf } from '../../git/revision.ts';
import { type UserEnvironment, userGitEnvironment } from '../../git/user-settings.ts';

/** Null if HEAD and index are what they were when `checkout` was found; `shadowDir` holds the index of then. */
export async function movedWarning(
  { root, head }: Checkout,
  shadowDir: string,
  env: UserEnvironment,
): Promise<Warning | null> {
  const staged = async (index: Readonly<Record<string, string>>) => {
    const git = { cwd: root, env: { ...userGitEnvironment(env), ...index } };
    return (await askGit({ ...git, args: ['ls-files', '--stage', '-z'] })).stdout;
  };
  const [now, before, after] = await Promise.all([
    headOf(root, env),
    staged({ GIT_INDEX_FILE: `${shadowDir}/${START_INDEX}` }),
    staged({}),
  ]);
  const moved = [
    ...(now.commit === head.commit && now.branchRef === head.branchRef
      ? []
      : [`HEAD from ${named(head)} to ${named(now)}`]),
    ...(before.equals(after) ? [] : ['the index']),
  ];
  if (moved.length === 0) return null;
  return warning(
    'WARN_HEAD_MOVED',
    `Something outside the run moved ${moved.join(' and ')} while it worked. The patch still applies to where it began.`,
  );
}

function named({ commit, branchRef }: CheckedOutHead): string {
  const at = commit === null ? 'no commit' : commit.slice(0, 12);
  return branchRef === null ? at : `${branchRef.replace('refs/heads/', '')} (${at})`;
}
