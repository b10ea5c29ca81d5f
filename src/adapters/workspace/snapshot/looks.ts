/**
 * Scans the work tree by the current rules. Keeps what a full scan leaves for the next one: the folders that it read, and the
 * rules that it used.
 */

import type { StatUnchanged } from '../baseline/stat-unchanged.ts';
import type { KnownFiles } from './file-states.ts';
import type { IsExpected } from './seed.ts';
import { type Earlier, walk, walkAll } from './walk.ts';
import type { Walked, WalkedTree } from './walked-tree.ts';

/** What is scanned, and what git knows about it without a scan. */
export interface LooksParts {
  readonly tree: WalkedTree;
  readonly settled: StatUnchanged;
  readonly known: KnownFiles;
}

/** Maximum number of full scans within one capture, so that a program that keeps rewriting rule files cannot hold it up. */
const MAX_LOOKS = 4;

/** Scans, one at a time. A full scan is repeated if it finds rules that change what it should have seen. */
export class Looks {
  readonly #parts: LooksParts;
  readonly #folders: Earlier['folders'] = new Map();
  /** Paths that are not as at the start, or were not: other attributes turn them otherwise. */
  readonly #touched = new Set<string>();
  /** The rules that the last full scan used; none for the first scan of a resuming process. */
  #generation = -1;
  #attributes = 0;
  #hadNewRules = false;

  constructor(parts: LooksParts) {
    this.#parts = parts;
  }

  /** The last recorded full scan was the first one to use its rules. */
  get hadNewRules(): boolean {
    return this.#hadNewRules;
  }

  /** The current rules differ from those of the last recorded full scan. */
  get hasNewRules(): boolean {
    return this.#parts.tree.rules.generation !== this.#generation;
  }

  /** The path is no longer as at the start. */
  touch(path: string): void {
    this.#touched.add(path);
  }

  /** The first look, after which files that are as in the index are known. */
  async first(clock: bigint, isExpected: IsExpected): Promise<Walked> {
    const { tree, settled } = this.#parts;
    const believed = isExpected === null ? settled : this.#where(isExpected);
    if (settled.isMany) return walkAll(tree, { settled: believed, folders: this.#folders, clock });
    const [walked, changed] = await Promise.all([walk(tree, ''), settled.changed()]);
    return { ...walked, isUnchanged: (path) => believed.isSettled(path) && !changed.has(path) };
  }

  /** Scans one path and everything below it; `''` is the whole tree. */
  async at(scope: string, clock: bigint): Promise<Walked> {
    const { rules } = this.#parts.tree;
    if (scope !== '') return this.#once(scope, clock);
    rules.refresh();
    for (let looks = 1; ; looks += 1) {
      const { generation, attributesGeneration } = rules;
      if (this.hasNewRules) this.#folders.clear();
      if (attributesGeneration !== this.#attributes)
        for (const path of this.#touched) this.#parts.known.unsettle(path);
      const walked = await this.#once(scope, clock);
      // A rule file found on the way may apply to files that were seen before it.
      if (rules.generation === generation || looks === MAX_LOOKS) return walked;
    }
  }

  /** A full scan has used the current rules. */
  keepRules(): void {
    const { generation, attributesGeneration } = this.#parts.tree.rules;
    this.#hadNewRules = this.hasNewRules;
    this.#generation = generation;
    this.#attributes = attributesGeneration;
  }

  /** Git's answer counts only for paths that are expected to be as in the index. */
  #where(isExpected: NonNullable<IsExpected>): StatUnchanged {
    const { settled, known } = this.#parts;
    const isSettled = (path: string) => {
      const entry = settled.isSettled(path) ? known.inIndex(path) : null;
      return entry !== null && isExpected(path, entry);
    };
    const settledIn = (folder: string) => {
      const isSettledName = settled.settledIn(folder);
      const before = folder === '' ? '' : `${folder}/`;
      return (name: string) => isSettledName(name) && isSettled(`${before}${name}`);
    };
    return { ...settled, isSettled, settledIn };
  }

  #once(scope: string, clock: bigint): Promise<Walked> {
    const { tree, settled } = this.#parts;
    const isForGit = scope === '' && settled.isMany;
    return isForGit ? walkAll(tree, { settled, folders: this.#folders, clock }) : walk(tree, scope);
  }
}
