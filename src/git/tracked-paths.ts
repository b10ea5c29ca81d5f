/** Which paths of a checkout are in its index. */

import { timeoutSignal } from '../files/time-limit.ts';
import { askGit, findGit } from './git.ts';
import { repositoryRoot } from './repository-root.ts';

/** Reading an index takes milliseconds; anything slower is not an index. */
const MAX_GIT_MS = 10_000;

/**
 * Relative to `folder`, and only those below it, each followed by NUL. Null where git is missing, fails or is too slow, or no
 * repository is found. It may belong to others, and say of its work tree what it likes: git runs nothing from it here.
 */
export async function trackedPaths(
  folder: string,
  pathspecs: readonly string[] = [],
): Promise<Buffer | null> {
  const root = await repositoryRoot(folder);
  if (root === null || findGit() === null) return null;
  const signal = timeoutSignal(MAX_GIT_MS);
  const selected = pathspecs.length === 0 ? [] : ['--', ...pathspecs];
  try {
    const places = [`--git-dir=${root}/.git`, `--work-tree=${root}`];
    const args = [...places, 'ls-files', '-z', ...selected];
    const { exitCode, stdout } = await askGit({ cwd: folder, args, signal });
    return exitCode === 0 ? stdout : null;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
