/** Files and folders that git ignores and that a run changed: they are in no patch, but verify commands may execute them. */

/** `count` is the number of all; beyond a hundred, `paths` lists the ones most likely to affect verify commands. */
export interface IgnoredFiles {
  readonly paths: readonly string[];
  readonly count: number;
}

/** More names are no help, and a command can create any number. */
const MAX_NAMED = 100;

/** In order: what runs by its name, then settings and dependencies, then the rest. */
const RANKS: readonly RegExp[] = [
  /(?:^|\/)\.?s?bin\//,
  /(?:^|\/)\.[^/]+$/,
  /(?:^|\/)(?:node_modules|\.?venv|site-packages|vendor|\.yarn)\//,
];

/** Collects paths without keeping them all. */
export class IgnoredFileList {
  readonly #byRank = [...RANKS, null].map(() => new Set<string>());
  #count = 0;

  /** Call once per path. */
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

/**
 * A summary of the paths. Files that run by their name are listed as they are; of the others, each top-level name is listed once:
 * as the path if there is only one, else as the folder that contains all of them, such as `target/debug/`.
 */
export function inFewWords(paths: readonly string[]): string[] {
  const [programs = /./] = RANKS;
  const named = paths.filter((path) => programs.test(path));
  const groups = new Map<string, string>();
  for (const path of paths) {
    if (programs.test(path)) continue;
    const [top = ''] = path.split('/', 1);
    const before = groups.get(top);
    groups.set(top, before === undefined ? path : commonFolder(before, path));
  }
  return [...named, ...groups.values()];
}

/** With a final slash. A folder contains itself. */
function commonFolder(one: string, other: string): string {
  let end = 0;
  for (let at = 0; at < Math.min(one.length, other.length) && one[at] === other[at]; at += 1)
    if (one[at] === '/') end = at + 1;
  return one.slice(0, end);
}
