/**
 * Writes that do not wait for the baseline. What is at a path is noted before the first of them, and counts as the baseline's
 * state of that path whatever the look at the whole tree comes upon, so no order of that look and the writes matters.
 *
 * Only where nothing but that one file changes: a path in folders that hold tracked files, which are folders and no
 * repositories; a regular file, or none; no rule file; its content stored byte for byte. Any other write waits.
 */

import { closeSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FileMode,
  type FileState,
  type PathChange,
  sameOnDisk,
} from '../../../domain/changes/change.ts';
import { folderOf, nameOf, parseRepoPath, type RepoPath } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/unusable-file.ts';
import { repositoriesAround } from '../../../domain/review/git-folder.ts';
import type { ChangeLimits } from '../../../domain/run/change-limits.ts';
import { openNofollowFiles } from '../../../files/nofollow-files.ts';
import { openRegularIn, readWhole } from '../../../files/opened-file.ts';
import { type FileStat, type Look, sameStat } from '../../../files/stat.ts';
import { lookAt, type TreeView, viewing } from '../../../files/tree-view.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import type { ObjectStore } from '../../../git/store/object-store.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import type { EarlyWriting, FileWrite } from '../../../ports/workspace.ts';
import type { Conversion } from '../baseline/conversion.ts';
import type { IndexEntry } from '../baseline/index/index-entries.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import { contentOf, type Noted, type NotedPaths, type RecordedPath } from '../noted-paths.ts';
import { isTemporary } from '../restore/leftovers.ts';
import { openRestorer } from '../restore/restore.ts';
import type { EarlyParts, EarlyRules } from './early-rules.ts';

/** What the writes are judged by, and where contents are stored. */
export interface EarlyWritesParts extends EarlyParts {
  readonly store: ObjectStore;
  readonly limits: ChangeLimits;
  readonly rules: () => Promise<EarlyRules>;
}

interface Note {
  readonly before: FileState | null;
  /** What to put back if the run ends without a baseline: that before, or what others have made of it before a write. */
  origin: FileState | null;
  readonly entry: IndexEntry | undefined;
  /** Line endings stay as they are whatever the content. */
  readonly keepsEndings: boolean;
  /** What was seen at the path last. */
  seen: FileStat | null;
  now: FileState | null;
  recorded: FileState | null;
  readonly sizes: number[];
  readonly inodes: bigint[];
}

/** How a path is read, as rules say. */
interface Ruled {
  readonly conversion: Conversion;
  readonly isIgnored: boolean;
}

/** Few files and small ones: what is more waits, so that no limit on changes has to be thought of. */
const MAX_PATHS = 64;
const MAX_FILE_BYTES = 1024 ** 2;
const MAX_BYTES = 32 * MAX_FILE_BYTES;
/** Folders with more entries are left to the look at the whole tree. */
const MAX_ENTRIES = 10_000;

/** `close` is called by whoever takes the baseline, in one piece with using its result. */
export class EarlyWrites implements NotedPaths, EarlyWriting {
  readonly #parts: EarlyWritesParts;
  readonly #notes = new Map<string, Note>();
  #stage: 'open' | 'closed' | 'handed_over';
  #bytes = 0;

  constructor(parts: EarlyWritesParts) {
    const { maxChangedFiles, maxChangedBytes, maxChangedFileBytes, maxDiskBytes } = parts.limits;
    const isRoomy =
      maxChangedFiles > MAX_PATHS &&
      maxChangedFileBytes > MAX_FILE_BYTES &&
      Math.min(maxChangedBytes, maxDiskBytes) > 2 * MAX_BYTES;
    this.#parts = parts;
    this.#stage = isRoomy ? 'open' : 'closed';
  }

  /** As in the port. */
  async note(paths: readonly string[]): Promise<{ path: string; state: FileState | null }[] | null> {
    if (this.#stage !== 'open' || paths.length === 0 || paths.some(isSpecial)) return null;
    const ruled = await this.#ruled(paths);
    // From here on nothing is awaited: what is seen is noted in the same moment.
    if (ruled === null || this.#stage !== 'open') return null;
    const found = new Map<string, Note>();
    for (const [path, rule] of ruled) {
      const known = this.#notes.get(path);
      const note = known ? this.#again(path, known) : this.#look(path, rule);
      if (note === null) return null;
      if (known === undefined) found.set(path, note);
    }
    if (this.#notes.size + found.size > MAX_PATHS) return null;
    for (const [path, note] of found) this.#notes.set(path, note);
    return [...found].map(([path, { before }]) => ({ path, state: before }));
  }

  /** Whether all these paths are noted, and the snapshot does not know of them yet. */
  covers(paths: readonly string[]): boolean {
    return this.#stage !== 'handed_over' && paths.every((path) => this.#notes.has(path));
  }

  /** Null if the write has to wait after all. */
  write(path: RepoPath, bytes: Uint8Array): FileWrite | null {
    const note = this.#notes.get(path);
    if (note === undefined || this.#stage === 'handed_over') return null;
    const { root } = this.#parts.checkout;
    const isTooMuch = bytes.length > MAX_FILE_BYTES || this.#bytes + bytes.length > MAX_BYTES;
    if (isTooMuch || (!note.keepsEndings && bytes.includes(CR))) return null;
    if (this.#again(path, note) === null) return null;
    // Stored first: where that fails, the file is as it was.
    const blob = this.#parts.store.write(bytes, note.entry?.blob ?? null);
    const written = openNofollowFiles(root).write(path, bytes);
    if (written.status === 'failed') return written;
    const look = lookAt(root, path);
    note.seen = look.status === 'seen' ? look.stat : null;
    if (note.seen !== null) note.inodes.push(note.seen.ino);
    const mode = note.seen ? this.#modeOf(note.entry, note.seen) : (note.before?.mode ?? '100644');
    const before = note.now;
    note.now = { mode, blob, size: bytes.length };
    this.#bytes += bytes.length;
    const isSame = sameOnDisk(before, note.now);
    const unseen = isSame ? { path, before, after: before, excluded: 'identical' as const } : null;
    return { ...written, blob, ignored: false, unseen };
  }

  /** What these writes have changed since the last call. */
  capture(paths: readonly string[]): PathChange[] {
    return paths.flatMap((path) => {
      const note = this.#notes.get(path);
      if (note === undefined || sameOnDisk(note.recorded, note.now)) return [];
      const change = { path, before: note.recorded, after: note.now };
      note.recorded = note.now;
      if (note.now !== null) note.sizes.push(note.now.size);
      return [change];
    });
  }

  /** As in the port. */
  repositoriesAround(paths: readonly string[], added: readonly string[]): string[] {
    return viewing(this.#parts.checkout.root, (view) =>
      repositoriesAround(paths, (folder) => {
        const listing = view.listFolder(folder);
        const there = listing.status === 'seen' ? listing.entries.map(({ name }) => name) : [];
        return [...there, ...added.filter((path) => folderOf(path) === folder).map(nameOf)];
      }),
    );
  }

  /** Nothing is written or noted from here on. */
  end(): void {
    if (this.#stage === 'open') this.#stage = 'closed';
  }

  /** As in `NotedPaths`; looks itself, for the look at the whole tree may have been before a write. */
  close(): Noted {
    this.end();
    const notes = [...this.#notes];
    const isMoved = ([path, note]: [string, Note]) =>
      !sameOnDisk(note.before, note.now) && this.#again(path, note) === null;
    return {
      states: new Map(notes.map(([path, { before }]) => [path, before])),
      moved: new Set(notes.filter(isMoved).flatMap(([, { now }]) => contentOf(now))),
    };
  }

  handOver(take: (path: string, recorded: RecordedPath) => void): void {
    this.#stage = 'handed_over';
    for (const [path, { recorded, sizes, inodes }] of this.#notes)
      take(path, { state: recorded, sizes, inodes });
  }

  /** What the finished workspace found: a write here, one that waited for it after all (`isLate`), or what others have done. */
  follow({ path, before, after }: PathChange, isLate: boolean): void {
    const note = this.#notes.get(path);
    if (note === undefined) return;
    if (isLate) {
      if (!sameOnDisk(before, note.now)) note.origin = before;
      const look = lookAt(this.#parts.checkout.root, path);
      note.seen = look.status === 'seen' ? look.stat : null;
      note.now = after;
    }
    if (sameOnDisk(note.now, after)) note.recorded = after;
  }

  /** As in the port. */
  async takeBack(): Promise<{ reverted: PathChange[]; left: string[] }> {
    this.end();
    const { checkout, shadowDir } = this.#parts;
    const reverted: PathChange[] = [];
    const left: string[] = [];
    const changed = [...this.#notes].filter(([, { origin, now }]) => !sameOnDisk(origin, now));
    if (changed.length === 0) return { reverted, left };
    const restorer = await openRestorer({ root: checkout.root, shadowDir });
    for (const [path, note] of changed) {
      const { origin, recorded } = note;
      const failure = this.#again(path, note) === null ? 'changed' : await restorer.put(path, origin);
      if (failure !== null) left.push(path);
      else if (!sameOnDisk(recorded, origin)) reverted.push({ path, before: recorded, after: origin });
    }
    return { reverted, left };
  }

  /** Null where the rules cannot be read, which the baseline will say. */
  async #ruled(paths: readonly string[]): Promise<Map<string, Ruled> | null> {
    try {
      const { takeAbove, conversionOf, isIgnored } = await this.#parts.rules();
      const ruled = new Map<string, Ruled>();
      for (const path of paths) {
        takeAbove(path);
        const conversion = await conversionOf(path);
        if (conversion === null) return null;
        const isTracked = this.#parts.tree.tracked.isFile(path);
        ruled.set(path, { conversion, isIgnored: !isTracked && (await isIgnored(path)) });
      }
      return ruled;
    } catch (error) {
      if (error instanceof UnusableFile) return null;
      throw error;
    }
  }

  /** Null unless the path is as it was seen last. */
  #again(path: string, note: Note): Note | null {
    return viewing(this.#parts.checkout.root, (view) => {
      if (!this.#isPlain(view, path) || view.lookAtFolder(folderOf(path)).status !== 'seen') return null;
      return isAsSeen(view.lookAt(path), note.seen) ? note : null;
    });
  }

  /** The folders around the path hold tracked files, and are no repositories. */
  #isPlain(view: TreeView, path: string): boolean {
    const { tracked } = this.#parts.tree;
    if (tracked.isFolder(path) || tracked.submoduleOf(path) !== null) return false;
    return [...foldersOf(path)].every(
      (folder) => tracked.isFolder(folder) && view.lookAt(`${folder}/.git`).status === 'absent',
    );
  }

  #look(path: string, { conversion, isIgnored }: Ruled): Note | null {
    const { checkout, index } = this.#parts;
    const { ident, encoding, filter, lineEndings } = conversion;
    if (isIgnored || ident || encoding !== null || filter !== null) return null;
    // Rules that are kept in the work tree would be read once more if the run died before its baseline.
    if (machineRuleFiles(checkout, this.#parts.settings).has(join(checkout.root, path))) return null;
    const keepsEndings = lineEndings === 'keep';
    const entry = index.entries.get(path);
    if (entry !== undefined && (entry.blob === null || entry.skipWorktree || !isRegular(entry.mode)))
      return null;
    const note = { entry, keepsEndings, sizes: [], inodes: [] };
    const limit = { maxEntries: MAX_ENTRIES, exceeded: () => undefined };
    const look = (view: TreeView): Note | null => {
      if (!this.#isPlain(view, path)) return null;
      const listing = view.listFolder(folderOf(path));
      // An empty folder is kept in mind by the look at the whole tree.
      if (listing.status !== 'seen' || listing.entries.length === 0) return null;
      const isListed = listing.entries.some(({ name }) => name === nameOf(path));
      if (view.lookAt(path).status === 'absent' && !isListed)
        return entry === undefined
          ? { ...note, before: null, origin: null, now: null, recorded: null, seen: null }
          : null;
      // By another spelling, where names have no case.
      if (!isListed) return null;
      const there = this.#stateOf(view, path, { entry, keepsEndings });
      if (there === null) return null;
      const { state, stat } = there;
      return { ...note, before: state, origin: state, now: state, recorded: state, seen: stat };
    };
    return viewing(checkout.root, look, limit);
  }

  /** What is there, stored; null for anything but a plain file whose content and mode are what the index proves, if it does. */
  #stateOf(
    view: TreeView,
    path: string,
    { entry, keepsEndings }: Pick<Note, 'entry' | 'keepsEndings'>,
  ): { state: FileState; stat: FileStat } | null {
    const opening = openRegularIn(view, path);
    if (opening.status !== 'open') return null;
    const { file } = opening;
    try {
      const { stat } = file;
      if (stat.setId !== 0 || stat.size > MAX_FILE_BYTES) return null;
      const bytes = readWhole(file);
      if (bytes.length !== stat.size || (!keepsEndings && bytes.includes(CR))) return null;
      const mode = this.#modeOf(entry, stat);
      const blob = this.#parts.store.write(bytes, entry?.blob ?? null);
      if (entry?.settled && (blob !== entry.blob || mode !== entry.mode)) return null;
      return { state: { mode, blob, size: bytes.length }, stat };
    } finally {
      closeSync(file.descriptor);
    }
  }

  #modeOf(entry: IndexEntry | undefined, { executable }: FileStat): FileMode {
    const isExecutable = this.#parts.settings.fileMode ? executable : entry?.mode === '100755';
    return isExecutable ? '100755' : '100644';
  }
}

const CR = 0x0d;

/** Where git reads rules besides those of folders, as named and without links. */
function machineRuleFiles({ commonDir }: Checkout, settings: UserSettings): Set<string> {
  const named = [settings.excludesFile, settings.attributesFile].filter((file) => file !== null);
  const info = ['exclude', 'attributes'].map((name) => join(commonDir, 'info', name));
  return new Set([...named, ...info].flatMap((file) => [file, withoutLinks(file)]));
}

function withoutLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function isRegular(mode: FileMode): boolean {
  return mode === '100644' || mode === '100755';
}

function isAsSeen(look: Look, seen: FileStat | null): boolean {
  return look.status === 'seen'
    ? seen !== null && sameStat(look.stat, seen)
    : look.status === 'absent' && seen === null;
}

/** Names with a meaning for git or for this program, and names that a walk may refuse. */
function isSpecial(path: string): boolean {
  const parsed = parseRepoPath(path);
  if (!parsed.ok || parsed.path !== path || isTemporary(path)) return true;
  return path.split('/').some((name) => /^\.?git/i.test(name) || /[\\\p{Surrogate}\p{Cf}\p{Cc}]/u.test(name));
}
