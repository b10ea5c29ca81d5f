/**
 * The files that are still as the user's index had them at the start. Git compares their stats, in a fraction of the time
 * that it takes to look at them one by one from here, and reads nothing: neither contents nor attributes nor submodules.
 */

import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeName, encodeName } from '../../../files/names.ts';
import { viewing } from '../../../files/tree-view.ts';
import { askGit, runGit } from '../../../git/git.ts';
import { BASELINE_INDEX, type BaselineIndex } from './baseline-index.ts';
import type { RecentFile } from './index-entries.ts';

/** Which files git takes for unchanged by their stat alone. */
export interface StatUnchanged {
  /** There are so many that git is asked at every look. */
  readonly isMany: boolean;
  /** Whether git's answer counts for the path. */
  isSettled(path: string): boolean;
  /** The same for the names in a folder, `''` for the root. */
  settledIn(folder: string): (name: string) => boolean;
  /**
   * Paths that are gone or no longer have the stat of the index; among them may be some that are not settled. All of them
   * where git could not look at one: it passes over a file in a closed folder as if it had not changed.
   */
  changed(): Promise<ReadonlySet<string>>;
}

/** Files that are looked at one by one in the time that git needs to start. */
export const MANY_FILES = 2_000;

interface Watching {
  readonly root: string;
  readonly shadowDir: string;
  readonly manyFiles: number;
  /** The executable bit of the work tree counts. */
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

/** Those that git may have passed over: the times that it keeps have nanoseconds, but it compares seconds. */
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
 * A copy that is younger than all its files, so that git takes their stats for the whole truth, and without submodules, so
 * that it does not look into them. False when there was no index.
 */
async function makeIndex(
  shadowDir: string,
  path: string,
  entries: BaselineIndex['entries'],
): Promise<boolean> {
  rmSync(path, { force: true });
  if (!existsSync(join(shadowDir, BASELINE_INDEX))) return false;
  copyFileSync(join(shadowDir, BASELINE_INDEX), path);
  // Mode 0 takes an entry out.
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
