/**
 * The work tree as git sees it through a git dir of our own. The index of the start stays as it is; what has changed since is
 * known from earlier looks. A look asks git for the paths that differ from the index or are untracked, and reads those that may
 * differ from what is known.
 */

import { join } from 'node:path';
import { type FileState, isTurned, type PathChange, sameState } from '../../../domain/changes/change.ts';
import { foldersOf, quotedName } from '../../../domain/changes/path.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { fileSystemTime } from '../../../files/stat.ts';
import { viewing } from '../../../files/tree-view.ts';
import type { CaptureScope } from '../../../ports/workspace.ts';
import type { RunStart } from '../run-start.ts';
import type { FoundFolders } from '../unwalked/folders.ts';
import { hidingBytes } from './committed-forms.ts';
import { Comparison } from './comparison.ts';
import { isFile, LastSeen, type States } from './last-seen.ts';
import { ruleFor } from './looking-git.ts';
import type { WorkTreeParts } from './parts.ts';

/** The work tree as last seen; each look returns the changes since the previous one. */
export class WorkTree {
  readonly #parts: WorkTreeParts;
  /** What is known of it, as of the last look. */
  readonly seen: LastSeen;
  readonly #changes: Comparison;
  /** Paths that git has said it sees since they were last looked at. */
  readonly #visible = new Set<string>();

  private constructor(parts: WorkTreeParts) {
    this.#parts = parts;
    this.seen = new LastSeen(parts);
    this.#changes = new Comparison(parts, this.seen);
  }

  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  get hidden(): readonly string[] {
    return this.#changes.hidden;
  }

  /** Looks for the first time, and returns how the base differs from the index, which folders are empty, and what git ignores. */
  static async take(
    parts: WorkTreeParts,
  ): Promise<{ tree: WorkTree; edits: States; found: FoundFolders; openedNs: bigint }> {
    const tree = new WorkTree(parts);
    const { planted, hidden, git } = parts;
    const clock = tree.#clock();
    // A git that waits for a pipe is not waited for.
    const stop = new AbortController();
    const begun = planted.begin(clock);
    begun.catch(() => stop.abort());
    const [folders, stale, untracked, ignored] = await Promise.all([
      begun,
      git.dirty(stop.signal),
      git.others(undefined, stop.signal),
      git.ignored(stop.signal),
    ]);
    hidden.begin(folders.rules, ignored);
    const dirty = new Set(await refreshed(git, stale));
    const hiding = new Set((await hidingBytes(parts)).filter((path) => !dirty.has(path)));
    const candidates = [...dirty, ...untracked, ...hiding];
    await tree.#changes.of(candidates, { clock, visible: null, hiding, closed: new Set() });
    const edits = tree.seen.takeBase();
    parts.budget.begin();
    const openedNs = tree.#clock();
    parts.closed.begin(openedNs);
    tree.#warn(repositoryWarnings(untracked));
    tree.#warnOfStart();
    return { tree, edits, found: folders, openedNs };
  }

  /**
   * Continues from what an earlier process knew, and returns how the work tree differs from that, as git sees it. `base` is the
   * base's tree, and `states` what has changed since; null for paths that are gone. `lookAtFolders` is the first look at them.
   */
  static async reopen(
    parts: WorkTreeParts,
    {
      base,
      states,
      start,
      lookAtFolders,
    }: {
      base: string;
      states: ReadonlyMap<string, FileState | null>;
      start: RunStart;
      lookAtFolders: (clock: bigint) => Promise<FoundFolders>;
    },
  ): Promise<{ tree: WorkTree; found: PathChange[] }> {
    const tree = new WorkTree(parts);
    const { hidden } = parts;
    parts.closed.begin(start.openedNs);
    hidden.recall(start);
    const folders = await lookAtFolders(tree.#clock());
    hidden.see(folders.rules);
    await tree.seen.recall(base, start.converted, states);
    tree.#warnOfStart();
    parts.budget.begin();
    const changes = await tree.look('all');
    const found = changes.filter(
      ({ before, after, ignored }) =>
        ignored === 'from_now' || !(sameState(before, after) || isTurned({ before, after })),
    );
    return { tree, found };
  }

  /** Looks at everything or at some paths, and returns what changed since the last look, sorted by path. */
  async look(scope: CaptureScope): Promise<PathChange[]> {
    const { planted, hidden, guard, git } = this.#parts;
    const clock = this.#clock();
    if (scope !== 'all' && scope !== 'after_commands') {
      const some = { clock, visible: null, hiding: null, closed: new Set<string>() };
      // The root is no file, and git takes no empty path.
      const paths = scope.filter((path) => path !== '');
      return this.#changes.of(await this.#visibleAmong(paths), some);
    }
    const folders = await planted.look(clock, scope === 'all' ? 'outside' : 'commands');
    hidden.see(folders.rules);
    // What an earlier look has read may have changed without new times: a process can go on writing to a file that it mapped.
    if (scope === 'all') this.seen.distrustStats();
    const besides = folders.tooLarge.map((folder) => `--exclude=${ruleFor(folder)}`);
    const [dirty, untracked, all] = await Promise.all([
      git.dirty(),
      git.others(['--exclude-standard', ...besides]),
      hidden.mayDiffer ? git.others(besides) : null,
    ]);
    this.#warn(repositoryWarnings(untracked));
    const visible = new Set(hidden.visible(untracked, all, { guard, repositories: folders.repositories }));
    const closed = new Set(folders.unreadable);
    return this.#changes.of([...dirty, ...visible], { clock, visible, hiding: null, closed });
  }

  /** Removes git dirs that commands have made. */
  async sweep(): Promise<void> {
    await this.#parts.planted.look(this.#clock(), 'commands');
  }

  /** Whether git would see a file at the path, which exists. */
  async isVisible(path: string): Promise<boolean> {
    if (path === '' || this.seen.isKept(path)) return true;
    const visible = (await this.#parts.git.visibleOf([path])).has(path);
    if (visible) this.#visible.add(path);
    return visible;
  }

  /** Files that git sees below a folder: tracked, or not ignored; sorted. Links are listed and not followed. */
  async files(folder: string): Promise<string[]> {
    const submodules = new Set(this.seen.submodules);
    return (await this.#parts.git.files(folder)).filter((path) => !submodules.has(path));
  }

  /** Those of the paths, and of their neighbours, that git sees, that are known, or that are gone. */
  async #visibleAmong(paths: readonly string[]): Promise<string[]> {
    const all = [...this.#withNeighbours(paths)];
    const inDoubt = viewing(this.#parts.git.root, (view) =>
      all.filter(
        (path) =>
          !this.#visible.delete(path) && !this.seen.isKnown(path) && view.lookAt(path).status === 'seen',
      ),
    );
    const hidden = new Set(inDoubt);
    for (const path of await this.#parts.git.visibleOf(inDoubt)) hidden.delete(path);
    return all.filter((path) => !hidden.has(path));
  }

  /** What is known below these paths is gone if there is a file now, and a file above them is looked at as well. */
  #withNeighbours(paths: readonly string[]): Set<string> {
    const all = new Set([...paths, ...this.seen.below(new Set(paths))]);
    for (const path of paths)
      for (const folder of foldersOf(path)) if (isFile(this.#parts.git.root, folder)) all.add(folder);
    return all;
  }

  #warnOfStart(): void {
    const { submodules } = this.seen;
    const folders = this.#parts.planted.known.flatMap(({ path }) =>
      path.endsWith('/.git') ? [path.slice(0, -'/.git'.length)] : [],
    );
    const inside = folders.filter((folder) => !submodules.includes(folder) && this.seen.hasBelow(folder));
    this.#warn(startWarnings(submodules, inside));
  }

  #warn(warnings: readonly Warning[]): void {
    for (const one of warnings) this.#parts.warn(one);
  }

  #clock(): bigint {
    return fileSystemTime(join(this.#parts.git.shadowDir, 'clock'));
  }
}

/** From so many files on that differ by their stats, git compares the contents first. */
const MANY_DIRTY = 1_000;

/** After a copy or a restored cache all stats are new: git compares the contents faster than they are read one by one. */
async function refreshed(git: WorkTreeParts['git'], dirty: string[]): Promise<string[]> {
  if (dirty.length < MANY_DIRTY) return dirty;
  await git.ask({ args: ['update-index', '-q', '--refresh'] });
  return git.dirty();
}

/** `untracked` are paths as git lists them: a repository ends with a slash. */
function repositoryWarnings(untracked: readonly string[]): Warning[] {
  return untracked
    .filter((path) => path.endsWith('/'))
    .map((path) =>
      warning(
        'WARN_REPOSITORY_LEFT_OUT',
        `${quotedName(path.slice(0, -1))} is a separate repository and is left out.`,
      ),
    );
}

/** Those of the start. `repositories` are folders that have a git folder, besides submodules, and files of this repository. */
function startWarnings(submodules: readonly string[], repositories: readonly string[]): Warning[] {
  const inside = repositories.map((folder) =>
    warning(
      'WARN_GIT_FOLDER_INSIDE',
      `${quotedName(folder)} has its own git folder; its files are included anyway.`,
    ),
  );
  if (submodules.length === 0) return inside;
  return [
    warning('WARN_SUBMODULES_LEFT_OUT', `Submodules are left out: ${submodules.join(', ')}.`),
    ...inside,
  ];
}
