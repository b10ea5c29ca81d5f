/**
 * Checks the files of a repository before git reads them: git waits for a writer if it finds a pipe, and reads a device or a
 * sparse file until memory is full.
 */

import { type BigIntStats, type Dirent, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UnusableFile } from '../../domain/errors/unusable-file.ts';
import { Breath } from '../../files/time-limit.ts';
import {
  MAX_INDEX_BYTES,
  MAX_POINTER_BYTES,
  MAX_RULES_BYTES,
  textOfFile,
} from '../../git/repository-file.ts';

/** Throws `UnusableFile` if anything git may start from is neither a regular file nor absent, or is too large. */
export async function checkRepositoryOf(start: string): Promise<void> {
  for (let folder = start; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    if (statOf(dotGit) !== null) {
      const gitDir = gitDirOf(dotGit);
      await checkGitDir(gitDir);
      if (statOf(join(gitDir, 'HEAD')) !== null) return;
    }
    // Git checks whether the folder is itself a repository.
    for (const name of ['HEAD', 'commondir']) checkFile(join(folder, name), Number.POSITIVE_INFINITY);
    if (folder === dirname(folder)) return;
  }
}

/** A linked worktree and a submodule have a file there that names the folder. */
function gitDirOf(dotGit: string): string {
  if (statOf(dotGit)?.isDirectory()) return dotGit;
  const named = /^gitdir: (.*?)\n*$/s.exec(textOfFile(dotGit) ?? '')?.[1];
  return named === undefined || named.includes('\0') ? dotGit : resolve(dirname(dotGit), named);
}

async function checkGitDir(gitDir: string): Promise<void> {
  const breath = new Breath();
  const named = textOfFile(join(gitDir, 'commondir'))?.trim();
  const commonDir = named && !named.includes('\0') ? resolve(gitDir, named) : gitDir;
  for (const name of ['HEAD', 'gitdir']) checkFile(join(gitDir, name), MAX_POINTER_BYTES);
  for (const name of [
    'config',
    'config.worktree',
    'shallow',
    'info/exclude',
    'info/attributes',
    'info/grafts',
    'info/sparse-checkout',
  ])
    for (const folder of [gitDir, commonDir]) checkFile(join(folder, name), MAX_RULES_BYTES);
  for (const name of namesIn(gitDir, /^(?:index$|sharedindex\.)/))
    checkFile(join(gitDir, name), MAX_INDEX_BYTES);
  checkFile(join(commonDir, 'packed-refs'), MAX_INDEX_BYTES);
  for (const folder of new Set([gitDir, commonDir]))
    await checkFolder(join(folder, 'refs'), breath, MAX_POINTER_BYTES);
  await checkFolder(join(commonDir, 'reftable'), breath);
  await checkStores(join(commonDir, 'objects'), breath);
}

/** The object store and those it borrows from. */
async function checkStores(first: string, breath: Breath): Promise<void> {
  const stores = new Set([first]);
  for (const store of stores) {
    if (stores.size > MOST_STORES) throw new UnusableFile(store, 'borrows from too many object stores');
    const alternates = textOfFile(join(store, 'info/alternates'));
    await checkFolder(store, breath);
    for (const line of alternates?.split('\n') ?? [])
      if (line !== '' && !line.startsWith('#') && !line.includes('\0')) stores.add(resolve(store, line));
  }
}

const MOST_STORES = 64;

/** Everything in a folder whose links git follows. Sizes are checked only if there is a limit. */
async function checkFolder(top: string, breath: Breath, maxBytes: number | null = null): Promise<void> {
  const folders = [top];
  const linked = new Set<string>();
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = entriesOf(folder);
    await breath.after(entries.length);
    for (const entry of entries) {
      // Most are loose objects.
      if (entry.isFile() && maxBytes === null) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        folders.push(path);
        continue;
      }
      const stat = checkFile(path, maxBytes ?? Number.POSITIVE_INFINITY);
      if (!stat?.isDirectory()) continue;
      const id = `${stat.dev}:${stat.ino}`;
      if (!linked.has(id)) folders.push(path);
      linked.add(id);
    }
  }
}

function checkFile(path: string, maxBytes: number): BigIntStats | null {
  const stat = statOf(path);
  if (stat === null || stat.isDirectory()) return stat;
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
  return orNone(() => statSync(path, { bigint: true }));
}

function orNone<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
