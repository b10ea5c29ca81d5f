/** The questions to git about the work tree: which paths differ from the index, which it does not have, and which it ignores. */

import { foldersOf, isWithin } from '../../../domain/changes/path.ts';
import { viewing } from '../../../files/tree-view.ts';
import type { HiddenFiles } from './hidden-files.ts';
import type { LookingGit } from './looking-git.ts';

/** What git finds in the whole work tree. A repository of its own ends with a slash. */
export interface FoundPaths {
  /** Paths of the index that may differ from it. */
  readonly dirty: readonly string[];
  readonly untracked: readonly string[];
  /** Only at the first look. */
  readonly ignored: readonly string[];
  /** The untracked paths without any rule; null if no rule has changed. */
  readonly all: readonly string[] | null;
}

/** From so many files on that differ by their stats, git compares the contents first. */
const MANY_DIRTY = 1_000;

/** For more paths than that, git lists all. */
const MANY_PATHS = 200;

/** Asks git. Nothing is read here but stats. */
export class Candidates {
  readonly #git: LookingGit;
  readonly #hidden: HiddenFiles;

  constructor({ git, hidden }: { readonly git: LookingGit; readonly hidden: HiddenFiles }) {
    this.#git = git;
    this.#hidden = hidden;
  }

  /** Everything that may have changed. The entries of `tooLarge` folders are not listed; git is killed when `signal` aborts. */
  async find(tooLarge: readonly string[], signal?: AbortSignal): Promise<FoundPaths> {
    const hasBegun = this.#hidden.hasBegun;
    const besides = tooLarge.map((folder) => `--exclude=${ruleFor(folder)}`);
    const [dirty, untracked, ignored, all] = await Promise.all([
      this.#dirty(signal),
      this.#others(['--exclude-standard', ...besides], signal),
      hasBegun ? [] : this.ignored(signal),
      this.#hidden.mayDiffer ? this.#others(besides, signal) : null,
    ]);
    if (dirty.length < MANY_DIRTY || hasBegun) return { dirty, untracked, ignored, all };
    // After a copy or a restored cache all stats are new: git compares the contents faster than they are read one by one.
    await this.#git.ask({ args: ['update-index', '-q', '--refresh'] });
    return { dirty: await this.#dirty(), untracked, ignored, all };
  }

  /** Those of the paths at which there are files that the index does not have and that git does not ignore. */
  async visibleOf(paths: readonly string[]): Promise<Set<string>> {
    if (paths.length === 0) return new Set();
    const listed = new Set(await this.#others(['--exclude-standard', ...scopeOf(paths)]));
    return new Set(paths.filter((path) => listed.has(path)));
  }

  /** Files that git sees below a folder: tracked, or not ignored; sorted. Links are listed and not followed. */
  async files(folder: string): Promise<string[]> {
    const scope = folder === '' ? [] : scopeOf([folder]);
    const args = ['--literal-pathspecs', 'ls-files', '-c', '-o', '--exclude-standard', '-z', ...scope];
    const listed = await this.#git.names({ args });
    return viewing(this.#git.root, (view) =>
      [...new Set(listed)]
        .filter((path) => {
          if (path.endsWith('/') || !isWithin(path, folder)) return false;
          const look = view.lookAt(path);
          return look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'link');
        })
        .sort(),
    );
  }

  /** Paths that git ignores; a folder that is ignored as a whole ends with a slash. */
  async ignored(signal?: AbortSignal): Promise<string[]> {
    const listed = await this.#others(['-i', '--directory', '--exclude-standard'], signal);
    // Git also lists folders of which it ignores each file, and these files.
    const around = new Set(listed.flatMap((path) => [...foldersOf(path.replace(/\/$/, ''))]));
    return listed.filter((path) => !path.endsWith('/') || !around.has(path.slice(0, -1)));
  }

  async #dirty(signal?: AbortSignal): Promise<string[]> {
    // A setting has no effect here: for a submodule, git would read `.gitmodules` and run itself with the submodule's own settings.
    const args = ['diff-files', '--ignore-submodules=all', '--name-only', '-z'];
    return [...new Set(await this.#git.names({ args, ...(signal && { signal }) }))];
  }

  #others(which: readonly string[], signal?: AbortSignal): Promise<string[]> {
    return this.#git.names({
      args: ['--literal-pathspecs', 'ls-files', '-o', '-z', ...which],
      ...(signal && { signal }),
    });
  }
}

/** What follows a question about these paths. An argument has to be UTF-8: where a path is not, git is asked about everything. */
export function scopeOf(paths: readonly string[]): string[] {
  return paths.length > MANY_PATHS || paths.some((path) => /\p{Surrogate}/u.test(path))
    ? []
    : ['--', ...paths];
}

/** A rule that ignores this folder. An argument has to be UTF-8: where a byte of the name is not, it ignores those with any. */
function ruleFor(folder: string): string {
  return `/${folder.replace(/[\\*?[\]!# ]/g, '\\$&').replace(/\p{Surrogate}/gu, '?')}/`;
}
