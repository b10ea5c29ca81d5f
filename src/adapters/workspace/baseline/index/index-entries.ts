/** The entries of the user's index by their paths, with what each of them proves of its file. */

import type { FileMode } from '../../../../domain/changes/change.ts';
import { folderOf } from '../../../../domain/changes/path.ts';
import { IndexRecords } from './index-records.ts';

/** What an index says of one path. An unmerged path has an entry with `blob` null. */
export interface IndexEntry {
  readonly mode: FileMode;
  readonly blob: string | null;
  /** Left out of a sparse checkout. */
  readonly skipWorktree: boolean;
  /** Git has seen the file with this content, and would see any change to it by its stat alone. */
  readonly settled: boolean;
  /** Bytes on disk and inode number, their low 32 bits, as git saw them; 0 where it knew nothing. */
  readonly size: number;
  readonly ino: number;
}

/** A file that was written within the second in which the index was, where git's own comparison ends. */
export interface RecentFile {
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** Read once, on creation; individual entries are built on demand. */
export class IndexEntries {
  readonly #records: IndexRecords;
  /** By ordinal: 1 for a settled entry. */
  readonly #settled: Uint8Array;
  readonly #recent: number[] = [];
  readonly #unsettled: number[] = [];
  readonly #withoutFile: number[] = [];
  readonly #ruleFiles: number[] = [];
  /** The first entry of each run of entries that lie in one folder. */
  readonly #folderStarts: number[] = [];
  /** By folder, where its runs are in `#folderStarts`: the files of a folder may lie before and after those of folders in it. */
  #runs: Map<string, number[]> | null = null;
  /** Of an index with few entries, all of them by their paths; the entries of others are searched. */
  #byPath: Map<string, number> | null = null;
  /** The folder that was asked about last: a walk asks for one file after the other. */
  #lastFolder: { folder: string; names: Map<string, number> } | null = null;

  /** `mtimeNs` is the index's own, in ns: entries as young as that prove nothing. */
  constructor(records: IndexRecords, mtimeNs: bigint) {
    this.#records = records;
    this.#settled = new Uint8Array(records.length);
    const written = { s: Number(mtimeNs / SECOND_NS), ns: Number(mtimeNs % SECOND_NS) };
    for (let ordinal = 0; ordinal < records.length; ordinal += 1) {
      const isSettled = records.proves(ordinal, written);
      if (isSettled) this.#settled[ordinal] = 1;
      else this.#unsettled.push(ordinal);
      if (isSettled && records.ctimeOf(ordinal) >= written.s) this.#recent.push(ordinal);
      if (records.isWithoutFile(ordinal)) this.#withoutFile.push(ordinal);
      if (RULE_FILES.some((name) => records.isNamed(ordinal, name))) this.#ruleFiles.push(ordinal);
      if (ordinal === 0 || !records.areNeighbours(ordinal - 1, ordinal)) this.#folderStarts.push(ordinal);
    }
  }

  /** Those of an index that is not there. */
  static none(): IndexEntries {
    return new IndexEntries(IndexRecords.none(), 0n);
  }

  get size(): number {
    return this.#records.length;
  }

  get(path: string): IndexEntry | undefined {
    const ordinal = this.#find(path);
    return ordinal === null ? undefined : this.#entry(ordinal);
  }

  isSettled(path: string): boolean {
    const ordinal = this.#find(path);
    return ordinal !== null && this.#settled[ordinal] === 1;
  }

  /**
   * Returns a function that says whether a name in this folder (`''` for the root) is a settled file. Cheaper than asking for
   * each path.
   */
  settledIn(folder: string): (name: string) => boolean {
    const names = this.#namesIn(folder);
    return (name) => {
      const ordinal = names.get(name);
      return ordinal !== undefined && this.#settled[ordinal] === 1;
    };
  }

  /** A file that git tracks, whatever the ignore rules say. */
  isTracked(path: string): boolean {
    const ordinal = this.#find(path);
    return ordinal !== null && this.#records.at(ordinal).mode !== SUBMODULE;
  }

  /** The same for the names in a folder, `''` for the root. As cheap as `settledIn`. */
  trackedIn(folder: string): (name: string) => boolean {
    const names = this.#namesIn(folder);
    return (name) => {
      const ordinal = names.get(name);
      return ordinal !== undefined && this.#records.at(ordinal).mode !== SUBMODULE;
    };
  }

  /** All paths, in the order of their bytes. */
  *keys(): Generator<string> {
    for (let ordinal = 0; ordinal < this.#records.length; ordinal += 1) yield this.#records.pathOf(ordinal);
  }

  *[Symbol.iterator](): Generator<[path: string, entry: IndexEntry]> {
    for (let ordinal = 0; ordinal < this.#records.length; ordinal += 1) yield this.#pair(ordinal);
  }

  /** Files whose stats say what git's own comparison cannot. */
  recent(): RecentFile[] {
    return this.#recent.map((ordinal) => {
      const { ctimeS, ctimeNs, mtimeS, mtimeNs } = this.#records.at(ordinal);
      return {
        path: this.#records.pathOf(ordinal),
        mtimeNs: BigInt(mtimeS) * SECOND_NS + BigInt(mtimeNs),
        ctimeNs: BigInt(ctimeS) * SECOND_NS + BigInt(ctimeNs),
      };
    });
  }

  /** Paths of entries that prove nothing. */
  unsettled(): string[] {
    return this.#unsettled.map((ordinal) => this.#records.pathOf(ordinal));
  }

  /** Submodules, and files that a sparse checkout leaves out. */
  withoutFile(): [path: string, entry: IndexEntry][] {
    return this.#withoutFile.map((ordinal) => this.#pair(ordinal));
  }

  /** Entries that are called `.gitignore` or `.gitattributes`. */
  ruleFiles(): [path: string, entry: IndexEntry][] {
    return this.#ruleFiles.map((ordinal) => this.#pair(ordinal));
  }

  /** A path in each folder that has entries; a folder may come several times. */
  onePathAFolder(): string[] {
    return this.#folderStarts.map((ordinal) => this.#records.pathOf(ordinal));
  }

  #pair(ordinal: number): [path: string, entry: IndexEntry] {
    return [this.#records.pathOf(ordinal), this.#entry(ordinal)];
  }

  #entry(ordinal: number): IndexEntry {
    const { mode, stage, intentToAdd, skipWorktree, size, ino } = this.#records.at(ordinal);
    return {
      mode: mode.toString(8).padStart(6, '0') as FileMode,
      blob: stage === 0 && !intentToAdd ? this.#records.blobOf(ordinal) : null,
      skipWorktree,
      settled: this.#settled[ordinal] === 1,
      size,
      ino,
    };
  }

  #find(path: string): number | null {
    if (this.#records.length <= FEW) {
      this.#byPath ??= new Map(Array.from(this.keys(), (known, ordinal) => [known, ordinal]));
      return this.#byPath.get(path) ?? null;
    }
    const cut = path.lastIndexOf('/');
    const folder = cut < 0 ? '' : path.slice(0, cut);
    if (this.#lastFolder?.folder !== folder) return this.#records.find(path);
    return this.#lastFolder.names.get(path.slice(cut + 1)) ?? null;
  }

  #namesIn(folder: string): Map<string, number> {
    if (this.#lastFolder?.folder !== folder) this.#lastFolder = { folder, names: this.#readFolder(folder) };
    return this.#lastFolder.names;
  }

  #readFolder(folder: string): Map<string, number> {
    this.#runs ??= this.#findRuns();
    const names = new Map<string, number>();
    for (const run of this.#runs.get(folder) ?? []) {
      const end = this.#folderStarts[run + 1] ?? this.#records.length;
      for (let ordinal = this.#folderStarts[run] ?? end; ordinal < end; ordinal += 1)
        names.set(this.#records.nameOf(ordinal), ordinal);
    }
    return names;
  }

  #findRuns(): Map<string, number[]> {
    const runs = new Map<string, number[]>();
    for (const [run, path] of this.onePathAFolder().entries()) {
      const folder = folderOf(path);
      const known = runs.get(folder);
      if (known === undefined) runs.set(folder, [run]);
      else known.push(run);
    }
    return runs;
  }
}

const FEW = 1_000;
const SECOND_NS = 1_000_000_000n;
const SUBMODULE = 0o160000;
const RULE_FILES = [Buffer.from('.gitignore'), Buffer.from('.gitattributes')];
