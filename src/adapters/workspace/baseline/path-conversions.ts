/** How the contents of paths are converted by the attributes of a rule tree, as git answers it. */

import { existsSync, readFileSync } from 'node:fs';
import { encodeName } from '../../../files/names.ts';
import { runGit } from '../../../git/git.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import { CONTENT_ATTRIBUTES, type ContentAttribute, type Conversion, conversionFor } from './conversion.ts';
import { SYSTEM_ATTRIBUTES } from './machine-rules.ts';
import type { RuleQuestion, RuleTree } from './rule-tree.ts';

/** Attributes that convert content in ways its size does not reveal. */
const HIDING = /\b(?:ident|working-tree-encoding|filter)\b/;

/** What git has answered so far, and the tree to ask it in. */
export class PathConversions {
  readonly #tree: RuleTree;
  readonly #settings: UserSettings;
  #answers = new Map<string, Conversion>();
  #hasAttributes = false;
  #hidesBytes = false;

  constructor(tree: RuleTree, settings: UserSettings) {
    this.#tree = tree;
    this.#settings = settings;
  }

  /** There may be attributes of every kind. */
  assumeAll(): void {
    this.#hasAttributes = true;
    this.#hidesBytes = true;
  }

  /** Takes in attributes from outside the work tree; `areTaken` when the tree has some. */
  seeMachineRules(areTaken: boolean): void {
    const files = [...this.#tree.attributesFiles, ...SYSTEM_ATTRIBUTES].filter((file) => existsSync(file));
    this.#hasAttributes = areTaken || SYSTEM_ATTRIBUTES.some((file) => files.includes(file));
    this.#hidesBytes = files.some((file) => HIDING.test(readFileSync(file, 'latin1')));
  }

  /** Takes in one rule file of the work tree; null: it has been changed, and its kind of attributes is not looked into. */
  see(path: string, bytes: Uint8Array | null): void {
    if (!path.endsWith('.gitattributes')) return;
    this.#hasAttributes = true;
    if (bytes !== null) this.#hidesBytes ||= HIDING.test(Buffer.from(bytes).toString('latin1'));
  }

  /** False when the bytes on disk always follow from the content git stores and the file's size. */
  get hidesBytes(): boolean {
    return this.#hidesBytes;
  }

  /** Rules have changed. Holders of earlier answers keep using them. */
  forget(): void {
    this.#answers = new Map();
  }

  /** How git converts the content of each path when it stores it. */
  async of(paths: readonly string[]): Promise<ReadonlyMap<string, Conversion>> {
    if (!this.#hasAttributes) {
      const conversion = conversionFor(() => 'unspecified', this.#settings);
      return new Map(paths.map((path) => [path, conversion]));
    }
    const answers = this.#answers;
    const unknown = paths.filter((path) => !answers.has(path));
    if (unknown.length > 0)
      await this.#tree.ask((question) => this.#ask(question, { paths: unknown, answers }));
    return answers;
  }

  async #ask(
    { cwd, options, env }: RuleQuestion,
    { paths, answers }: { paths: readonly string[]; answers: Map<string, Conversion> },
  ): Promise<void> {
    const stdout = await runGit({
      cwd,
      args: [...options, 'check-attr', '--stdin', '-z', ...CONTENT_ATTRIBUTES],
      env: { ...env, GIT_ATTR_NOSYSTEM: undefined },
      input: Buffer.concat(paths.map((path) => encodeName(`${path}\0`))),
    });
    const values = stdout.toString('latin1').split('\0');
    paths.forEach((path, at) => {
      const attributeOf = (name: ContentAttribute) =>
        values[(at * CONTENT_ATTRIBUTES.length + CONTENT_ATTRIBUTES.indexOf(name)) * 3 + 2] ?? 'unspecified';
      answers.set(path, conversionFor(attributeOf, this.#settings));
    });
  }
}
