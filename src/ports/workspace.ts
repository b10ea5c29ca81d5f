/** The checkout, and what is known about its changes. Types only. */

import type { ChangedFile, FileState, FoundChange, PathChange } from '../domain/changes/change.ts';
import type { IgnoredFiles } from '../domain/changes/ignored-files.ts';
import type { RepoPath } from '../domain/changes/path.ts';
import type { FailureReason } from '../domain/conversation/tool.ts';
import type { BaseRevision } from '../domain/run/events.ts';
import type { ExceededChangeLimit } from '../domain/run/limits.ts';
import type { Warning } from '../domain/warnings/warning.ts';

/** The checkout. Reads and writes files by safe paths, sees every change, and makes the patch. Never runs anything in it. */
export interface Workspace {
  /** Absolute path of the work tree's root. */
  readonly root: string;
  /** What the run started from, and what changes are relative to. `rebase` replaces it. */
  base(): BaseRevision;
  /** The throwaway git dir that commands get instead of the real one. */
  readonly sandboxGitDir: SandboxGitDir;

  readFile(path: RepoPath): Promise<FileRead>;
  /** Writes exact bytes through a temporary file: creates missing folders, keeps the mode of an existing file. */
  writeFile(path: RepoPath, bytes: Uint8Array): Promise<FileWrite>;
  /**
   * Files below `path` that git would see by the current rules (tracked, or not ignored), sorted; links are listed
   * but never followed. `glob` is relative to `path`, as in .gitignore: without a slash it matches names at any
   * depth.
   */
  listFiles(path: RepoPath, glob: string | null): Promise<FileList>;
  /** Regular expression search (Rust syntax) in the text files that `listFiles` would name. */
  search(query: SearchQuery): Promise<SearchResult>;

  /**
   * What changed since the last capture: everywhere, or at the given paths only. Contents are kept in the shadow repository,
   * so that every state can be restored.
   */
  capture(scope: CaptureScope): Promise<PathChange[]>;
  /** Removes git dirs that commands created, for a run whose last scan was cut short. */
  sweep(): Promise<void>;
  /**
   * Restores paths to their state `before` these changes, and captures everything. Follows no links. The contents it
   * replaces stay in the shadow repository. A file that is older than the run, and was in none of the places that `all`
   * changes name, was moved from a place that is not tracked, such as an ignored folder: it is reported as stuck, not
   * removed. So is a repository that may be a copy of one that is gone.
   */
  putBack(changes: readonly PathChange[], all: readonly PathChange[]): Promise<PutBack>;
  /**
   * Folders around these paths that git treats as repositories although they are not called `.git`, in the work tree
   * as it is now with files at the paths in `added`; sorted.
   */
  repositoriesAround(paths: readonly string[], added?: readonly string[]): Promise<string[]>;
  /**
   * Files that have changed since the work began, no matter who changed them, and that ignore rules keep out of every
   * patch.
   */
  ignoredWrites(): Promise<IgnoredFiles>;
  /** Other repositories of the work tree in which something changed since the run began, sorted; git dirs aside. */
  nestedChanges(): Promise<NestedChange[]>;
  /** What the captures so far have seen. */
  notes(): WorkspaceNotes;
  /** Takes changes that the run did not make into the baseline, so that the patch applies on top of them. */
  rebase(changes: readonly PathChange[]): Promise<void>;
  /**
   * The patch of the uncommitted work, on top of which the patch of these net changes applies; null if nothing was
   * uncommitted when the run began.
   */
  uncommitted(net: readonly PathChange[]): Promise<UncommittedPatch | null>;
  /** Records for undo, when nothing changes any more, what the run has left of ignored files and of those over a limit. Returns how many differ. */
  settleFiles(): Promise<number>;
  /**
   * Called once, when nothing changes any more: of the stored contents, keeps only those that are needed to undo,
   * show and replay these changes, and that the repository does not have. Null on success, otherwise the reason.
   */
  keepEssentials(changes: readonly PathChange[]): Promise<string | null>;
  /** Builds the patch of the net changes against the baseline and proves it. */
  makePatch(net: readonly PathChange[]): Promise<PatchResult>;
}

/** What captures have seen besides changes. */
export interface WorkspaceNotes {
  /**
   * Files that existed when last seen and that the last full capture could not examine, sorted: they lie behind something
   * that was closed and could not be opened again. Whether they changed is not known.
   */
  readonly hidden: readonly string[];
  /**
   * Files that git ignored when the run began, that it would add now since a rule is gone, and that the run has not
   * changed: they are the user's, and not in the patch. As of the last full capture, sorted.
   */
  readonly exposed: readonly string[];
  /** Git dirs that commands created and that were removed, in the order of removal. */
  readonly removedGitDirs: readonly string[];
  /** Git dirs that commands created and that were kept, since each may be a copy of an earlier one that is gone. */
  readonly gitDirsInDoubt: readonly string[];
  /** The limit that changes have reached, so that captures omitted some of them; null if none was reached. */
  readonly exceeded: ExceededChangeLimit | null;
  /** What people must know: submodules left alone, LFS pointers, filters not run, odd ignores. */
  readonly warnings: readonly Warning[];
}

/** Reads stored contents by id. Null if it is missing, or longer than `maxBytes`. */
export type ReadBlobs = (
  ids: Iterable<string>,
  maxBytes: (id: string) => number,
) => Promise<ReadonlyMap<string, Buffer | null>>;

/**
 * `all` is everything, before commands run or when none has run: what it finds is from outside. `after_commands` is everything,
 * after removal of the git dirs that commands created, so that files beside them count. Otherwise these paths.
 */
export type CaptureScope = 'all' | 'after_commands' | readonly string[];

/** The outcome of putting changes back. */
export interface PutBack {
  /** Paths that could not be restored. `isFound`: it is, or may be, a file of the user that a command moved there. */
  readonly stuck: readonly { path: string; why: string; now: FileState | null; isFound: boolean }[];
  /** Other changes that the capture found. */
  readonly others: readonly PathChange[];
}

/** The git dir that sandboxed commands see instead of the real one. */
export interface SandboxGitDir {
  /** Absolute path of the throwaway git dir, outside the work tree. */
  readonly gitDir: string;
  /** Absolute path of the real object store, which commands may read but never write. */
  readonly objects: string;
  /** The work tree's `.git` is a file (linked worktree, submodule), not a folder. */
  readonly dotGitIsFile: boolean;
  /**
   * Other repositories of the work tree, as they were when the run began: commands must not reach their `.git` either. Empty
   * until the baseline has been taken.
   */
  readonly nested: readonly NestedRepository[];
  /** Folders of the work tree whose `.git` cannot be hidden from commands; absent if there are none. */
  readonly uncovered?: readonly string[];
}

/** A folder of the work tree that is a separate repository, or a submodule that is not checked out. */
export interface NestedRepository {
  /** Relative to the root. */
  readonly path: string;
  /** What its `.git` was when the run began; `itself`: the folder is a git dir that a `.git` file elsewhere points to. */
  readonly dotGit: 'folder' | 'file' | 'none' | 'itself';
  /** Commands must not change its files, either. Default: false. */
  readonly readOnly?: boolean;
}

/** What changed since the run began in another repository in the work tree. */
export interface NestedChange {
  /** Its folder, relative to the root. */
  readonly path: string;
  /** Files and links below it that were written, made or touched, sorted, relative to the root. */
  readonly files: readonly string[];
  /** Folders whose entries changed (the only trace of a deleted file), that folder itself included. */
  readonly folders: readonly string[];
}

/** `blob` is git's id of the bytes on disk; `text` is null if they are not UTF-8 or contain a NUL. */
export type FileRead =
  | { status: 'ok'; bytes: Uint8Array; text: string | null; blob: string }
  | { status: 'failed'; reason: FailureReason; message: string; beginning?: Uint8Array };

/**
 * The outcome of a write; `blob` is git's id of the bytes on disk. `unseen` is the write as a change if no capture
 * will show it: git ignores the path, or the bytes were already there.
 */
export type FileWrite =
  | { status: 'ok'; blob: string; created: boolean; ignored: boolean; unseen: FoundChange | null }
  | { status: 'failed'; reason: FailureReason; message: string };

/** Paths of files, or why they cannot be listed. */
export type FileList =
  | { status: 'ok'; paths: string[] }
  | { status: 'failed'; reason: FailureReason; message: string };

/** What to search for, and where. */
export interface SearchQuery {
  readonly pattern: string;
  readonly path: RepoPath;
  readonly glob: string | null;
  /** Matching lines after which the search stops. */
  readonly maxMatches: number;
  readonly signal: AbortSignal;
}

/** The matching lines, or why there are none. */
export type SearchResult =
  | { status: 'ok'; matches: SearchMatch[]; more: boolean }
  | { status: 'failed'; reason: FailureReason; message: string };

/** One matching line, without its line ending, cut to 500 characters. `line` counts from 1. */
export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** A patch that was applied to its base and gave the expected tree, or why there is none. */
export type PatchResult = { status: 'proven'; patch: ProvenPatch } | { status: 'failed'; message: string };

/** A patch that, applied to `baseTree`, gave exactly `tree`. An empty patch has no bytes. */
export interface ProvenPatch {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly baseTree: string;
  readonly tree: string;
  readonly files: ChangedFile[];
  /**
   * Folders in `tree` that git treats as repositories although they are not called `.git`, and that contain changes;
   * sorted. Not searched for in a patch of two trees.
   */
  readonly repositories: readonly string[];
}

/** `leftOut`: large uncommitted files that are not in the patch because the run did not change them. */
export type UncommittedPatch =
  | { status: 'proven'; patch: ProvenPatch; leftOut: readonly string[] }
  | { status: 'failed'; message: string };

/** The files of a commit, to read instead of a work tree that others have written to. */
export interface Revision {
  /** Full id. */
  readonly commit: string;
  /** Bytes of a regular file below the root; null when there is none at this path. */
  read(path: string): Promise<Uint8Array | null>;
}
