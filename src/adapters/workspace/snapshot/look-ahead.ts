/**
 * What a walk asks the ignore rules before it gets there, so that a deep tree takes few queries instead of one per level.
 */

import { isGitDirName } from '../../../domain/changes/path.ts';
import type { TreeView } from '../../../files/tree-view.ts';
import type { WalkedTree } from './walked-tree.ts';

/** Number of queries a walk makes without looking ahead: most trees need no more. */
const AT_EASE = 4;

/** Number of entries examined ahead for the first query after those; doubled for each one that follows. */
const FIRST_LOOK = 128;
const LONGEST_LOOK = 16_384;

/** Looks ahead for one walk. Records nothing of what it finds: the walk gets there itself, if it may. */
export class LookAhead {
  readonly #tree: WalkedTree;
  readonly #view: TreeView;
  #questions = 0;

  constructor(tree: WalkedTree, view: TreeView) {
    this.#tree = tree;
    this.#view = view;
  }

  /**
   * Called when git has to be asked about some of `candidates`, the entries of one level (folders with a final slash).
   * Returns what is below them and is worth asking in the same query.
   */
  below(candidates: readonly string[]): string[] {
    this.#questions += 1;
    if (this.#questions <= AT_EASE) return [];
    const most = Math.min(FIRST_LOOK * 2 ** (this.#questions - AT_EASE - 1), LONGEST_LOOK);
    const { tracked, rules } = this.#tree;
    const found: string[] = [];
    let looked = 0;
    // Folders found on the way are examined as well, nearer ones first.
    const folders = candidates.filter((path) => path.endsWith('/'));
    for (const path of folders) {
      if (looked >= most) break;
      const folder = path.slice(0, -1);
      if (!tracked.isFolder(folder) && rules.answered(path) === true) continue;
      const entries = this.#entriesOf(folder);
      looked += 1 + entries.length;
      for (const entry of entries) {
        if (entry.endsWith('/')) folders.push(entry);
        if (!this.#isKnown(entry)) found.push(entry);
      }
    }
    return found;
  }

  #entriesOf(folder: string): string[] {
    const { tracked, onRuleFile } = this.#tree;
    const listing = this.#view.listFolder(folder);
    if (listing.status !== 'seen') return [];
    const { entries } = listing;
    if (!tracked.isFolder(folder) && entries.some(({ name }) => name === '.git')) return [];
    return entries.flatMap(({ name, folder: isFolder, special }) => {
      const path = `${folder}/${name}`;
      if (special || name.split('\\').some(isGitDirName) || tracked.isSubmodule(path)) return [];
      if (!isFolder && (name === '.gitignore' || name === '.gitattributes')) onRuleFile(path);
      return isFolder ? [`${path}/`] : [path];
    });
  }

  #isKnown(path: string): boolean {
    const { tracked } = this.#tree;
    return path.endsWith('/') ? tracked.isFolder(path.slice(0, -1)) : tracked.isFile(path);
  }
}
