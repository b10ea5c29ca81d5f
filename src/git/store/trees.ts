/** Trees: written from states through scratch indexes that are created each time, listed, and compared. */

import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangedFile, ChangeKind, FileMode, FileState } from '../../domain/changes/change.ts';
import { unquotedName } from '../../domain/changes/patch-text.ts';
import { decodeName, decodeNames, encodeName } from '../../files/names.ts';
import { askIn, type GitAnswer, runIn } from '../git.ts';
import type { ObjectFormat } from './object-store.ts';

/** A path and its new state; null removes it. */
export interface TreeEdit {
  readonly path: string;
  readonly state: Pick<FileState, 'mode' | 'blob'> | null;
}

/** A scratch index of the shadow repository. */
export class ScratchIndex {
  readonly #shadowDir: string;
  readonly #env: Readonly<Record<string, string>>;
  /** The all-zero id, as long as the repository's ids. Empty while the index has no entries to remove. */
  #nullId = '';
  readonly #file: string;

  /** `name` is the file's name in the shadow repository; previous contents are dropped. `env` is added to git's. */
  constructor(shadowDir: string, name: string, env: Readonly<Record<string, string>> = {}) {
    this.#shadowDir = shadowDir;
    this.#file = join(shadowDir, name);
    this.#env = { ...env, GIT_INDEX_FILE: this.#file };
    rmSync(this.#file, { force: true });
    // A killed git leaves its lock behind.
    rmSync(`${this.#file}.lock`, { force: true });
  }

  /** Starts as a copy of another index of the shadow repository, which caches its trees; without entries if there is none. */
  copy(name: string, format: ObjectFormat): void {
    const from = join(this.#shadowDir, name);
    if (existsSync(from)) copyFileSync(from, this.#file);
    this.#nullId = '0'.repeat(format === 'sha1' ? 40 : 64);
  }

  async readTree(tree: string): Promise<void> {
    this.#nullId = '0'.repeat(tree.length);
    await this.#run(['read-tree', tree]);
  }

  /** The tree of the index with these edits. */
  async editedTree(edits: readonly TreeEdit[]): Promise<string> {
    if (edits.length > 0) await this.#run(UPDATE, this.#records(edits));
    return idIn(await this.#run(WRITE));
  }

  /** Deletions come first, so that a file can replace a folder and a folder a file. */
  #records(edits: readonly TreeEdit[]): Buffer {
    const removed = edits.flatMap(({ path, state }) => (state ? [] : [`0 ${this.#nullId}\t${path}\0`]));
    const put = edits.flatMap(({ path, state }) => (state ? [`${state.mode} ${state.blob}\t${path}\0`] : []));
    return Buffer.concat([...removed, ...put].map(encodeName));
  }

  /**
   * Applies a patch. Resolves with git's answer, since a refusal is a result and not a broken machine, and with the resulting
   * tree; null if git refused.
   */
  async appliedTree(patch: Uint8Array): Promise<GitAnswer & { tree: string | null }> {
    const answer = await askIn(this.#shadowDir, APPLY, { env: this.#env, input: patch });
    return { ...answer, tree: answer.exitCode === 0 ? idIn(await this.#run(WRITE)) : null };
  }

  #run(args: readonly string[], input?: Buffer): Promise<Buffer> {
    return runIn(this.#shadowDir, args, { env: this.#env, ...(input && { input }) });
  }
}

const UPDATE = ['update-index', '-z', '--index-info'];
const APPLY = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-'];
/** Blobs may be missing, as in a partial clone: they are in a store that is not read here. */
const WRITE = ['write-tree', '--missing-ok'];

function idIn(stdout: Buffer): string {
  return stdout.toString('latin1').trim();
}

/** A path of a tree that is no folder. */
export interface ListedPath {
  readonly path: string;
  readonly mode: FileMode;
  /** Id of the blob, or of a submodule's commit. */
  readonly id: string;
}

/** `tree` may be a commit. Null if the repository does not contain it, or one of its folders. */
export async function treeEntries(gitDir: string, tree: string): Promise<ListedPath[] | null> {
  const listed = await askIn(gitDir, ['ls-tree', '-r', '-z', '--full-tree', tree]);
  if (listed.exitCode !== 0) return null;
  return [...listed.stdout.toString('latin1').matchAll(ENTRY)].map(([, mode, id = '', path = '']) => ({
    path: decodeName(Buffer.from(path, 'latin1')),
    mode: mode as FileMode,
    id,
  }));
}

/** All paths of a tree: files, links and submodules. Throws if the repository does not contain it. */
export async function pathsOfTree(shadowDir: string, tree: string): Promise<string[]> {
  return decodeNames(await runIn(shadowDir, ['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree]));
}

/** One path in two trees; null where a tree has none. */
export interface TreeDifference {
  readonly path: string;
  readonly before: TreeEdit['state'];
  readonly after: TreeEdit['state'];
}

/** `from` and `to` are trees or commits that the repository has. Renames are a deletion and an addition. */
export async function treeDifferences(gitDir: string, from: string, to: string): Promise<TreeDifference[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--ignore-submodules=none'];
  return readDifferences(await runIn(gitDir, [...args, from, to]));
}

/** Parses what `--raw -z --no-abbrev --no-renames` prints. */
export function readDifferences(listed: Buffer): TreeDifference[] {
  return [...listed.toString('latin1').matchAll(DIFFERENCE)].map(
    ([, fromMode = '', toMode = '', before = '', after = '', path = '']) => ({
      path: decodeName(Buffer.from(path, 'latin1')),
      before: stateOf(fromMode, before),
      after: stateOf(toMode, after),
    }),
  );
}

function stateOf(mode: string, blob: string): TreeEdit['state'] {
  return mode === '000000' ? null : ({ mode, blob } as TreeEdit['state']);
}

/** `mode type id TAB path NUL` */
const ENTRY = /(\d{6}) [a-z]+ ([0-9a-f]+)\t([^\0]+)\0/gy;

/** `:mode mode id id status NUL path NUL` */
const DIFFERENCE = /:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*\0([^\0]+)\0/g;

/**
 * Compares two trees: states everything that a configuration could change about the diff. Git uses some hundred bytes per line of the
 * texts it compares, so that a larger file counts as binary: below this size, even a text of nothing but line endings fits its memory.
 */
export const DIFF_TREE = [
  ...'-c core.bigFileThreshold=4m -c diff.renameLimit=1000 -c diff.orderFile= diff-tree -r --no-ext-diff --no-textconv'.split(
    ' ',
  ),
  ...'--no-color --ignore-submodules=none --submodule=short --no-abbrev'.split(' '),
];

/** Detects renames in such a comparison. */
export const FIND_RENAMES = '--find-renames=50%';

/** The files that differ between two trees. The repository has the contents of those files. */
export async function changedFilesBetween(gitDir: string, from: string, to: string): Promise<ChangedFile[]> {
  const args = [...DIFF_TREE, FIND_RENAMES, '--raw', '--numstat', from, to];
  return readChangedFiles((await runIn(gitDir, args)).toString('latin1'));
}

/** Parses what `--raw --numstat` prints, as latin1. */
export function readChangedFiles(listed: string): ChangedFile[] {
  const all = listed.split('\n').slice(0, -1);
  const raw = all.filter((line) => line.startsWith(':'));
  // Both have the files in the same order.
  const counts = all.slice(raw.length);
  return raw.map((line, at) => {
    const [facts = '', ...names] = line.split('\t');
    const [, , before, after, status = ''] = facts.split(' ');
    const [first = '', second] = names.map(nameIn);
    const [additions, deletions] = counts[at]?.split('\t') ?? [];
    return {
      path: second ?? first,
      kind: second === undefined ? kindOf(status, before === after) : 'rename',
      ...(second === undefined ? {} : { from: first }),
      additions: lines(additions),
      deletions: lines(deletions),
    };
  });
}

function kindOf(status: string, sameBlob: boolean): ChangeKind {
  if (status === 'A') return 'create';
  if (status === 'D') return 'delete';
  return sameBlob && status === 'M' ? 'mode' : 'modify';
}

function lines(count: string | undefined): number | null {
  return count === undefined || count === '-' ? null : Number(count);
}

function nameIn(quoted: string): string {
  const name = unquotedName(quoted);
  if (name === null) throw new Error(`git names a file ${quoted}`);
  return decodeName(Buffer.from(name, 'latin1'));
}
