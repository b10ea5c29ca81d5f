/** Which paths of a checkout are in its index. */

import { timeoutSignal } from '../files/time-limit.ts';
import { askGit, findGit } from './git.ts';

/** Reading an index takes milliseconds; anything slower is not an index. */
const MAX_GIT_MS = 10_000;

/**
 * Relative to `root`, each followed by NUL. Null where git is missing, fails or is too slow. `root` is that of the checkout,
 * whoever owns it and whatever it says about its work tree: git runs nothing from the repository here.
 */
export async function trackedPaths(root: string, pathspecs: readonly string[] = []): Promise<Buffer | null> {
  if (findGit() === null) return null;
  const signal = timeoutSignal(MAX_GIT_MS);
  const selected = pathspecs.length === 0 ? [] : ['--', ...pathspecs];
  try {
    const places = [`--git-dir=${root}/.git`, `--work-tree=${root}`];
    const args = [...places, 'ls-files', '-z', ...selected];
    const { exitCode, stdout } = await askGit({ cwd: root, args, signal });
    return exitCode === 0 ? stdout : null;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
