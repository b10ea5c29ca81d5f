/** What people and other programs moved in the repository while the run worked. Commands of the run cannot: they do not reach it. */

import { join } from 'node:path';
import { START_INDEX } from '../../adapters/workspace/tree/start-index.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import type { CheckedOutHead, Checkout } from '../../git/checkout-layout.ts';
import { askGit } from '../../git/git.ts';
import { MAX_INDEX_BYTES } from '../../git/repository-file.ts';
import { headOf } from '../../git/revision.ts';
import { type UserEnvironment, userGitEnvironment } from '../../git/user-settings.ts';

/** Null if HEAD and index are what they were when `checkout` was found; `shadowDir` holds the index of then. */
export async function movedWarning(
  { root, gitDir, head }: Checkout,
  shadowDir: string,
  env: UserEnvironment,
): Promise<Warning | null> {
  const indexes = [join(gitDir, 'index'), join(shadowDir, START_INDEX)];
  const staged = (index: string) => {
    const git = { cwd: root, env: { ...userGitEnvironment(env), GIT_INDEX_FILE: index } };
    return askGit({ ...git, args: ['ls-files', '--stage', '-z'] });
  };
  const isSame = ([one, other]: readonly Buffer[]) => other !== undefined && one?.equals(other);
  // An index that differs may only have other stats.
  const isStaged =
    !isSame(indexes.map(bytesOf)) &&
    !isSame((await Promise.all(indexes.map(staged))).map(({ stdout }) => stdout));
  const now = await headOf(root, env);
  const isAt = now.commit === head.commit && (now.commit === null || now.branchRef === head.branchRef);
  const moved = [
    ...(isAt ? [] : [`HEAD from ${named(head)} to ${named(now)}`]),
    ...(isStaged ? ['the index'] : []),
  ];
  if (moved.length === 0) return null;
  return warning(
    'WARN_HEAD_MOVED',
    `Something outside the run moved ${moved.join(' and ')} while it worked. The patch still applies to where it began.`,
  );
}

function bytesOf(file: string): Buffer {
  const read = readRegularFile(file, MAX_INDEX_BYTES);
  return read.status === 'ok' ? read.bytes : Buffer.alloc(0);
}

function named({ commit, branchRef }: CheckedOutHead): string {
  const at = commit === null ? 'no commit' : commit.slice(0, 12);
  return branchRef === null ? at : `${branchRef.replace('refs/heads/', '')} (${at})`;
}
