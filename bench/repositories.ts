/** Repositories to work in: real ones, in a temporary folder, committed and clean. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The file that scripts edit: a first line that counts, and text to be read. */
export const EDITED = 'src/edited.ts';
const FILES_A_FOLDER = 100;

/** A repository of `files` small files, 100 a folder. Returns its real path. */
export function makeRepository(files: number): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `patchsmith-bench-${files}-`)));
  for (let at = 0; at < files - 1; at += 1) {
    const folder = join(root, 'src', `part-${Math.floor(at / FILES_A_FOLDER)}`);
    if (at % FILES_A_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.ts`), textOf(at));
  }
  writeFileSync(join(root, EDITED), `export const count = 0;\n${textOf(0)}`);
  writeFileSync(join(root, '.gitignore'), 'node_modules/\n*.log\n');
  git(root, 'init', '--quiet', '--initial-branch=main');
  git(root, 'add', '--all');
  git(
    root,
    '-c',
    'user.name=Bench',
    '-c',
    'user.email=bench@example.invalid',
    'commit',
    '--quiet',
    '-m',
    'Begin',
  );
  // Like a clone.
  git(root, 'repack', '-a', '-d', '--quiet');
  return root;
}

/** Puts the repository back to its commit, with an index that git trusts. */
export function restore(root: string): void {
  git(root, 'checkout', '--quiet', '--force', 'HEAD', '--', '.');
  git(root, 'clean', '--quiet', '--force', '-d');
}

function git(root: string, ...args: string[]): void {
  execFileSync('git', ['-c', 'gc.auto=0', ...args], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

function textOf(seed: number): string {
  const line = (at: number) =>
    `export const value${at} = ${seed + at}; // one of the lines that make a file\n`;
  return Array.from({ length: 12 }, (_, at) => line(at)).join('');
}
