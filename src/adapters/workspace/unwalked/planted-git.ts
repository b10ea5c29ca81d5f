/**
 * Git dirs that commands create in the work tree. The user's own git would obey what they contain (hooks, filters, a file
 * system monitor), so any that did not exist when the run began is removed; the files beside it are ordinary files.
 */

import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { ClosedPlaces, closedPlacesFile } from '../../../files/closed-places.ts';
import { type FoundFolders, type FoundGitDirs, GitDirs } from './git-dirs.ts';
import { keptRepositories } from './kept-repositories.ts';
import { type JudgedGitDir, type KnownGitDir, KnownGitDirs } from './known-git-dirs.ts';
import { removeGitDir } from './remove-git-dir.ts';

/** What is needed to find planted git dirs. */
export interface PlantedGitParts {
  readonly root: string;
  readonly folders: GitDirs;
  warn(warning: Warning): void;
}

/** Removes git dirs planted by a command: the user's next `git status` would run what they configure. */
export class PlantedGit {
  readonly #parts: PlantedGitParts;
  /** Git dirs that belong to the user. */
  readonly #known: KnownGitDirs;
  readonly #unreadable = new Set<string>();
  readonly #removed: string[] = [];
  readonly #inDoubt: string[] = [];
  /** Those from outside that no command could reach yet. */
  readonly #adopted = new Set<string>();
  /** What the last look found. */
  #repositories: readonly string[] = [];

  constructor(parts: PlantedGitParts) {
    this.#parts = parts;
    this.#known = new KnownGitDirs(parts.root);
    this.#known.add(['.git']);
  }

  /** The folders of the work tree, as the last look read them. */
  get folders(): Pick<GitDirs, 'read' | 'below'> {
    return this.#parts.folders;
  }

  /** Git dirs that existed when the run began, wherever they are now, and those created from outside since. */
  get known(): readonly KnownGitDir[] {
    return this.#known.list();
  }

  /** Folders that could not be searched when the run began. */
  get unreadable(): Iterable<string> {
    return this.#unreadable;
  }

  /** The git dirs removed so far, in order. */
  get removed(): readonly string[] {
    return this.#removed;
  }

  /** Git dirs that commands created and that were kept, since each may be a copy of one that is gone. */
  get inDoubt(): readonly string[] {
    return this.#inDoubt;
  }

  /** A repository that existed when the run began and that the last look did not find anywhere; null if there is none. */
  lost(): string | null {
    return this.#known.lost(this.#repositories);
  }

  /** Looks at all folders for the first time: what is there is the user's. */
  async begin(clock: bigint): Promise<FoundFolders> {
    const found = await this.#parts.folders.below([''], clock);
    this.#repositories = [...found.gitDirs, ...found.repositories];
    this.#known.add(this.#repositories);
    for (const path of found.unreadable) this.#unreadable.add(path);
    return found;
  }

  /** Records what an earlier process knew as the user's. */
  recall(gitDirs: Iterable<KnownGitDir>): void {
    this.#known.recall(gitDirs);
  }

  /** Looks again. What is new is the user's if no command has run since the last look, and otherwise removed. */
  async look(clock: bigint, since: 'commands' | 'outside'): Promise<FoundFolders> {
    const found = await this.#parts.folders.below([''], clock);
    const isRemoved = await this.#judge(found, since === 'commands');
    return isRemoved ? this.#parts.folders.below([''], clock) : found;
  }

  /** True if anything was removed. */
  async #judge(found: FoundGitDirs, isByCommands: boolean): Promise<boolean> {
    this.#repositories = [...found.gitDirs, ...found.repositories];
    if (isByCommands) this.#tellAdopted();
    for (const path of found.unreadable) {
      if (isByCommands && !this.#unreadable.has(path))
        this.#parts.warn(
          warning(
            'WARN_GIT_DIR_UNSEARCHED',
            `${JSON.stringify(path)} cannot be searched for git dirs that commands created.`,
          ),
        );
    }
    const before = this.#removed.length;
    for (const one of this.#known.judge(found)) {
      const { path } = one;
      if (isByCommands && one.is === 'new') {
        await removeGitDir(this.#parts.root, path);
        this.tellRemoved([path]);
        continue;
      }
      this.#known.add([path]);
      if (one.is === 'new' || (one.is === 'perhaps_copied' && !isByCommands)) {
        this.#adopted.add(path);
        continue;
      }
      if (one.is === 'perhaps_copied') this.tellInDoubt([path]);
      this.#parts.warn(tellKept(one));
    }
    return this.#removed.length > before;
  }

  #tellAdopted(): void {
    for (const path of this.#adopted)
      this.#parts.warn(
        warning(
          'WARN_GIT_DIR_KEPT',
          `Something outside the run created ${JSON.stringify(path)} within reach of commands.`,
        ),
      );
    this.#adopted.clear();
  }

  /** The same for what was removed before the first look. */
  tellRemoved(gitDirs: readonly string[]): void {
    for (const path of gitDirs) {
      this.#removed.push(path);
      this.#parts.warn(
        warning(
          'WARN_GIT_DIR_REMOVED',
          `A command created ${JSON.stringify(path)}; it was removed, and the files next to it stay.`,
        ),
      );
    }
  }

  /** The same for what was found before the first look. */
  tellInDoubt(gitDirs: readonly string[]): void {
    this.#inDoubt.push(...gitDirs);
  }
}

/** The message about a git dir that may be the user's although it is in another place. */
function tellKept({ is, path, from }: Exclude<JudgedGitDir, { is: 'new' }>): Warning {
  const [now, before] = [JSON.stringify(path), JSON.stringify(from)];
  const text =
    is === 'moved'
      ? `${before}, which was there when the run began, was moved to ${now}, within reach of commands.`
      : `${before}, which was there when the run began, is gone; ${now} may be a copy of it and was kept. Inspect it before you use git there.`;
  return warning('WARN_GIT_DIR_KEPT', text);
}

/** Git dirs of the work tree that did not exist when its run began; `kept` lists those for which this is uncertain. */
export interface PlantedGitDirs {
  readonly planted: readonly string[];
  /** One sentence each. */
  readonly kept: readonly Warning[];
  /** Those that may be copies of ones that are gone. */
  readonly inDoubt: readonly string[];
}

/** Entries of one folder that are kept in memory: a command may have made any number. */
const MAX_KEPT_ENTRIES = 100_000;

/** Empty if the run began in another work tree. */
export async function plantedGitDirs(root: string, shadowDir: string): Promise<PlantedGitDirs> {
  const kept = keptRepositories(shadowDir, root);
  if (kept.status !== 'ok') return { planted: [], kept: [], inDoubt: [] };
  const known = new KnownGitDirs(root);
  known.recall(kept.gitDirs);
  const closed = new ClosedPlaces({ root, file: closedPlacesFile(shadowDir), warn: () => undefined });
  closed.recall();
  const limit = { maxEntries: MAX_KEPT_ENTRIES, exceeded: () => undefined };
  const everything = new GitDirs({ root, closed, setIds: null, limit });
  const { gitDirs, repositories } = await everything.below([''], 0n);
  const judged = known.judge({ gitDirs: [...gitDirs].sort(), repositories });
  return {
    planted: judged.flatMap(({ is, path }) => (is === 'new' ? [path] : [])),
    kept: judged.flatMap((one) => (one.is === 'new' ? [] : [tellKept(one)])),
    inDoubt: judged.flatMap(({ is, path }) => (is === 'perhaps_copied' ? [path] : [])),
  };
}

/** Removes them. Throws for one that cannot be removed. */
export async function removePlantedGitDirs(root: string, shadowDir: string): Promise<PlantedGitDirs> {
  const found = await plantedGitDirs(root, shadowDir);
  for (const path of found.planted) await removeGitDir(root, path);
  return found;
}
