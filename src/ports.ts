/** Every interface to the outside world, on one page. Types only. */

import type * as z from 'zod';
import type { Retry, SpentTokens } from './domain/budget/spent.ts';
import type { FileMode, FileState, FoundChange, PathChange, Writer } from './domain/changes/change.ts';
import type { ChangedFile } from './domain/changes/changed-file.ts';
import type { IgnoredFiles } from './domain/changes/ignored-files.ts';
import type { RepoPath } from './domain/changes/path.ts';
import type { Conversation, LlmTurn } from './domain/conversation/conversation.ts';
import type { Excerpt } from './domain/conversation/excerpt.ts';
import type { CommandEnd, FailureReason, Lane } from './domain/conversation/tool.ts';
import type { RefusedHost } from './domain/review/allowed-domain.ts';
import type { ExceededChangeLimit } from './domain/run/change-limits.ts';
import type { EnforcedLimits } from './domain/run/command-limits.ts';
import type { BaseCommit, BaseRevision, RunEvent, SandboxLevel } from './domain/run/events.ts';
import type { ProviderFailureKind } from './domain/run/limits.ts';
import type { VerifyIn } from './domain/run/model-settings.ts';
import type { RunResult } from './domain/run/result.ts';

/** Unix time in milliseconds. */
export type Clock = () => number;

// ── Model ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Asks a model for its next turn. It does its own retries; callers must not retry. */
export interface LlmProvider {
  readonly name: string;
  readonly model: string;
  /**
   * Resolves with a complete answer or a failure; rejects only for bugs. When `signal` aborts it resolves at once with
   * `interrupted`. An incomplete answer is never returned.
   */
  complete(request: TurnRequest): Promise<TurnResult>;
  /** Why it cannot be asked from this checkout, for people; null when it can. Asked once the checkout is known. */
  obstacle?(): string | null;
}

/** One turn that is asked of a model. */
export interface TurnRequest {
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  /**
   * The most tokens that the answer to the next attempt may have, when those before it have used up so much; null when there is
   * no room for another one. The turn then ends as `interrupted`, with what the last attempt had used up.
   */
  answerTokens(spent: readonly SpentTokens[]): number | null;
  onProgress(progress: TurnProgress): void;
  /**
   * What the answer is for: `summary` is asked for by the conversation's last message, `compaction` by the API's own means, where the
   * model has them, `review` in a conversation of its own, of the reviewer's model where there is one. Default: the next turn of the
   * work.
   */
  readonly purpose?: 'summary' | 'compaction' | 'review';
  /** The run has put its fallback model in the place of the first one, so that this one is asked. */
  readonly isOfFallback?: boolean;
}

/**
 * What happens while a turn is under way. Text, and how many bytes of the answer to an attempt have been received, are shown
 * to people and not recorded; a retry is told before its wait.
 */
export type TurnProgress =
  | { type: 'text'; text: string }
  | { type: 'received'; bytes: number }
  | { type: 'retry'; retry: Retry };

/**
 * The model's answer, or why there is none. `spent` is what the attempt that was under way had used up; left out when nothing was
 * reported of it.
 */
export type TurnResult =
  | { status: 'ok'; turn: LlmTurn }
  | { status: 'failed'; kind: ProviderFailureKind; message: string; spent?: SpentTokens }
  | { status: 'interrupted'; spent?: SpentTokens };

// ── Tools ────────────────────────────────────────────────────────────────────────────────────────────────────

/** A tool of the model: a strict schema, a lane, and one function. */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Input>;
  /** The JSON Schema that the model is shown, where it says more than `schema` can. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly lane: Lane;
  /**
   * Its results come from outside: from a server, not from the work tree and the sandbox. A replay takes them from the journal, and a
   * resumed run never makes such a call twice. Default: false.
   */
  readonly isOutside?: boolean;
  /** Other tools' names for parameters of this one, which models are used to: each with the name it has here. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The path the call will write, so that two writes to one path never run together; null when it is not a legal path. */
  target?(input: Input): string | null;
  execute(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** What a tool may act on. */
export interface ToolContext {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** What the model has read so far. */
  readonly seen: SeenFiles;
  readonly signal: AbortSignal;
}

/**
 * What a tool hands to the executor, which truncates it. `next` gives the literal call that shows what was cut out of the
 * middle; `shown` receives what the model really gets to see, so that a tool never remembers more than that; `command` is
 * how a command ended, for the journal.
 */
export type ToolResult =
  | {
      status: 'ok';
      output: Excerpt;
      next?: NextCall;
      shown?: (excerpt: Excerpt) => void;
      command?: CommandEnd;
    }
  | { status: 'failed'; reason: FailureReason; output: Excerpt; next?: NextCall; command?: CommandEnd }
  | { status: 'finished'; verdict: 'done' | 'blocked'; summary: string; answer?: z.core.util.JSONType };

/** Reads documents that are no text themselves. */
export interface DocumentReader {
  /** Such as `a PDF document`, by what is in it; null for what is none that can be read. */
  kindOf(bytes: Uint8Array): string | null;
  /** Its text. Bounded in time and memory, whatever the bytes are. */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<DocumentRead>;
}

/** The text of a document, which may be empty, or why there is none, as the end of a sentence. */
export type DocumentRead =
  | { status: 'ok'; text: string }
  | { status: 'failed'; reason: 'interrupted' | 'timeout' | 'too_large' | 'not_text'; why: string };

/** Reads pages of the web. It follows redirections, and refuses every address that is not a public one. */
export interface PageReader {
  /** `url` is what the model has asked for. */
  read(url: string, signal: AbortSignal): Promise<PageRead>;
}

/** A page as text, or why there is none. */
export type PageRead =
  | {
      status: 'ok';
      /** Where it was found in the end. */
      url: string;
      /** Such as `text/html`. */
      type: string;
      /** Of the answer, before it was made text. */
      bytes: number;
      /** The answer was longer than what is read. */
      isCut: boolean;
      text: string;
    }
  | { status: 'failed'; reason: FailureReason; message: string };

/** Searches the web with somebody's index of it. */
export interface SearchProvider {
  /** Whom it asks, for people. */
  readonly name: string;
  search(
    query: string,
    options: { readonly count: number; readonly signal: AbortSignal },
  ): Promise<WebSearch>;
}

/** What was found, the best first, or why nothing was. */
export type WebSearch =
  | { status: 'ok'; found: { readonly title: string; readonly url: string; readonly text: string }[] }
  | { status: 'failed'; reason: FailureReason; message: string };

/** The JSON Schema that the answer of a run must fit. */
export interface AnswerSchema {
  readonly schema: Readonly<Record<string, z.core.util.JSONType>>;
  /** What is wrong with an answer, in one line for the model; null when it fits. */
  problemIn(answer: unknown): string | null;
}

/** Builds that call from the text kept before the gap, the number of characters missing, and the text kept after it. */
export type NextCall = (shownHead: string, omitted: number, shownTail: string) => string;

/** Remembers which lines of which file version the model has been shown. */
export interface SeenFiles {
  /** `lines` are 1-based and inclusive; `total` is the number of lines of the file. */
  saw(path: string, blob: string, lines: { from: number; to: number }, total: number): void;
  /** The model wrote the file itself. */
  wrote(path: string, blob: string): void;
  /** The model changed a part of the version `before`, which made the version `after` of so many lines; that shows nothing more of it. */
  edited(path: string, versions: { before: string; after: string; total: number }): void;
  /** `part`: this very version was shown, but not all of it, or not all of it is left of what was shown. */
  coverage(path: string, blob: string): 'all' | 'part' | 'none';
}

// ── Workspace ────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The checkout. Reads and writes files by safe paths, sees every change, and makes the patch. Never runs anything from it.
 *
 * A plain object: a decorator is `{ ...workspace, writeFile }`, and a new method is added in one place.
 */
export interface Workspace {
  /** Absolute path of the work tree's root. */
  readonly root: string;
  /** What the run started from, without its tree as long as the baseline is being taken. `rebase` replaces it. */
  base(): BaseRevision | BaseCommit;
  /** The same when the baseline has been taken: the tree that changes are counted from. Rejects when it cannot be. */
  baseline(): Promise<TakenBaseline>;
  /** The throwaway git dir that commands get instead of the real one. */
  readonly agentGit: SandboxGitDir;

  readFile(path: RepoPath): Promise<FileRead>;
  /**
   * Writes exact bytes through a temporary file and a rename: makes missing folders, keeps the mode of an existing file. Who
   * writes is kept in mind where git ignores the path.
   */
  writeFile(path: RepoPath, bytes: Uint8Array, by?: Writer): Promise<FileWrite>;
  /**
   * Files below `path` that git would see by the rules of this moment (tracked, or not ignored), sorted; links are listed and
   * never followed.
   * `glob` is relative to `path` in the manner of .gitignore: without a slash it matches names at any depth.
   */
  listFiles(path: RepoPath, glob: string | null): Promise<FileList>;
  /** Regular expression search (Rust syntax) in the text files that `listFiles` would name. */
  search(query: SearchQuery): Promise<SearchResult>;

  /**
   * What changed since the last capture: everywhere, or at the given paths only. Contents are kept in the shadow repository,
   * so that every state can be restored.
   */
  capture(scope: CaptureScope): Promise<PathChange[]>;
  /** Git dirs that commands created and that were removed, in the order of removal. */
  removedGitDirs(): readonly string[];
  /** Git dirs that commands created and that were kept, since each may be a copy of an earlier one that is gone. */
  gitDirsInDoubt(): readonly string[];
  /**
   * Removes git dirs that commands created and clears set-uid bits they set, for a run whose last look at the work tree was
   * cut short.
   */
  sweep(): Promise<void>;
  /** Draws a line before commands run, so that earlier changes are not attributed to them. Who runs them is kept in mind. */
  checkpoint(by?: Writer): Promise<Checkpoint>;
  /**
   * Who wrote a file that the last look at everything found because rules have changed; null for what is the work of whoever
   * the look was for.
   */
  writerOf(path: string): Writer | 'outside' | null;
  /**
   * Restores paths to their state `before` these changes, and captures everything. Follows no links. The contents it
   * replaces stay in the shadow repository. A file that is older than the run, and was in none of the places that `all`
   * changes name, was moved from a place that is not tracked, such as an ignored folder: it is reported as stuck, not
   * removed. So is a repository that may be a copy of one that is gone.
   */
  putBack(changes: readonly PathChange[], all: readonly PathChange[]): Promise<PutBack>;
  /**
   * Files that existed when last seen and that the last full capture could not examine, sorted: they lie behind something
   * that was closed and could not be opened again. Whether they changed is not known.
   */
  hidden(): readonly string[];
  /**
   * Files that git ignored when the run began, that it would add now since a rule is gone, and that the run has not changed:
   * they are the user's, and in no patch. As of the last look at everything, sorted.
   */
  exposed(): readonly string[];
  /**
   * Folders around these paths that git takes for repositories although they are not called `.git`, in the work tree as it
   * is now with files at the paths in `added`; sorted.
   */
  repositoriesAround(paths: readonly string[], added?: readonly string[]): Promise<string[]>;
  /**
   * Files that changed since the work began, whoever changed them, and that ignore rules keep out of every patch. Clears set-uid
   * and set-gid bits that commands set on them, and on files of other repositories in the work tree.
   */
  ignoredWrites(): Promise<IgnoredFiles>;
  /** The files among them as changes, with who wrote them last; some hundred at most. Where no times can tell it, none. */
  ignoredChanges(): Promise<IgnoredWrites>;
  /** The limit that changes have reached, so that captures left some of them out; null when none was reached. */
  exceeded(): ExceededChangeLimit | null;
  /**
   * Repositories of the work tree, other than its own, in which something changed since the run began, sorted; git dirs
   * aside.
   */
  nestedChanges(): Promise<NestedChange[]>;
  /**
   * Notes from the last captures that people must know: submodules left alone, LFS pointers, filters not run, odd ignores.
   */
  warnings(): string[];
  /** Takes changes that the run did not make into the baseline, so that the patch applies on top of them. */
  rebase(changes: readonly PathChange[]): Promise<void>;
  /**
   * The patch of the base's commit that the patch of these net changes applies to; null where nothing was uncommitted when the
   * run began.
   */
  uncommitted(net: readonly PathChange[]): Promise<UncommittedPatch | null>;
  /**
   * Called once, when nothing changes any more: of the stored contents, keeps those that undoing, showing and replaying all
   * these changes takes, and that the repository does not have. Null on success, otherwise the reason.
   */
  keepEssentials(changes: readonly PathChange[], read: ReadBlobs): Promise<string | null>;
  /** Builds the patch of the net changes against the baseline and proves it. */
  makePatch(net: readonly PathChange[]): Promise<PatchResult>;
}

/** A workspace whose baseline has been taken. */
export interface WholeWorkspace extends Workspace {
  base(): BaseRevision;
}

/** Reads stored contents by their ids. Null for one that is missing, or that has more bytes than `maxBytes` says. */
export type ReadBlobs = (
  ids: Iterable<string>,
  maxBytes: (id: string) => number,
) => Promise<ReadonlyMap<string, Buffer | null>>;

/** What the work tree was when the run began. */
export interface TakenBaseline {
  readonly base: BaseRevision;
  /** Folders of the work tree whose `.git` cannot be hidden from commands. */
  readonly uncovered: readonly string[];
}

/**
 * What to capture: everything, or these paths. `after_commands` is everything, once the git dirs that commands created are
 * removed, so that the files beside them count as files of the work tree.
 */
export type CaptureScope = 'all' | 'after_commands' | readonly string[];

/** The outcome of putting changes back. */
export interface PutBack {
  /**
   * Paths that could not be restored, why, and what they are now. `isFound`: it is, or may be, a file of the user's that a
   * command moved there, so that it is not attributed to the command.
   */
  readonly stuck: readonly { path: string; why: string; now: FileState | null; isFound: boolean }[];
  /** Other changes that the capture found. */
  readonly others: readonly PathChange[];
}

/** A moment of the work tree. `changes` were captured at that moment; a change that is not among them may still be older. */
export interface Checkpoint {
  readonly changes: readonly PathChange[];
  /**
   * Captures everything, as `after_commands`. `earlier` changed before the checkpoint; where that cannot be determined (a
   * file that changed again after it, a deletion in a folder that changed again), a change counts as `since`.
   */
  captureSince(): Promise<SinceCheckpoint>;
}

/** What changed, before and after a checkpoint. */
export interface SinceCheckpoint {
  readonly earlier: readonly PathChange[];
  readonly since: readonly PathChange[];
  /** Files that were written since, or changed and restored, and that are what they were. Where times show nothing, none. */
  readonly identical: readonly PathChange[];
}

/** A write to an ignored path, and who made it. */
export interface IgnoredWrite {
  readonly change: FoundChange;
  readonly by: Writer | 'outside';
}

/** Writes to ignored paths, and how many are not among `found`. */
export interface IgnoredWrites {
  readonly found: readonly IgnoredWrite[];
  readonly leftOut: { readonly own: number; readonly outside: number };
}

/** The git dir that contained commands see in place of the real one. */
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

/** A folder of the work tree that is a repository of its own, or a submodule that is not checked out. */
export interface NestedRepository {
  /** Relative to the root. */
  readonly path: string;
  /** What its `.git` was when the run began; `itself`: the folder is a git dir that a `.git` file elsewhere points to. */
  readonly dotGit: 'folder' | 'file' | 'none' | 'itself';
  /** Commands may not change any of its files either. Default: false. */
  readonly readOnly?: boolean;
}

/** What changed since the run began in a repository of the work tree other than its own. */
export interface NestedChange {
  /** Its folder, relative to the root. */
  readonly path: string;
  /** Files and links below it that were written, made or touched, sorted, relative to the root. */
  readonly files: readonly string[];
  /** Folders whose entries changed (the only trace of a deleted file), that folder itself included. */
  readonly folders: readonly string[];
}

/** `blob` is git's id of the bytes as they are on disk; `text` is null when they are not UTF-8 or hold a NUL. */
export type FileRead =
  | { status: 'ok'; bytes: Uint8Array; text: string | null; blob: string }
  | { status: 'failed'; reason: FailureReason; message: string };

/**
 * The outcome of a write; `blob` is git's id of the bytes as they are on disk. `unseen` is the write as a change where no capture
 * will show it: git ignores the path, or the bytes were there already.
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
}

/** `leftOut`: large uncommitted files that are not in the patch, since the run did not change them. */
export type UncommittedPatch =
  | { status: 'proven'; patch: ProvenPatch; leftOut: readonly string[] }
  | { status: 'failed'; message: string };

/** The files of a commit, read instead of a work tree that others have written to. */
export interface Revision {
  /** Full id. */
  readonly commit: string;
  /** Bytes of a regular file below the root; null when there is none at this path. */
  read(path: string): Promise<Uint8Array | null>;
}

// ── Sandbox ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Runs shell commands at the repository root, contained as far as `level` says. One level for a whole run. */
export interface Sandbox {
  readonly level: SandboxLevel;
  readonly limits: EnforcedLimits;
  /** Resolves when the command has ended and all its processes are dead; rejects only for bugs. */
  run(command: SandboxCommand): Promise<CommandResult>;
  /** Kills what is left. Can be called twice. Its temporary files are removed with the run's scratch folder. */
  close(): Promise<void>;
}

/** One command for a sandbox. */
export interface SandboxCommand {
  /** A POSIX shell script. */
  readonly script: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * One of the operator's commands, for which files of other repositories in the work tree are not read-only. Default:
   * false.
   */
  readonly isSetup?: boolean;
  /** Variables of this command alone. They stand on no command line. Where nothing is contained, other commands can read them. */
  readonly env?: Readonly<Record<string, string>>;
  /** For a program that is talked to as long as it runs. Its result then has no output. */
  readonly talk?: CommandTalk;
  /** Run as `bash -eo pipefail`, so that no failure is passed over; left out for no. */
  readonly isStrict?: boolean;
}

/** Both ends of a conversation with a program. Nothing of it is kept, cut or redacted. */
export interface CommandTalk {
  /** Called once it has been started. */
  onStart(input: CommandInput): void;
  onOutput(bytes: Uint8Array): void;
  onErrors(bytes: Uint8Array): void;
}

/** The stdin of a program that is talked to. */
export interface CommandInput {
  /** Resolves when the text has been handed over; rejects when the program reads no more. */
  write(text: string): Promise<void>;
  end(): void;
}

/** Where verify commands run: free of what earlier commands left in the git dir or, in a fresh checkout, anywhere. */
export interface VerifyPlace {
  readonly kind: VerifyIn;
  /** Commands that must succeed there before the verify commands run. */
  readonly setup: readonly string[];
  /** Creates the place from scratch, for the base with these changes. */
  open(net: readonly PathChange[], signal: AbortSignal): Promise<OpenedPlace>;
  /** Warnings for people about the places so far. */
  warnings(): string[];
}

/** A place in which verify commands run, or why there is none. */
export type OpenedPlace =
  /** `close` ends the commands; for a fresh checkout it also captures what they changed in it, and removes it. */
  | {
      status: 'ok';
      sandbox: Pick<Sandbox, 'run'>;
      close(): Promise<void>;
      /** After `close`: paths of the changes that had other contents in the fresh checkout at its end. */
      otherwise(): readonly string[];
    }
  /** The base with the changes cannot be checked out. The message is git's. */
  | { status: 'failed'; message: string }
  | { status: 'interrupted' };

/** stdout and stderr in the order written. The middle of a large output is dropped and its size counted. */
export interface CommandResult {
  readonly end: CommandEnd;
  readonly output: Excerpt;
}

/** The way out of the sandbox to the allowed hosts. Absent where commands are not contained. */
export interface Egress {
  /** Absolute path of the UNIX socket on which an HTTP proxy listens. */
  readonly socket: string;
  /** The hosts it has refused so far. */
  refused(): RefusedHost[];
  /** Ends every connection. Can be called twice. */
  close(): Promise<void>;
}

// ── GitHub ───────────────────────────────────────────────────────────────────────────────────────────────────

/** GitHub's API with one token. It does its own retries and rate limiting; callers must not. */
export interface GitHub {
  /** Refusals and outages are values; rejects only for bugs. */
  ask<T>(request: GitHubRequest<T>): Promise<GitHubAnswer<T>>;
  /** All entries of a paginated list, up to 3,000; otherwise the same as `ask`. */
  list<T>(list: GitHubList<T>): Promise<GitHubAnswer<T[]>>;
  /** Sends GraphQL, for the little that REST cannot do. Sent once. */
  query<T>(query: GitHubQuery<T>): Promise<GitHubAnswer<T>>;
}

/** A list that is fetched page by page. */
export interface GitHubList<T> {
  /** Path of a GET, such as `GET /repos/{owner}/{repo}/pulls`. */
  readonly route: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The fields needed from each entry. */
  readonly entry: z.ZodType<T>;
}

/** A GraphQL query or mutation. */
export interface GitHubQuery<T> {
  /** `query …` or `mutation …`. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The fields needed from the answer's `data`. */
  readonly schema: z.ZodType<T>;
  /** For a mutation: the answer that a dry run assumes. */
  readonly planned?: T;
}

/** A request to the REST API. */
export interface GitHubRequest<T> {
  /** Method and path, such as `GET /repos/{owner}/{repo}`. */
  readonly route: string;
  /** Fills the braces of the route; the rest becomes the query of a GET, otherwise the body. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The fields needed from the answer. */
  readonly schema: z.ZodType<T>;
  /** Whether it may be sent again when it is unknown whether it arrived. Default: only a GET may. */
  readonly isRepeatable?: boolean;
  /** For a write: the answer that a dry run assumes. */
  readonly planned?: T;
}

/** GitHub's answer, or its refusal in words for people. */
export type GitHubAnswer<T> = { status: 'ok'; data: T } | { status: 'refused'; refusal: GitHubRefusal };

/** `status` is null when there was no usable answer; `permission` is what GitHub says the token lacks. */
export interface GitHubRefusal {
  readonly route: string;
  readonly status: number | null;
  readonly message: string;
  readonly permission: string | null;
  readonly requestId: string | null;
}

/** Makes one commit and moves a branch to it, by push or through the API. A branch only ever moves forward. */
export interface Committer {
  /** Throws `GitHubRefused` when GitHub refuses. */
  commit(order: CommitOrder): Promise<Committed>;
}

/** Whom a commit is by. */
export interface Person {
  readonly name: string;
  readonly email: string;
}

/** The commit to make. */
export interface CommitOrder {
  /** The tree that the commit must have. */
  readonly tree: string;
  readonly baseCommit: string;
  readonly baseTree: string;
  /** What to change in `baseTree` to get there. */
  readonly files: readonly NewFile[];
  readonly message: string;
  /** Null: the token's account, which lets GitHub sign the commit of an app. */
  readonly author: Person | null;
  readonly committer: Person | null;
  readonly parents: readonly string[];
  /** Name of the branch, and the commit it is at; null when it does not exist yet. */
  readonly branch: string;
  readonly head: string | null;
}

/** A path and its new content; null deletes it. `bytes` is null for content that the repository already has. */
export interface NewFile {
  readonly path: string;
  readonly state: { readonly mode: FileMode; readonly blob: string; readonly bytes: Buffer | null } | null;
}

/** `moved`: someone else moved the branch in the meantime, and nothing was overwritten. `verified` is null when unknown. */
export type Committed =
  | { status: 'made'; sha: string; verified: boolean | null }
  | { status: 'moved' }
  | { status: 'failed'; message: string };

/**
 * Access to the Claude API without a key: the platform that the process runs on vouches for its identity, and a rule makes
 * the API trust that platform. Ids are those of the Claude Console (`fdrl_…`, `svac_…`); null where there is none.
 */
export interface Federation {
  readonly ruleId: string;
  readonly organizationId: string;
  readonly serviceAccountId: string | null;
  readonly workspaceId: string | null;
  /** Fetches a fresh identity token; tokens live for minutes. */
  identityToken(signal: AbortSignal): Promise<IdentityToken>;
  /** Called with each access token before it is used, so that it is redacted like a key. */
  onAccessToken(token: string): void;
}

/** `again`: retrying may help. The message is for people and ends without a full stop. */
export type IdentityToken =
  | { status: 'ok'; token: string }
  | { status: 'failed'; message: string; again: boolean };

// ── After the run ────────────────────────────────────────────────────────────────────────────────────────────

/** Takes the proven patch somewhere. */
export interface Publisher {
  readonly name: string;
  /** Null on success, otherwise the reason in one sentence. */
  publish(patch: ProvenPatch): Promise<string | null>;
}

/** The terminal on which people watch a run. */
export interface Terminal {
  /** Never waits: what the terminal does not take at once is kept for later. */
  write(text: string): void;
  /** There is so much of it that a picture of the moment would come late. */
  isBehind(): boolean;
  /** As it is now, in columns and rows. */
  size(): { readonly columns: number; readonly rows: number };
  /** Calls the listener when the size has changed, until the function that is returned is called. */
  onResize(listener: () => void): () => void;
  /** When it becomes narrower, it breaks lines in two rather than cut them. */
  readonly breaksLines: boolean;
}

/** A reader of the event stream. Only the journal must have written an event before the run goes on. */
export interface EventSink {
  accept(event: RunEvent): void;
  /** For a sink that promises durability: returns when everything it accepted is on disk. Called before every act. */
  sync?(): void;
  /** Called once, after the result has been decided. */
  close(result: RunResult): void;
  /**
   * For a sink that sends what it accepted somewhere: called once, after everything else, and waits for at most so many
   * milliseconds. Null when all has arrived, else a line that says what has not.
   */
  deliver?(withinMs: number): Promise<string | null>;
}
