/**
 * The effects of changed rules on the files of a snapshot. A file that is no longer hidden comes into view; it existed before the
 * run or is its work. A file that a new rule hides is still there, but git no longer sees it.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { FileState, PathChange } from '../../../domain/changes/change.ts';
import { decodeName, encodeName } from '../../../files/names.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { viewing } from '../../../files/tree-view.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import type { Walked, WalkedTree } from './walked-tree.ts';

/** Whose rules they are, and what they are judged by. */
export interface RuleEffectsParts {
  readonly tree: WalkedTree;
  /** Where the paths are kept that git ignored at the start. */
  readonly ignoredFile: string;
  /** When the work began, as a ctime; null where nothing has begun. */
  began(): bigint | null;
}

/** Files that have come into view. */
export interface IntoView {
  /** Older than the work, and hidden where they are when it began: they are the user's, and are not taken in. */
  readonly left: ReadonlySet<string>;
  /** All others that the rules of the start would hide. */
  readonly shown: ReadonlySet<string>;
}

/** Keeps in mind which files rules have shown and hidden. */
export class RuleEffects {
  readonly #parts: RuleEffectsParts;
  /** Paths that git ignored at the start, including nested repositories; folders end with a slash. */
  #ignoredAtStart: ReadonlySet<string> = new Set();
  /** Files that are in view, though the run has not made them and the base has not got them. */
  readonly #exposed = new Map<string, FileStat>();
  /** Files that were in view, until a rule hid them. */
  readonly #hidden = new Set<string>();

  constructor(parts: RuleEffectsParts) {
    this.#parts = parts;
  }

  /** Ends the first look, which found this. */
  begin({ ignored, nested, ignoredFiles }: Walked): void {
    this.#ignoredAtStart = new Set([
      ...[...ignored, ...nested].map((folder) => `${folder}/`),
      ...ignoredFiles,
    ]);
    const names = [...this.#ignoredAtStart].map((path) => encodeName(`${path}\0`));
    writeFileSync(this.#parts.ignoredFile, Buffer.concat(names));
  }

  /** Takes up what the first look of an earlier process found. */
  recall(): void {
    const { ignoredFile } = this.#parts;
    if (!existsSync(ignoredFile)) return;
    this.#ignoredAtStart = new Set(decodeName(readFileSync(ignoredFile)).split('\0').slice(0, -1));
  }

  /** Something unknown may have been at the path when the run began. */
  mayHaveBeen(path: string): boolean {
    if (this.#ignoredAtStart.has(path)) return true;
    for (const folder of foldersOf(path)) if (this.#ignoredAtStart.has(`${folder}/`)) return true;
    return false;
  }

  /** Files that came into view and are left out, according to the last full scan; sorted. */
  exposed(): string[] {
    return [...this.#exposed.keys()].sort();
  }

  /** Classifies files of a scan that were not known before. */
  async intoView({ scope, files }: Walked, isNew: (path: string) => boolean): Promise<IntoView> {
    const { tree, began } = this.#parts;
    if (scope === '')
      for (const path of this.#exposed.keys()) if (!files.has(path)) this.#exposed.delete(path);
    const left = new Set<string>();
    const shown = new Set<string>();
    if (!tree.rules.differ && this.#exposed.size === 0) return { left, shown };
    const fresh = [...files.keys()].filter((path) => isNew(path) && !tree.tracked.isFile(path));
    const ignored = await tree.rules.ignoredAtStart(fresh);
    const beganNs = began();
    for (const path of fresh) {
      const stat = files.get(path);
      if (stat === undefined) continue;
      const known = this.#exposed.get(path);
      const isOld = known
        ? sameStat(known, stat)
        : ignored.has(path) && this.mayHaveBeen(path) && (beganNs === null || stat.ctimeNs < beganNs);
      if (isOld) {
        this.#exposed.set(path, stat);
        left.add(path);
      } else if (ignored.has(path) || this.#hidden.has(path)) {
        this.#exposed.delete(path);
        this.#hidden.delete(path);
        shown.add(path);
      }
    }
    return { left, shown };
  }

  /** Of paths that a look no longer found, those of files that are there and that git ignores now. */
  async outOfView(missing: readonly string[]): Promise<ReadonlySet<string>> {
    const { root, rules, tracked } = this.#parts.tree;
    const ignored = await rules.ignored(missing.filter((path) => !tracked.isInBase(path)));
    const hidden = new Set<string>();
    viewing(root, (view) => {
      for (const path of ignored) {
        const look = view.lookAt(path);
        if (look.status !== 'seen' || look.stat.kind === 'folder') continue;
        hidden.add(path);
        this.#hidden.add(path);
      }
    });
    return hidden;
  }
}

/** A file that is now hidden keeps its known state. */
export function hiddenChange(path: string, state: FileState | null): PathChange {
  return { path, before: state, after: state, ignored: 'from_now' };
}
