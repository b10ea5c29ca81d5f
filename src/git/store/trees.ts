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
    await this.#run(['read-tree', tree]);
  }

  /** Deletions come first, so that a file can replace a folder and a folder a file. */
  async edit(edits: readonly TreeEdit[]): Promise<void> {
    if (edits.length === 0) return;
    const removed = edits.flatMap(({ path, state }) => (state ? [] : [`0 ${this.#nullId}\t${path}\0`]));
    const put = edits.flatMap(({ path, state }) => (state ? [`${state.mode} ${state.blob}\t${path}\0`] : []));
    const input = Buffer.concat([...removed, ...put].map(encodeName));
    await runGit({ ...this.#call(['update-index', '-z', '--index-info']), input });
  }

  /** Applies a patch. Resolves with git's answer, since a refusal is a result and not a broken machine. */
  async apply(patch: Uint8Array): Promise<GitAnswer> {
    const args = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-'];
    return askGit({ ...this.#call(args), input: patch });
  }

  /** Blobs may be missing, as in a partial clone: they are in a store that is not read here. */
  async writeTree(): Promise<string> {
    return (await this.#run(['write-tree', '--missing-ok'])).toString('latin1').trim();
  }

  #run(args: readonly string[]): Promise<Buffer> {
    return runGit(this.#call(args));
  }

  #call(args: readonly string[]) {
    return { cwd: this.#shadowDir, args: [`--git-dir=${this.#shadowDir}`, ...args], env: this.#env };
  }
}
