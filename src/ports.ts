/** The interfaces to the outside world that the loop sees: model, tools, sandbox, events. Types only; the others are in `ports/`. */

import type * as z from 'zod';
import type { PathChange } from './domain/changes/change.ts';
import type { Conversation, LlmTurn } from './domain/conversation/conversation.ts';
import type { Excerpt } from './domain/conversation/excerpt.ts';
import type { CommandEnd, FailureReason, Lane } from './domain/conversation/tool.ts';
import type { FoundImage } from './domain/images/image.ts';
import type { Retry, SpentTokens } from './domain/run/budget.ts';
import type { RunEvent, SandboxLevel } from './domain/run/events.ts';
import type { EnforcedLimits, ProviderFailureKind } from './domain/run/limits.ts';
import type { VerifyIn } from './domain/run/model-settings.ts';
import type { RunResult } from './domain/run/result.ts';
import type { Warning } from './domain/warnings/warning.ts';
import type { Workspace } from './ports/workspace.ts';

/** Unix time in milliseconds. */
export type Clock = () => number;

// ── Model ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Requests a model's next turn. It does its own retries; callers must not retry. */
export interface LlmProvider {
  readonly name: string;
  readonly model: string;
  /**
   * Resolves with a complete answer or a failure; rejects only for bugs. When `signal` aborts it resolves at once with
   * `interrupted`. An incomplete answer is never returned.
   */
  complete(request: TurnRequest): Promise<TurnResult>;
}

/** One turn to request from a model. */
export interface TurnRequest {
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  /**
   * The maximum tokens for the answer to the next attempt, given what earlier ones used; null if there is no room for
   * another attempt. The turn then ends as `interrupted`, with what the last attempt used.
   */
  answerTokens(spent: readonly SpentTokens[]): number | null;
  onProgress(progress: TurnProgress): void;
  /**
   * What the answer is for. The conversation's last message requests a `summary`; `compaction` uses the API's own
   * feature, if the model has it; `review` is a separate conversation, with the reviewer's model if there is one.
   * Default: the next turn of the work.
   */
  readonly purpose?: 'summary' | 'compaction' | 'review';
  /** The run's fallback model has replaced the first one, and gets this request. */
  readonly isOfFallback?: boolean;
}

/**
 * What happens during a turn. The number of bytes received in an attempt is shown to people and not recorded; a retry is
 * reported before its wait.
 */
export type TurnProgress = { type: 'received'; bytes: number } | { type: 'retry'; retry: Retry };

/**
 * The model's answer, or why there is none. `spent` is what the attempt in progress used; absent if nothing was
 * reported.
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
  /** The JSON Schema that the model sees, if it says more than `schema` can. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly lane: Lane;
  /**
   * Its results come from outside: from a server, not from the work tree and the sandbox. A replay takes them from the journal, and a
   * resumed run never makes such a call twice. Default: false.
   */
  readonly isOutside?: boolean;
  /** Names that other tools use for parameters of this one, and that models are used to, each with its name here. */
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
 * What a tool returns to the executor, which truncates it. `next` gives the literal call that shows what was cut from
 * the middle; `shown` receives what the model actually sees, so that a tool never remembers more than that; `command`
 * is how a command ended, for the journal, and `signs` are the lines of its output that say what was denied to it.
 */
export type ToolResult =
  | {
      status: 'ok';
      output: Excerpt;
      next?: NextCall;
      shown?: (excerpt: Excerpt) => void;
      command?: CommandEnd;
      signs?: readonly string[] | undefined;
      /** Shown along with the text, as far as there is room for images. */
      images?: readonly FoundImage[];
    }
  | {
      status: 'failed';
      reason: FailureReason;
      output: Excerpt;
      next?: NextCall;
      command?: CommandEnd;
      signs?: readonly string[] | undefined;
    }
  | { status: 'finished'; verdict: 'done' | 'blocked'; summary: string; answer?: z.core.util.JSONType };

/** Reads documents that are not plain text. */
export interface DocumentReader {
  /** Such as `a PDF document`, judged by its content; null if it cannot be read. */
  kindOf(bytes: Uint8Array): string | null;
  /** Its text. Bounded in time and memory, for any bytes. */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<DocumentRead>;
}

/** The text of a document, which may be empty, or why there is none, as the end of a sentence. */
export type DocumentRead =
  | { status: 'ok'; text: string }
  | { status: 'failed'; reason: 'interrupted' | 'timeout' | 'too_large' | 'not_text'; why: string };

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
  /**
   * The model changed a part of the version `before`, which made the version `after` with this many lines; this does
   * not show it any more lines.
   */
  edited(path: string, versions: { before: string; after: string; total: number }): void;
  /** `part`: this version was shown, but not all of it, or some of what was shown no longer counts. */
  coverage(path: string, blob: string): 'all' | 'part' | 'none';
}

// ── Sandbox ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Runs shell commands at the repository root, contained as far as `level` says. One level for a whole run. */
export interface Sandbox {
  readonly level: SandboxLevel;
  readonly limits: EnforcedLimits;
  /** Resolves when the command has ended and all its processes are dead; rejects only for bugs. */
  run(command: SandboxCommand): Promise<CommandResult>;
  /** Kills what is left. Can be called twice. Temporary files are removed with the run's scratch folder. */
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
  /**
   * Variables for this command only. They are never on a command line. Without a sandbox, other commands can read
   * them.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** For a program that exchanges messages while it runs. Its result then has no output. */
  readonly talk?: CommandTalk;
  /** The call that it belongs to; absent for the operator's commands. */
  readonly call?: string;
  /** The setup or verify command that it is, as the operator wrote it; left out for all others. */
  readonly command?: string;
  /** Run with `bash -eo pipefail`, so that no failure is overlooked. Default: false. */
  readonly isStrict?: boolean;
}

/** Both ends of a conversation with a program. Nothing in it is stored, cut or redacted. */
export interface CommandTalk {
  /** Called once the program has started. */
  onStart(input: CommandInput): void;
  onOutput(bytes: Uint8Array): void;
  onErrors(bytes: Uint8Array): void;
}

/** The stdin of such a program. */
export interface CommandInput {
  /** Resolves when the text has been written; rejects if the program has stopped reading. */
  write(text: string): Promise<void>;
  end(): void;
}

/** Where verify commands run: without what earlier commands left in the git dir or, in a fresh checkout, anywhere. */
export interface VerifyPlace {
  readonly kind: VerifyIn;
  /** Commands that must succeed there before the verify commands run. */
  readonly setup: readonly string[];
  /** Creates the place from scratch, for the base with these changes. */
  open(net: readonly PathChange[], signal: AbortSignal): Promise<OpenedPlace>;
  /** Warnings for people about the places so far. */
  warnings(): Warning[];
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
  /** Lines of its whole output that say what was denied to it; absent if it was not searched. */
  readonly signs?: readonly string[];
}

// ── Watching ────────────────────────────────────────────────────────────────────────────────────────────────

/** The terminal on which people watch a run. */
export interface Terminal {
  /** Never waits: what the terminal does not accept at once is kept for later. */
  write(text: string): void;
  /** So much is waiting that a new status would be late. */
  isBehind(): boolean;
  /** Its current size in columns and rows. */
  size(): { readonly columns: number; readonly rows: number };
}

/** A reader of the event stream. Only the journal must have written an event before the run goes on. */
export interface EventSink {
  accept(event: RunEvent): void;
  /**
   * For a sink that promises durability: returns when everything it accepted is on disk. Called before every action.
   */
  sync?(): void;
  /** Called once, after the result has been decided. */
  close(result: RunResult): void;
  /**
   * For a sink that sends what it accepted elsewhere: called once, after everything else, and waits for at most this
   * many milliseconds. Null if everything has arrived, otherwise a line that says what has not.
   */
  deliver?(withinMs: number): Promise<string | null>;
}
