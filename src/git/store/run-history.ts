/** Keeps what a run did as commits in its shadow repository, and asks git which of them wrote or removed a line. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askIn } from '../git.ts';
import type { TreeEdit } from './trees.ts';

/** A commit on top of the one before. */
export interface NewCommit {
  /** Printable text. */
  readonly message: string;
  readonly edits: readonly TreeEdit[];
}

const REF = 'refs/patchsmith/run';

/**
 * Replaces the history in this repository, and returns the ids of the commits. Equal commits have equal ids. Null if git does not
 * accept a path or an object. Trees and commits go into a pack of their own: in a git dir that reads the objects of another one,
 * nothing is written to those.
 */
export async function writeHistory(gitDir: string, commits: readonly NewCommit[]): Promise<string[] | null> {
  rmSync(join(gitDir, 'refs/patchsmith'), { recursive: true, force: true });
  const imported = await askIn(gitDir, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], {
    input: Buffer.from(commits.map(importedAs).join('')),
  });
  if (imported.exitCode === 0) return imported.stdout.toString('latin1').match(/^[0-9a-f]+$/gm) ?? [];
  for (const name of readdirSync(gitDir))
    if (name.startsWith('fast_import_crash_')) rmSync(join(gitDir, name), { force: true });
  return null;
}

/** Which commit a range of lines belongs to; lines count from 1. */
export interface BlamedLines {
  readonly commit: string;
  readonly from: number;
  readonly count: number;
}

/** The commits that wrote the lines of a file as it is in this one. Null if git cannot say. */
export function writersOf(gitDir: string, commit: string, path: string): Promise<BlamedLines[] | null> {
  return blame(gitDir, [commit], path);
}

/** The last commits up to `end` that still had the lines of a file as it is in `start`. Null if git cannot say. */
export function lastKeepersOf(
  gitDir: string,
  { start, end }: { start: string; end: string },
  path: string,
): Promise<BlamedLines[] | null> {
  return blame(gitDir, ['--reverse', `${start}..${end}`], path);
}

async function blame(
  gitDir: string,
  revisions: readonly string[],
  path: string,
): Promise<BlamedLines[] | null> {
  const { exitCode, stdout } = await askIn(gitDir, [...BLAME, ...revisions, '--', nameInHistory(path)]);
  if (exitCode !== 0) return null;
  // Every other line begins with a word.
  return [...stdout.toString('latin1').matchAll(/^([0-9a-f]{40,}) \d+ (\d+) (\d+)$/gm)].map(
    ([, commit = '', from, count]) => ({ commit, from: Number(from), count: Number(count) }),
  );
}

/** `--incremental` is the form of `--porcelain` that does not repeat the lines themselves. */
const BLAME = '-c blame.ignoreRevsFile= -c diff.renameLimit=1000 blame --incremental --no-textconv'.split(
  ' ',
);

/** As `git fast-import` reads it, which then prints its id. Dates are the places of the commits, so that ids are reproducible. */
function importedAs({ message, edits }: NewCommit, at: number): string {
  // A file can replace a folder and a folder a file.
  const gone = edits.flatMap(({ path, state }) => (state ? [] : [`D ${quoted(path)}`]));
  const put = edits.flatMap(({ path, state }) =>
    state ? [`M ${state.mode} ${state.blob} ${quoted(path)}`] : [],
  );
  const text = [
    `commit ${REF}`,
    `mark :${at + 1}`,
    `committer patchsmith <> ${at} +0000`,
    `data ${Buffer.byteLength(message)}`,
    message,
    ...gone,
    ...put,
  ];
  return `${text.join('\n')}\n\nget-mark :${at + 1}\n`;
}

function quoted(path: string): string {
  const escaped = nameInHistory(path).replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

/** Arguments of programs are UTF-8 here: other bytes of a name are written as `%FF`, and `%` as `%25`. */
function nameInHistory(path: string): string {
  return path.replace(
    /%|[\udc80-\udcff]/gu,
    (char) => `%${(char.charCodeAt(0) & 0xff).toString(16).toUpperCase()}`,
  );
}
