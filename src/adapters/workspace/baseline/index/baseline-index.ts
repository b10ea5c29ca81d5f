/**
 * The user's index as it was at the start, read from a copy. It lists the tracked paths, and which of them need no hashing
 * because git saw them unchanged.
 */

import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableFile } from '../../../../domain/errors/unusable-file.ts';
import { decodeName, encodeName } from '../../../../files/names.ts';
import { runGit } from '../../../../git/git.ts';
import { copyIfThere, MAX_INDEX_BYTES } from '../../../../git/repository-file.ts';
import type { ObjectFormat } from '../../../../git/store/object-store.ts';
import { IndexEntries } from './index-entries.ts';
import { IndexRecords } from './index-records.ts';
import { listedIndex } from './listed-index.ts';

/** The user's index at the start. */
export interface BaselineIndex {
  readonly entries: IndexEntries;
}

/** Name of the copy in the shadow repository; absent if there was no index. */
export const BASELINE_INDEX = 'start.index';

/**
 * Copies the index of `gitDir` (and the shared index that it may be split from) into the bare repository `shadowDir` and
 * reads the copy there. An absent index is an empty one.
 */
export async function readBaselineIndex(
  gitDir: string,
  shadowDir: string,
  format: ObjectFormat,
): Promise<BaselineIndex> {
  const mtimeNs = copyIndex(gitDir, shadowDir, BASELINE_INDEX);
  return readCopy({ shadowDir, format, mtimeNs, from: join(gitDir, 'index') });
}

/** Reads the copy that an earlier process has made. */
export async function readKeptIndex(shadowDir: string, format: ObjectFormat): Promise<BaselineIndex> {
  const from = join(shadowDir, BASELINE_INDEX);
  const kept = statSync(from, { bigint: true, throwIfNoEntry: false });
  return readCopy({ shadowDir, format, mtimeNs: kept ? kept.mtimeNs : null, from });
}

interface Copy {
  readonly shadowDir: string;
  readonly format: ObjectFormat;
  /** Of the index that it was copied from; null when there was none. */
  readonly mtimeNs: bigint | null;
  /** The file to name when it cannot be used. */
  readonly from: string;
}

async function readCopy({ shadowDir, format, mtimeNs, from }: Copy): Promise<BaselineIndex> {
  if (mtimeNs === null) return { entries: IndexEntries.none() };
  const idBytes = format === 'sha1' ? 20 : 32;
  const records =
    IndexRecords.of(readFileSync(join(shadowDir, BASELINE_INDEX)), idBytes) ??
    IndexRecords.of((await listedByGit(shadowDir, idBytes)) ?? Buffer.alloc(0), idBytes);
  if (records === null) throw new UnusableFile(from, 'holds paths or modes that no work tree can have');
  return { entries: new IndexEntries(records, mtimeNs) };
}

/** An index in a form that is left to git, in the form that is read here; null when its listing has parts of another form. */
async function listedByGit(shadowDir: string, idBytes: number): Promise<Buffer | null> {
  const index = listedIndex(idBytes);
  // In chunks: the listing of 200,000 files takes 50 MB.
  await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'ls-files', '--stage', '--debug', '-z'],
    env: { GIT_INDEX_FILE: join(shadowDir, BASELINE_INDEX) },
    onOutput: (piece) => index.add(piece),
  });
  return index.bytes();
}

/** Which of these paths the index stores as text with CRLF, so that git leaves their line endings alone. */
export async function crlfInIndex(
  index: BaselineIndex,
  paths: readonly string[],
  shadowDir: string,
): Promise<ReadonlySet<string>> {
  const git = { cwd: shadowDir, env: { GIT_INDEX_FILE: join(shadowDir, 'eol.index') } };
  const lines = paths.flatMap((path) => {
    const entry = index.entries.get(path);
    return entry?.blob ? [encodeName(`${entry.mode} ${entry.blob}\t${path}\0`)] : [];
  });
  rmSync(git.env.GIT_INDEX_FILE, { force: true });
  await runGit({
    ...git,
    args: [`--git-dir=${shadowDir}`, 'update-index', '-z', '--index-info'],
    input: Buffer.concat(lines),
  });
  const listed = await runGit({ ...git, args: [`--git-dir=${shadowDir}`, 'ls-files', '--eol', '-z'] });
  const crlf = new Set<string>();
  for (const entry of listed.toString('latin1').split('\0')) {
    const path = /^i\/(?:crlf|mixed) [^\t]*\t(.*)$/s.exec(entry)?.[1];
    if (path !== undefined) crlf.add(decodeName(Buffer.from(path, 'latin1')));
  }
  return crlf;
}

/**
 * Copies index and shared indexes from one git dir to another. Returns the index's mtime in ns; null if there is none. The copy
 * keeps that mtime: with a later one, git and other readers would trust files that changed at the moment when the real index was
 * written.
 */
export function copyIndex(
  fromGitDir: string,
  toGitDir: string,
  name: string,
  fromName = 'index',
): bigint | null {
  const from = join(fromGitDir, fromName);
  const stat = statSync(from, { bigint: true, throwIfNoEntry: false });
  if (!copyIfThere(from, join(toGitDir, name), { maxBytes: MAX_INDEX_BYTES })) return null;
  // Read before the copy: if the index is replaced in between, the copied one is younger and trusted less.
  const mtimeNs = stat?.mtimeNs ?? 0n;
  setMtime(join(toGitDir, name), mtimeNs);
  for (const shared of readdirSync(fromGitDir)) {
    if (shared.startsWith('sharedindex.'))
      copyIfThere(join(fromGitDir, shared), join(toGitDir, shared), { maxBytes: MAX_INDEX_BYTES });
  }
  return mtimeNs;
}

/**
 * Node sets times as floating-point seconds, so this rounds down to the microsecond: an older index is only trusted less.
 */
export function setMtime(path: string, mtimeNs: bigint): void {
  const seconds = Number(mtimeNs / 1000n - 1n) / 1e6;
  utimesSync(path, seconds, seconds);
}
