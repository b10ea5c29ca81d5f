/**
 * The user's index as it was at the start, read from a copy. It says which paths are tracked and which of them need not
 * be hashed, because git saw them unchanged.
 */

import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { FileMode } from '../../../domain/changes/change.ts';
import { decodeName, encodeName } from '../../../files/names.ts';
import { runGit } from '../../../git/git.ts';
import { copyIfThere, MAX_INDEX_BYTES } from '../../../git/repository-file.ts';

/** The user's index as it was when the run began. */
export interface BaselineIndex {
  /** By path. An unmerged path has an entry with `blob` null. */
  readonly entries: ReadonlyMap<string, IndexEntry>;
}

/** One entry of the user's index. */
export interface IndexEntry {
  readonly mode: FileMode;
  readonly blob: string | null;
  /** Left out of a sparse checkout. */
  readonly skipWorktree: boolean;
  /** Git has seen the file with this content, and would see any change to it by its stat alone. */
  readonly settled: boolean;
  /** Set where the file was written within the second in which the index was: git's own comparison ends at seconds. */
  readonly recent: { readonly mtimeNs: bigint; readonly ctimeNs: bigint } | null;
  /** Bytes on disk and inode number, their low 32 bits, as git saw them; 0 where it knew nothing. */
  readonly size: number;
  readonly ino: number;
}

/** Name of the copy in the shadow repository; there is none when there was no index. */
export const BASELINE_INDEX = 'start.index';

/**
 * Copies the index of `gitDir` (and the shared index that it may be split from) into the bare repository `shadowDir` and
 * lists the copy there. An absent index is an empty one.
 */
export async function readBaselineIndex(gitDir: string, shadowDir: string): Promise<BaselineIndex> {
  return listIndex(shadowDir, copyIndex(gitDir, shadowDir, BASELINE_INDEX));
}

/** Lists the copy that an earlier process has made. */
export async function readKeptIndex(shadowDir: string): Promise<BaselineIndex> {
  const kept = statSync(join(shadowDir, BASELINE_INDEX), { bigint: true, throwIfNoEntry: false });
  return listIndex(shadowDir, kept ? kept.mtimeNs : null);
}

async function listIndex(shadowDir: string, mtimeNs: bigint | null): Promise<BaselineIndex> {
  if (mtimeNs === null) return { entries: new Map() };
  const entries = new Map<string, IndexEntry>();
  let rest = '';
  const take = (text: string, isLast: boolean) => {
    let end = 0;
    for (const found of text.matchAll(ENTRY)) {
      const next = found.index + found[0].length;
      // What no other entry follows may go on in the next piece.
      if (!isLast && !/\d/.test(text.charAt(next))) break;
      const [path, entry] = entryOf(found, mtimeNs);
      entries.set(path, entry);
      end = next;
    }
    rest = text.slice(end);
  };
  // Piece by piece: the listing of 200,000 files has 50 MB.
  await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'ls-files', '--stage', '--debug', '-z'],
    env: { GIT_INDEX_FILE: join(shadowDir, BASELINE_INDEX) },
    onOutput: (piece) => take(rest + piece.toString('latin1'), false),
  });
  take(rest, true);
  return { entries };
}

/** Which of these paths the index holds as text with CRLF, so that git leaves their line endings alone. */
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
  for (const [, path] of listed.toString('latin1').matchAll(/i\/(?:crlf|mixed) [^\t]*\t([^\0]*)\0/g)) {
    crlf.add(decodeName(Buffer.from(path ?? '', 'latin1')));
  }
  return crlf;
}

/**
 * Copies index and shared indexes from one git dir to another. Returns the index's mtime in ns; null when there is none.
 * The copy is no younger: git, and whoever reads it later, would believe files that changed in the very moment the real
 * one was written.
 */
export function copyIndex(
  fromGitDir: string,
  toGitDir: string,
  name: string,
  fromName = 'index',
): bigint | null {
  const from = join(fromGitDir, fromName);
  const stat = statSync(from, { bigint: true, throwIfNoEntry: false });
  if (!copyIfThere(from, join(toGitDir, name), MAX_INDEX_BYTES)) return null;
  // Taken before the copy: should the index have been replaced meanwhile, what was copied is younger, and trusted less.
  const mtimeNs = stat?.mtimeNs ?? 0n;
  setMtime(join(toGitDir, name), mtimeNs);
  for (const shared of readdirSync(fromGitDir)) {
    if (shared.startsWith('sharedindex.'))
      copyIfThere(join(fromGitDir, shared), join(toGitDir, shared), MAX_INDEX_BYTES);
  }
  return mtimeNs;
}

/** Node sets times as floating seconds, so the next lower microsecond: an older index is only trusted less. */
export function setMtime(path: string, mtimeNs: bigint): void {
  const seconds = Number(mtimeNs / 1000n - 1n) / 1e6;
  utimesSync(path, seconds, seconds);
}

const INTENT_TO_ADD = 0x2000_0000;
const SKIP_WORKTREE = 0x4000_0000;
/** The user has told git not to look. */
const ASSUME_UNCHANGED = 0x8000;

/**
 * One entry of `ls-files --stage --debug -z`: `mode blob stage TAB path NUL` and five lines of what git knows of the file.
 * Git keeps its format free to change; an entry in another form is read without its stat, so that the file is hashed.
 */
const ENTRY = /(\d{6}) ([0-9a-f]+) (\d)\t([^\0]+)\0((?: {2}[a-z]+: [^\n]*\n)*)/gy;
const DEBUG =
  /ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n {2}uid: [^\n]*\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/;

const SECOND_NS = 1_000_000_000n;

function entryOf(
  [, mode = '', blob = '', stage, rawPath = '', debug = '']: RegExpMatchArray,
  indexMtimeNs: bigint,
): [path: string, entry: IndexEntry] {
  const known = DEBUG.exec(debug);
  const flags = Number.parseInt(known?.[7] ?? '0', 16);
  const merged = stage === '0' && (flags & INTENT_TO_ADD) === 0;
  const entry = {
    mode: MODES.get(mode) ?? (mode as FileMode),
    blob: merged ? ownText(blob) : null,
    skipWorktree: (flags & SKIP_WORKTREE) !== 0,
    size: Number(known?.[6] ?? 0),
    ino: Number(known?.[5] ?? 0),
  };
  const ctimeNs = BigInt(known?.[1] ?? 0) * SECOND_NS + BigInt(known?.[2] ?? 0);
  const mtimeNs = BigInt(known?.[3] ?? 0) * SECOND_NS + BigInt(known?.[4] ?? 0);
  const isLookedAt = (flags & ASSUME_UNCHANGED) === 0;
  const settled = known !== null && isLookedAt && mtimeNs < indexMtimeNs && isTrusted(entry);
  const recent = settled && ctimeNs / SECOND_NS >= indexMtimeNs / SECOND_NS ? { mtimeNs, ctimeNs } : null;
  return [decodeName(Buffer.from(rawPath, 'latin1')), { ...entry, settled, recent }];
}

/** One text for all files of a mode. */
const MODES = new Map<string, FileMode>([
  ['100644', '100644'],
  ['100755', '100755'],
  ['120000', '120000'],
  ['160000', '160000'],
]);

/** A copy: what a pattern finds would keep all of the text that it was found in. */
function ownText(found: string): string {
  return Buffer.from(found, 'latin1').toString('latin1');
}

function isTrusted({ mode, blob, skipWorktree, size }: Omit<IndexEntry, 'settled' | 'recent'>): boolean {
  // Git marks an entry that it does not trust by size 0.
  return blob !== null && !skipWorktree && mode !== '160000' && (size > 0 || isEmptyBlob(blob));
}

function isEmptyBlob(blob: string): boolean {
  return blob.startsWith('e69de29bb2d1') || blob.startsWith('473a0f4c3be8');
}
