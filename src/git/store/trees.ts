/** Trees in the shadow repository: written from states, through scratch indexes that are made anew each time. */

import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState } from '../../domain/changes/change.ts';
import { encodeName } from '../../files/names.ts';
import { askGit, type GitAnswer, runGit } from '../git.ts';
import type { ObjectFormat } from './object-store.ts';

/** The index that the baseline's tree was written from. */
export const BASE_INDEX = 'base.index';

/** A path and what it shall be; null takes it out. */
export interface TreeEdit {
  readonly path: string;
  readonly state: Pick<FileState, 'mode' | 'blob'> | null;
}

/** A scratch index of the shadow repository. */
export class ScratchIndex {
  readonly #shadowDir: string;
  readonly #env: Readonly<Record<string, string>>;
  /** Stands for no object; as long as the repository's ids, which an empty index has none to take out of. */
  #nullId = '';
  readonly #file: string;

  /** `name` is the file's name in the shadow repository; what it held before is dropped. `env` is added to git's. */
  constructor(shadowDir: string, name: string, env: Readonly<Record<string, string>> = {}) {
    this.#shadowDir = shadowDir;
    this.#file = join(shadowDir, name);
    this.#env = { ...env, GIT_INDEX_FILE: this.#file };
    rmSync(this.#file, { force: true });
    // A git that was killed leaves its lock behind.
    rmSync(`${this.#file}.lock`, { force: true });
  }

  /** Begins as another index of the shadow repository, which knows its trees. False when there is none. */
  copy(name: string, format: ObjectFormat): boolean {
    const from = join(this.#shadowDir, name);
    if (!existsSync(from)) return false;
    copyFileSync(from, this.#file);
    this.#nullId = '0'.repeat(format === 'sha1' ? 40 : 64);
    return true;
  }

  /** Begins without an entry, as a new index does. */
  empty(format: ObjectFormat): void {
    this.#nullId = '0'.repeat(format === 'sha1' ? 40 : 64);
  }

  async readTree(tree: string): Promise<void> {
    this.#nullId = '0'.repeat(tree.length);
    await this.#run(['read-tree', tree]);
  }

  /** Deletions come first, so that a file may take the place of a folder and a folder that of a file. */
  async edit(edits: readonly TreeEdit[]): Promise<void> {
    if (edits.length === 0) return;
    const removed = edits.flatMap(({ path, state }) => (state ? [] : [`0 ${this.#nullId}\t${path}\0`]));
    const put = edits.flatMap(({ path, state }) => (state ? [`${state.mode} ${state.blob}\t${path}\0`] : []));
    const input = Buffer.concat([...removed, ...put].map(encodeName));
    await runGit({ ...this.#call(['update-index', '-z', '--index-info']), input });
  }

  /** Applies a patch. Resolves with git's answer, as a refusal is a finding and not a broken machine. */
  async apply(patch: Uint8Array): Promise<GitAnswer> {
    const args = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-'];
    return askGit({ ...this.#call(args), input: patch });
  }

  /** Blobs may be missing, as in a partial clone: they are in a store that is not looked into. */
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
