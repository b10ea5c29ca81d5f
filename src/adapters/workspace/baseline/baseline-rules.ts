/**
 * Ignore rules and attributes as they were at one moment. Git itself is asked about them, on a copy of the rules: nothing of
 * the work tree is executed.
 */

import type { UserSettings } from '../../../git/user-settings.ts';
import type { Conversion } from './conversion.ts';
import { IgnoredPaths } from './ignored-paths.ts';
import { PathConversions } from './path-conversions.ts';
import { RuleTree } from './rule-tree.ts';

/** Answers which paths are ignored and how contents are converted. */
export class BaselineRules {
  readonly #tree: RuleTree;
  readonly #ignored: IgnoredPaths;
  readonly #conversions: PathConversions;
  #frozen: boolean;

  /**
   * Creates `folder` and copies the rules that live outside the work tree. `infoDir` is `info` of the common git dir; null
   * reuses the folder as an earlier process left it, with its frozen rules.
   */
  constructor(folder: string, infoDir: string | null, settings: UserSettings) {
    this.#tree = new RuleTree(folder, settings);
    this.#ignored = new IgnoredPaths(this.#tree);
    this.#conversions = new PathConversions(this.#tree, settings);
    this.#frozen = infoDir === null;
    if (infoDir === null) {
      this.#conversions.assumeAll();
      this.#tree.tidy();
    } else this.#conversions.seeMachineRules(this.#tree.takeMachineRules(infoDir, settings));
  }

  /** A copy of `from` in a separate folder, which may then be changed. An earlier process may have left one there. */
  static copy(from: BaselineRules, folder: string, settings: UserSettings): BaselineRules {
    from.#tree.copyMachineRules(folder);
    const rules = new BaselineRules(folder, null, settings);
    for (const path of rules.files()) rules.put(path, null);
    for (const path of from.files()) rules.put(path, from.bytesOf(path));
    return rules;
  }

  /** Copies one rule file of the work tree. Does nothing once the rules are frozen. */
  add(path: string, bytes: Uint8Array): void {
    if (this.#frozen) return;
    this.#tree.write(path, bytes);
    this.#conversions.see(path, bytes);
  }

  /** False when the bytes on disk always follow from the content git stores and the file's size. */
  get hidesBytes(): boolean {
    return this.#conversions.hidesBytes;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** From now on the rules only change through `put`. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Changes one rule file; null removes it. Earlier answers are dropped. */
  put(path: string, bytes: Uint8Array | null): void {
    this.#tree.put(path, bytes);
    this.#ignored.forget();
    this.#conversions.forget();
    this.#conversions.see(path, null);
  }

  /** The bytes of one rule file as these rules have it; null when they have none. */
  bytesOf(path: string): Uint8Array | null {
    return this.#tree.bytesOf(path);
  }

  /** Paths of the work tree's rule files that these rules contain. */
  files(): string[] {
    return this.#tree.files();
  }

  /** Whether git ignores this path; null when it has not been asked yet. */
  answered(path: string): boolean | null {
    return this.#ignored.answered(path);
  }

  /** Returns which of these untracked paths git would ignore; folders are given with a final slash. */
  ignored(paths: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#ignored.among(paths);
  }

  /** How git converts the content of each path when it stores it. */
  conversions(paths: readonly string[]): Promise<ReadonlyMap<string, Conversion>> {
    return this.#conversions.of(paths);
  }
}
