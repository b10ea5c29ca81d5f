/**
 * The files that are still as in the user's index at the start. Git compares their stats, much faster than we could one by
 * one, and reads nothing: neither contents nor attributes nor submodules.
 */

import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeName, encodeName } from '../../../files/names.ts';
import { viewing } from '../../../files/tree-view.ts';
import { askGit, runGit } from '../../../git/git.ts';
import { BASELINE_INDEX, type BaselineIndex } from './index/baseline-index.ts';
import type { RecentFile } from './index/index-entries.ts';

/** Which files git considers unchanged by their stat alone. */
export interface StatUnchanged {
  /** There are so many files that git is asked every time. */
  readonly isMany: boolean;
  /** Whether git's answer can be trusted for the path. */
  isSettled(path: string): boolean;
  /** The same for the names in a folder, `''` for the root. */
  settledIn(folder: string): (name: string) => boolean;
  /**
   * Paths that are gone or no longer have the stat recorded in the index; some of them may not be settled. All paths if git
   * could not examine one: it treats a file in an unreadable folder as unchanged.
   */
  changed(): Promise<ReadonlySet<string>>;
}

/** Number of files that can be examined one by one in the time git needs to start. */
export const MANY_FILES = 2_000;

interface Watching {
  readonly root: string;
  readonly shadowDir: string;
  readonly manyFiles: number;
  /** The executable bit of the work tree is significant. */
  readonly fileMode: boolean;
}

/** `index` is the one in `shadowDir`. */
export function findStatUnchanged(
  { root, shadowDir, fileMode, manyFiles }: Watching,
  { entries }: BaselineIndex,
): StatUnchanged {
  const watched = join(shadowDir, 'watched.index');
  const recent = entries.recent();
  let made: Promise<boolean> | null = null;
  return {
    isMany: entries.size >= manyFiles,
    isSettled: (path) => entries.isSettled(path),
    settledIn: (folder) => entries.settledIn(folder),
    async changed() {
      made ??= makeIndex(shadowDir, watched, entries);
      if (!(await made)) return new Set();
      const { exitCode, stdout, stderr } = await askGit({
        cwd: shadowDir,
        args: [
          ...['-c', `core.fileMode=${fileMode}`, '-c', 'core.bare=false', `--git-dir=${shadowDir}`],
          ...['diff-files', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=all'],
        ],
        env: { GIT_INDEX_FILE: watched, GIT_WORK_TREE: root },
      });
      if (exitCode !== 0) throw new Error(`git diff-files failed (${exitCode}): ${stderr}`);
      if (stderr !== '') return new Set(entries.keys());
      return new Set([...decodeName(stdout).split('\0'), ...changedWithinTheSecond(root, recent)]);
    },
  };
}

/** The files git may have missed: it stores times in nanoseconds but compares seconds. */
function changedWithinTheSecond(root: string, files: readonly RecentFile[]): string[] {
  return viewing(root, (view) =>
    files.flatMap(({ path, mtimeNs, ctimeNs }) => {
      const look = view.lookAt(path);
      const isSame = look.status === 'seen' && look.stat.mtimeNs === mtimeNs && look.stat.ctimeNs === ctimeNs;
      return isSame ? [] : [path];
    }),
  );
}

/**
 * Makes a copy that is younger than all its files, so that git trusts their stats, and without submodules, so that it does
 * not look into them. False if there was no index.
 */
async function makeIndex(
  shadowDir: string,
  path: string,
  entries: BaselineIndex['entries'],
): Promise<boolean> {
  rmSync(path, { force: true });
  if (!existsSync(join(shadowDir, BASELINE_INDEX))) return false;
  copyFileSync(join(shadowDir, BASELINE_INDEX), path);
  // Mode 0 removes an entry.
  const lines = entries
    .withoutFile()
    .flatMap(([name, { mode, blob }]) =>
      mode === '160000' && blob !== null ? [encodeName(`0 ${'0'.repeat(blob.length)}\t${name}\0`)] : [],
    );
  if (lines.length === 0) return true;
  await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'update-index', '-z', '--index-info'],
    env: { GIT_INDEX_FILE: path },
    input: Buffer.concat(lines),
  });
  return true;
}
