/** Trees in the shadow repository: written from states, through scratch indexes that are created each time. */

import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState } from '../../domain/changes/change.ts';
import { encodeName } from '../../files/names.ts';
import { askGit, type GitAnswer, runGit } from '../git.ts';
import type { ObjectFormat } from './object-store.ts';

/** The index that the baseline's tree was written from. */
export const BASE_INDEX = 'base.index';

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

  /** Starts as a copy of another index of the shadow repository, which caches its trees. False if there is none. */
  copy(name: string, format: ObjectFormat): boolean {
    const from = join(this.#shadowDir, name);
    if (!existsSync(from)) return false;
    copyFileSync(from, this.#file);
    this.#nullId = '0'.repeat(format === 'sha1' ? 40 : 64);
    return true;
  }

  /** Starts without entries, like a new index. */
  empty(format: ObjectFormat): void {
    this.#nullId = '0'.repeat(format === 'sha1' ? 40 : 64);
  }

  async readTree(tree: string): Promise<void> {
    this.#nullId = '0'.repeat(tree.length);
    await runGit(this.#call(['read-tree', tree]));
  }

  /** The tree of the index with these edits. */
  async editedTree(edits: readonly TreeEdit[]): Promise<string> {
    if (edits.length > 0) await runGit({ ...this.#call(UPDATE), input: this.#records(edits) });
    return idIn(await runGit(this.#call(WRITE)));
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
    const answer = await askGit({ ...this.#call(APPLY), input: patch });
    return { ...answer, tree: answer.exitCode === 0 ? idIn(await runGit(this.#call(WRITE))) : null };
  }

  #call(args: readonly string[]) {
    return { cwd: this.#shadowDir, args: [`--git-dir=${this.#shadowDir}`, ...args], env: this.#env };
  }
}

const UPDATE = ['update-index', '-z', '--index-info'];
const APPLY = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-'];
/** Blobs may be missing, as in a partial clone: they are in a store that is not read here. */
const WRITE = ['write-tree', '--missing-ok'];

function idIn(stdout: Buffer): string {
  return stdout.toString('latin1').trim();
}
