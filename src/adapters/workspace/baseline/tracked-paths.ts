/** The checkout's known paths: which ones git tracks already, and which folders contain them. */

/** Which paths are in whatever the ignore rules say. */
interface TrackedFiles {
  isTracked(path: string): boolean;
  /** Answers for the names in a folder, which is cheaper than asking for each path. */
  trackedIn(folder: string): (name: string) => boolean;
}

/** Only grows during a run: a folder that ever held a known file is never taken for a foreign repository. */
export class TrackedPaths {
  readonly #files: TrackedFiles;
  readonly #folders = new Set<string>();
  readonly #submodules = new Set<string>();
  #isKept: (path: string) => boolean = () => false;

  constructor(files: TrackedFiles) {
    this.#files = files;
  }

  /** Adds a known path; the folders it is in are walked without asking git. */
  addFolders(path: string): void {
    for (const folder of foldersOf(path)) {
      if (this.#folders.has(folder)) return;
      this.#folders.add(folder);
    }
  }

  /** Adds a nested repository, which is left out. */
  addSubmodule(path: string): void {
    this.#submodules.add(path);
    this.addFolders(path);
  }

  get submodules(): string[] {
    return [...this.#submodules];
  }

  isFile(path: string): boolean {
    return this.#files.isTracked(path);
  }

  /** Returns a function that says which names in a folder (`''` for the root) are such files. */
  filesIn(folder: string): (name: string) => boolean {
    return this.#files.trackedIn(folder);
  }

  /** Files of the base that are not in the index: no rule removes them from the base. */
  keepBase(isInBase: (path: string) => boolean): void {
    this.#isKept = isInBase;
  }

  /** Whether the path is a file of the base. Not before the first look has ended. */
  isInBase(path: string): boolean {
    return this.#isKept(path);
  }

  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  isSubmodule(path: string): boolean {
    return this.#submodules.has(path);
  }

  /** The submodule that `path` is or lies in, or null. */
  submoduleOf(path: string): string | null {
    if (this.#submodules.size === 0) return null;
    if (this.#submodules.has(path)) return path;
    for (const folder of foldersOf(path)) if (this.#submodules.has(folder)) return folder;
    return null;
  }
}

/** The folders that contain a path, nearest first, without the root. */
export function* foldersOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
    yield path.slice(0, cut);
}
