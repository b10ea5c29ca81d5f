/**
 * The current ignore rules and attributes. As long as no rule file differs from the start, these are the original rules. After
 * that they are a second copy, which git is asked about in the same way.
 */

import { closeSync } from 'node:fs';
import { quotedName } from '../../../domain/changes/path.ts';
import type { PathGuard } from '../../../domain/changes/path-policy.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { openRegularIn, readWhole } from '../../../files/opened-file.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import type { BaselineRules } from './baseline-rules.ts';
import type { Conversion } from './conversion.ts';

/** The rules of the start, and what it takes to follow those of now. */
export interface LiveRulesParts {
  readonly root: string;
  readonly baseline: BaselineRules;
  /** Makes a copy of the original rules, which may then be changed. */
  copy(): BaselineRules;
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  readonly guard: Pick<PathGuard, 'protects'>;
  /**
   * True for a rule file that the policy forbids to change: it is about to be reverted, and must not hide other files from being
   * reverted.
   */
  isVoid(path: string): boolean;
  /** The time of the file system, in ns. */
  clock(): bigint;
  warn(warning: Warning): void;
}

/** Size limits of rule files that a run wrote: git needs thirty times as much memory. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_FILES = 10_000;

/** Answers by the rules of now; `refresh` and `see` bring them up to date. */
export class LiveRules {
  readonly #parts: LiveRulesParts;
  /** Rule files with their stat when they were read; null where it proves nothing, or there is no file. */
  readonly #files = new Map<string, FileStat | null>();
  /** Files that git reads from the index, since they are not in the work tree. */
  readonly #inIndex = new Set<string>();
  /** Rule files that are not as at the start, with their bytes. */
  readonly #differing = new Map<string, number>();
  #own: BaselineRules | null = null;
  #generation = 0;
  #attributes = 0;

  constructor(parts: LiveRulesParts) {
    this.#parts = parts;
  }

  /** Counts the changes of rules. */
  get generation(): number {
    return this.#generation;
  }

  /** Counts the changes of attributes. */
  get attributesGeneration(): number {
    return this.#attributes;
  }

  /** Whether a rule file differs from the start. */
  get differ(): boolean {
    return this.#differing.size > 0;
  }

  get hidesBytes(): boolean {
    return this.#parts.baseline.hidesBytes;
  }

  /** Which of these paths the rules of the start ignore; a folder has a slash at its end. */
  ignoredAtStart(paths: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#parts.baseline.ignored(paths);
  }

  /** How contents were turned by the attributes of the start. */
  conversionsAtStart(paths: readonly string[]): Promise<ReadonlyMap<string, Conversion>> {
    return this.#parts.baseline.conversions(paths);
  }

  answered(path: string): boolean | null {
    return this.#now.answered(path);
  }

  /** A protected path is only hidden where the rules of the start hide it. */
  async ignored(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const ignored = await this.#now.ignored(paths);
    if (!this.differ) return ignored;
    const { guard } = this.#parts;
    const guarded = new Set(
      paths.filter((path) => ignored.has(path) && guard.protects(path.replace(/\/$/, ''))),
    );
    if (guarded.size === 0) return ignored;
    const atStart = await this.ignoredAtStart([...guarded]);
    return new Set([...ignored].filter((path) => !guarded.has(path) || atStart.has(path)));
  }

  conversions(paths: readonly string[]): Promise<ReadonlyMap<string, Conversion>> {
    return this.#now.conversions(paths);
  }

  /**
   * Ends the first scan, or continues with the rules of an earlier process: the original rule files are watched from now on.
   * `isThere` says which of them existed as files, not only in the index.
   */
  begin(isThere: (path: string) => boolean): void {
    const { baseline } = this.#parts;
    baseline.freeze();
    for (const path of baseline.files()) {
      this.#files.set(path, null);
      if (!isThere(path)) this.#inIndex.add(path);
    }
  }

  /** Takes in a rule file that a walk has come to, unless it is watched already. */
  see(path: string): void {
    if (!this.#files.has(path)) viewing(this.#parts.root, (view) => this.#take(view, path));
  }

  /** Looks at every rule file that is known. */
  refresh(): void {
    const { root, closed } = this.#parts;
    if (this.#files.size === 0) return;
    viewing(root, (view) => {
      for (const [path, stat] of this.#files) {
        const look = closed.insist(path, () => view.lookAt(path));
        if (look.status === 'seen' && stat !== null && sameStat(look.stat, stat)) continue;
        this.#take(view, path);
      }
    });
  }

  get #now(): BaselineRules {
    return (this.differ ? this.#own : null) ?? this.#parts.baseline;
  }

  #take(view: TreeView, path: string): void {
    const { clock, closed, isVoid } = this.#parts;
    if (isVoid(path)) return;
    const now = clock();
    const opening = closed.insist(path, () => openRegularIn(view, path));
    if (opening.status === 'unreadable') return;
    if (opening.status === 'absent') {
      // Forgets deleted files, except those that may come back.
      if (this.#inIndex.has(path)) return;
      this.#files.set(path, null);
      this.#put(path, null);
      return;
    }
    const { file } = opening;
    try {
      this.#files.set(path, file.stat.ctimeNs < now ? file.stat : null);
      this.#inIndex.delete(path);
      const bytes = file.stat.size > MAX_FILE_BYTES ? null : readWhole(file);
      if (bytes === null || !this.#fits(path, bytes.length)) this.#tooMuch(path);
      else this.#put(path, bytes);
    } finally {
      closeSync(file.descriptor);
    }
  }

  #fits(path: string, bytes: number): boolean {
    let sum = bytes - (this.#differing.get(path) ?? 0);
    for (const length of this.#differing.values()) sum += length;
    return sum <= MAX_BYTES && (this.#differing.has(path) || this.#differing.size < MAX_FILES);
  }

  #tooMuch(path: string): void {
    this.#parts.warn(
      warning(
        'WARN_TOO_MANY_RULES',
        `${quotedName(path)} has too many rules; those that were read before hold.`,
      ),
    );
  }

  #put(path: string, bytes: Uint8Array | null): void {
    const { baseline, copy } = this.#parts;
    if (isSame(this.#now.bytesOf(path), bytes)) return;
    this.#own ??= copy();
    this.#own.put(path, bytes);
    if (isSame(baseline.bytesOf(path), bytes)) this.#differing.delete(path);
    else this.#differing.set(path, bytes?.length ?? 0);
    this.#generation += 1;
    if (path.endsWith('.gitattributes')) this.#attributes += 1;
  }
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);
}
