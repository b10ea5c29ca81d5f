/** Which paths the ignore rules of a rule tree match, as git answers it. */

import { encodeName } from '../../../files/names.ts';
import { askGit } from '../../../git/git.ts';
import type { RuleQuestion, RuleTree } from './rule-tree.ts';

/** What git has answered so far, and the tree to ask it in. */
export class IgnoredPaths {
  readonly #tree: RuleTree;
  #answers = new Map<string, boolean>();

  constructor(tree: RuleTree) {
    this.#tree = tree;
  }

  /** Rules have changed. Holders of earlier answers keep using them. */
  forget(): void {
    this.#answers = new Map();
  }

  /** Whether git ignores this path; null when it has not been asked yet. */
  answered(path: string): boolean | null {
    return this.#answers.get(path) ?? null;
  }

  /** Returns which of these untracked paths git would ignore; folders are given with a final slash. */
  async among(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const answers = this.#answers;
    const unknown = paths.filter((path) => !answers.has(path));
    if (unknown.length > 0)
      await this.#tree.ask((question) => this.#ask(question, { paths: unknown, answers }));
    return new Set(paths.filter((path) => answers.get(path)));
  }

  async #ask(
    { cwd, options, env }: RuleQuestion,
    { paths, answers }: { paths: readonly string[]; answers: Map<string, boolean> },
  ): Promise<void> {
    const restore = this.#tree.shape(paths);
    // The leading `./` prevents a colon at the start of a name from being read as pathspec magic.
    const names = paths.map((path) => encodeName(`./${path.replace(/\/$/, '')}`).toString('latin1'));
    const answer = await askGit({
      cwd,
      // Without --verbose, which prints the patterns: git 2.39 crashes on that more than 24 folders deep.
      args: [...options, 'check-ignore', '--no-index', '--stdin', '-z'],
      env,
      input: Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1'),
    }).finally(restore);
    if (answer.exitCode !== 0 && answer.exitCode !== 1)
      throw new Error(`git check-ignore failed: ${answer.stderr}`);
    const ignored = new Set(answer.stdout.toString('latin1').split('\0'));
    paths.forEach((path, at) => {
      answers.set(path, ignored.has(names[at] ?? ''));
    });
  }
}
