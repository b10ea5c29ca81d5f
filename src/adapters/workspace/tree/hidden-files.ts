/**
 * The effects of changed ignore rules. A file that is no longer hidden comes into view: it is the user's, or work of the run. A
 * file that a new rule hides is still there, but git no longer sees it. And what the policy protects is not hidden by rules of the
 * run.
 */

import { foldersOf } from '../../../domain/changes/path.ts';
import type { PathGuard } from '../../../domain/changes/path-policy.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { belongsTo } from '../../../domain/review/git-folder.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { viewing } from '../../../files/tree-view.ts';
import { MAX_RULES_BYTES } from '../../../git/repository-file.ts';
import type { RunStart } from '../run-start.ts';

/** What was hidden when the run began, and which rule files there were. */
export class HiddenFiles {
  readonly #root: string;
  readonly #began: () => bigint | null;
  /** Rule files of the start, each with what identifies its contents. */
  #rules: ReadonlyMap<string, string> = new Map();
  /** Paths that git ignored at the start; folders end with a slash. */
  #ignored: ReadonlySet<string> = new Set();
  #hasAttributes = false;
  #differing: readonly string[] = [];
  /** Files that are in view, though the run has not made them and the base has not got them. */
  readonly #exposed = new Map<string, FileStat>();
  /** Files of the run that a rule has hidden. */
  readonly #hidden = new Set<string>();

  /** `began` says when the work began, as a ctime; null where nothing has begun. */
  constructor(root: string, began: () => bigint | null) {
    this.#root = root;
    this.#began = began;
  }

  /** Whether the work tree has attribute files, as of the last look. */
  get hasAttributes(): boolean {
    return this.#hasAttributes;
  }

  /** Whether a rule file may be other than at the start. */
  get mayDiffer(): boolean {
    return this.#differing.length > 0;
  }

  /** Ends the first look, which found these rule files and ignored paths. */
  begin(rules: readonly string[], ignored: readonly string[]): void {
    this.#ignored = new Set(ignored);
    this.#rules = this.#marks(rules);
  }

  /** Takes up what the first look of an earlier process found. */
  recall({ ignored, rules }: Pick<RunStart, 'ignored' | 'rules'>): void {
    this.#ignored = new Set(ignored);
    this.#rules = new Map(rules);
  }

  /** What the first look found. */
  get atStart(): Pick<RunStart, 'ignored' | 'rules'> {
    return { ignored: [...this.#ignored], rules: [...this.#rules] };
  }

  /** Takes in the rule files that a look has found. */
  see(rules: readonly string[]): void {
    const marks = this.#marks(rules);
    const isOther = (path: string) => marks.get(path) !== this.#rules.get(path);
    this.#differing = [...new Set([...this.#rules.keys(), ...marks.keys()])].filter(isOther);
  }

  /**
   * The untracked paths that count. Of `all`, those without any rule, what the policy protects, rule files that it does not permit,
   * and what git would take for a repository, are only hidden where they were hidden at the start.
   */
  visible(
    untracked: readonly string[],
    all: readonly string[] | null,
    { guard, repositories }: { guard: PathGuard; repositories: readonly string[] },
  ): string[] {
    const shown = new Set(untracked);
    for (const path of this.#exposed.keys()) if (!shown.has(path)) this.#exposed.delete(path);
    if (all === null) return [...untracked];
    // A rule file may hide itself, and then what it hides from being put back. What setup commands write are the operator's rules.
    const differing = new Set(this.#began() === null ? [] : this.#differing);
    const isHeld = (path: string) =>
      guard.protects(path) ||
      (differing.has(path) && !guard.permits(path)) ||
      repositories.some((folder) => belongsTo(path, folder));
    const counts = (path: string) => !shown.has(path) && isHeld(path) && !this.mayHaveBeen(path);
    return [...untracked, ...all.filter(counts)];
  }

  /** Whether git ignored the path, or a folder around it, at the start: something unknown may have been there. */
  mayHaveBeen(path: string): boolean {
    return this.#ignored.has(path) || this.#isWithinIgnored(path);
  }

  /** Whether a file that nothing is known about is the user's, and has only come into view. */
  isExposed(path: string, stat: FileStat): boolean {
    if (!this.mayDiffer && this.#exposed.size === 0) return false;
    const known = this.#exposed.get(path);
    const began = this.#began();
    const isOld = known
      ? sameStat(known, stat)
      : this.mayHaveBeen(path) && (began === null || stat.ctimeNs < began);
    if (isOld) this.#exposed.set(path, stat);
    else this.#exposed.delete(path);
    return isOld;
  }

  /** Whether a file that was not in view until now may have been there before. */
  wasHidden(path: string): boolean {
    return this.mayDiffer && this.mayHaveBeen(path) && !this.#hidden.delete(path);
  }

  /** A rule hides a file that the run has made. */
  hide(path: string): void {
    this.#hidden.add(path);
  }

  /** Files that came into view and are left out, according to the last full look; sorted. */
  exposed(): string[] {
    return [...this.#exposed.keys()].sort();
  }

  #isWithinIgnored(path: string): boolean {
    for (const folder of foldersOf(path)) if (this.#ignored.has(`${folder}/`)) return true;
    return false;
  }

  #marks(rules: readonly string[]): Map<string, string> {
    this.#hasAttributes = rules.some((path) => path.endsWith('.gitattributes'));
    return viewing(this.#root, (view) => {
      const marks = new Map<string, string>();
      for (const path of rules) {
        // Git reads none in a folder that it ignores as a whole.
        if (this.#isWithinIgnored(path)) continue;
        const look = view.lookAt(path);
        if (look.status === 'seen' && look.stat.size > MAX_RULES_BYTES)
          throw new UnusableFile(`${this.#root}/${path}`, 'is too large for a file of its kind');
        if (look.status === 'seen') marks.set(path, `${look.stat.ino}.${look.stat.ctimeNs}`);
      }
      return marks;
    });
  }
}
