/**
 * Checks a repository before git reads it. Git follows links in it, waits for a writer if it finds a pipe, reads a device or a
 * sparse file until memory is full, and believes a `.git` file that names somebody else's repository.
 */

import { type BigIntStats, type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UnusableFile } from '../../domain/errors/thrown.ts';
import { withoutTail } from '../../domain/text/shorten.ts';
import { orNone } from '../../files/failures.ts';
import { Breath } from '../../files/time-limit.ts';
import {
  MAX_INDEX_BYTES,
  MAX_POINTER_BYTES,
  MAX_RULES_BYTES,
  textOfFile,
} from '../../git/repository-file.ts';

/** The folders of a repository, as real paths. */
export interface RepositoryFolders {
  readonly gitDir: string;
  readonly commonDir: string;
  /**
   * `inside`: `.git` is the git dir. `linked`: a linked worktree, whose repository names it. `elsewhere`: a `.git` file names the
   * git dir, of which only git can tell whether it names this work tree: by `core.worktree`.
   */
  readonly kind: 'inside' | 'linked' | 'elsewhere';
}

/**
 * The folders of the repository whose `.git` is in `root`. Throws `UnusableFile` if anything that git may read there is a link,
 * neither a regular file nor absent, or too large, and if a linked worktree and its repository do not name each other.
 */
export async function checkRepositoryOf(root: string): Promise<RepositoryFolders> {
  const dotGit = join(root, '.git');
  const folders = foldersOf(dotGit);
  await checkFolders(folders);
  return folders;
}

/** Whether git would take a folder itself for a repository. */
export function looksLikeGitDir(folder: string): boolean {
  const has = (name: string) => statOf(join(folder, name)) !== null;
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

function foldersOf(dotGit: string): RepositoryFolders {
  const isFile = checkFile(dotGit, MAX_POINTER_BYTES)?.isFile() === true;
  if (!isFile) {
    if (statOf(join(dotGit, 'commondir')) !== null)
      throw new UnusableFile(join(dotGit, 'commondir'), 'is in a git dir that is no linked worktree');
    return { gitDir: dotGit, commonDir: dotGit, kind: 'inside' };
  }
  const gitDir = folderNamed(
    dotGit,
    /^gitdir: (.*)$/s.exec(withoutTail(textOfFile(dotGit) ?? '', '\r\n'))?.[1],
  );
  const common = join(gitDir, 'commondir');
  if (checkFile(common, MAX_POINTER_BYTES) === null) return { gitDir, commonDir: gitDir, kind: 'elsewhere' };
  const commonDir = folderNamed(common, textOfFile(common)?.trim());
  const backLink = join(gitDir, 'gitdir');
  checkFile(backLink, MAX_POINTER_BYTES);
  const named = resolve(gitDir, textOfFile(backLink)?.trim() ?? '');
  const isKnown = gitDir === join(commonDir, 'worktrees', basename(gitDir));
  const real = basename(named) === '.git' ? realPathOf(dirname(named)) : null;
  if (isKnown && real === dirname(dotGit)) return { gitDir, commonDir, kind: 'linked' };
  const where = isKnown
    ? `${backLink} names ${named}`
    : `${gitDir} is not among the worktrees of ${commonDir}`;
  throw new UnusableFile(
    dotGit,
    `names the linked worktree of another folder: ${where}`,
    'If it was moved, run git worktree repair',
  );
}

/** The real path of the folder that a file of a repository names. */
function folderNamed(file: string, named: string | undefined): string {
  const isPath = named !== undefined && named !== '' && !named.includes('\0');
  const folder = isPath ? realPathOf(resolve(dirname(file), named)) : null;
  if (folder === null || statOf(folder)?.isDirectory() !== true)
    throw new UnusableFile(file, 'does not name a git dir');
  return folder;
}

async function checkFolders({ gitDir, commonDir }: RepositoryFolders): Promise<void> {
  const breath = new Breath();
  const both = new Set([gitDir, commonDir]);
  for (const name of ['HEAD', 'gitdir', 'commondir']) checkFile(join(gitDir, name), MAX_POINTER_BYTES);
  for (const folder of both) {
    // Any ref may name them: `ref: ORIG_HEAD`.
    for (const name of namesIn(folder, /^[A-Z_]+$/)) checkFile(join(folder, name), MAX_INDEX_BYTES);
    for (const name of ['info', 'objects', 'refs', 'reftable', 'worktrees'])
      checkIsFolder(join(folder, name));
    for (const name of RULES) checkFile(join(folder, name), MAX_RULES_BYTES);
    await checkFolder(join(folder, 'refs'), breath, MAX_POINTER_BYTES);
  }
  for (const name of namesIn(gitDir, /^(?:index$|sharedindex\.)/))
    checkFile(join(gitDir, name), MAX_INDEX_BYTES);
  checkFile(join(commonDir, 'packed-refs'), MAX_INDEX_BYTES);
  await checkFolder(join(commonDir, 'reftable'), breath);
  await checkStores(join(commonDir, 'objects'), breath);
}

const RULES = [
  ...['config', 'config.worktree', 'shallow', 'info/exclude', 'info/attributes'],
  ...['info/grafts', 'info/sparse-checkout'],
];

/** The object store and those it borrows from. */
async function checkStores(first: string, breath: Breath): Promise<void> {
  const stores = new Set([first]);
  for (const store of stores) {
    if (stores.size > MOST_STORES) throw new UnusableFile(store, 'borrows from too many object stores');
    checkIsFolder(store);
    await checkFolder(store, breath);
    const alternates = join(store, 'info/alternates');
    for (const line of textOfFile(alternates)?.split('\n') ?? []) {
      if (line === '' || line.startsWith('#')) continue;
      // Git unquotes a path, ends it at a NUL, and takes its bytes as they are: it would read a folder that was not checked.
      if (line.startsWith('"') || /[\0\ufffd]/.test(line))
        throw new UnusableFile(alternates, 'has a path in quotes, with a NUL, or that is not UTF-8');
      stores.add(resolve(store, line));
    }
  }
}

const MOST_STORES = 64;

/** Everything in a folder. Sizes are checked only if there is a limit. */
async function checkFolder(top: string, breath: Breath, maxBytes: number | null = null): Promise<void> {
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = entriesOf(folder);
    await breath.after(entries.length);
    for (const entry of entries) {
      // Most are loose objects.
      if (entry.isFile() && maxBytes === null) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else checkFile(path, maxBytes ?? Number.POSITIVE_INFINITY);
    }
  }
}

function checkIsFolder(path: string): void {
  const stat = checkFile(path, Number.POSITIVE_INFINITY);
  if (stat?.isFile()) throw new UnusableFile(path, 'is a file, not a folder');
}

function checkFile(path: string, maxBytes: number): BigIntStats | null {
  const stat = statOf(path);
  if (stat === null || stat.isDirectory()) return stat;
  if (stat.isSymbolicLink())
    throw new UnusableFile(
      path,
      'is a link, and links in a repository are not followed',
      'Put what it leads to in its place',
    );
  if (!stat.isFile()) throw new UnusableFile(path, 'is not a file');
  if (stat.size > maxBytes) throw new UnusableFile(path, 'is too large for a file of its kind');
  return stat;
}

function namesIn(folder: string, pattern: RegExp): string[] {
  return entriesOf(folder).flatMap(({ name }) => (pattern.test(name) ? [name] : []));
}

/** Empty if it is not a folder or cannot be read: git itself reports what it is missing. */
function entriesOf(folder: string): Dirent[] {
  return orNone(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

function statOf(path: string): BigIntStats | null {
  return orNone(() => lstatSync(path, { bigint: true }));
}

function realPathOf(path: string): string | null {
  return orNone(() => realpathSync(path));
}
