/** What the run knows of the checkout by name: which paths are git's already, and which folders hold them. */

/** Grows during a run and never shrinks: a folder that once held a known file is never taken for a foreign repository. */
export class TrackedPaths {
  readonly #isFile: (path: string) => boolean;
  readonly #folders = new Set<string>();
  readonly #submodules = new Set<string>();

  /** `isFile` tells paths that are in whatever the ignore rules say. */
  constructor(isFile: (path: string) => boolean) {
    this.#isFile = isFile;
  }

  /** A path that is known; its folders are walked without asking. */
  addFolders(path: string): void {
    for (const folder of foldersOf(path)) {
      if (this.#folders.has(folder)) return;
      this.#folders.add(folder);
    }
  }

  /** A repository of its own, which is left out. */
  addSubmodule(path: string): void {
    this.#submodules.add(path);
    this.addFolders(path);
  }

  get submodules(): string[] {
    return [...this.#submodules];
  }

  isFile(path: string): boolean {
    return this.#isFile(path);
  }

  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  isSubmodule(path: string): boolean {
    return this.#submodules.has(path);
  }

  /** The submodule that `path` is or lies in; null when there is none. */
  submoduleOf(path: string): string | null {
    if (this.#submodules.size === 0) return null;
    if (this.#submodules.has(path)) return path;
    for (const folder of foldersOf(path)) if (this.#submodules.has(folder)) return folder;
    return null;
  }
}

/** The folders that a path lies in, nearest first, without the root. */
export function* foldersOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
    yield path.slice(0, cut);
}
