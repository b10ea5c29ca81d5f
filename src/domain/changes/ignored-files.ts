/** Files and folders that git ignores and that a run changed: they are in no patch, and verify commands may run them. */

/** `count` is that of all; of more than a hundred, `paths` names those that verify commands are likely to obey first. */
export interface IgnoredFiles {
  readonly paths: readonly string[];
  readonly count: number;
}

/** More names help nobody, and a command can make any number. */
const MAX_NAMED = 100;

/** From what runs by its name, over settings and dependencies, to the rest. */
const RANKS: readonly RegExp[] = [
  /(?:^|\/)\.?s?bin\//,
  /(?:^|\/)\.[^/]+$/,
  /(?:^|\/)(?:node_modules|\.?venv|site-packages|vendor|\.yarn)\//,
];

/** Collects paths without keeping them all. */
export class IgnoredFileList {
  readonly #byRank = [...RANKS, null].map(() => new Set<string>());
  #count = 0;

  /** Each path once. */
  add(path: string): void {
    this.#count += 1;
    const rank = RANKS.findIndex((pattern) => pattern.test(path));
    const names = this.#byRank.at(rank);
    if (names !== undefined && names.size < MAX_NAMED) names.add(path);
  }

  list(): IgnoredFiles {
    const paths = this.#byRank.flatMap((names) => [...names].sort());
    return { paths: paths.slice(0, MAX_NAMED), count: this.#count };
  }
}
