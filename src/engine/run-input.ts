/** The inputs of a run, and the callbacks for its observers. Types only. */

import type { ProviderRegistry } from '../adapters/providers/registry.ts';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import type { Settings } from '../config/schema.ts';
import type { Attempts } from '../domain/attempts/attempts.ts';
import type { RoundCaps } from '../domain/github/follow-up.ts';
import type { TypedFlags } from '../domain/journal/continuation.ts';
import type { FilledEntries } from '../domain/mcp/server-spec.ts';
import type { BaseRevision, RunEvent } from '../domain/run/events.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { Plan } from '../domain/run/plan.ts';
import type { RunResult } from '../domain/run/result.ts';
import type { Warning } from '../domain/warnings/warning.ts';
import type { Checkout } from '../git/checkout-layout.ts';
import type { ProcessParts } from '../host/process-parts.ts';
import type { Tool } from '../ports.ts';
import type { Trust } from './trust/trust.ts';

/** The callbacks with which a caller observes a run and decides about it. */
export interface RunHooks {
  readonly watcher?: RunWatcher;
  /**
   * Registers a function that is called, with the matching outcome, before a second signal or a crash ends the process at once.
   * It must not wait for anything, and returns whether the document on stdout is printed.
   */
  readonly onSuddenEnd?: (keep: (outcome: RunOutcome) => boolean) => void;
  /** Called once, before the run spends anything; returns an outcome if it may not continue. */
  readonly beforeSpending?: (work: WorkAhead) => Promise<RunOutcome | null>;
  /** Called with the state of the work tree, before the run spends anything; returns an outcome if it may not begin from that. */
  readonly whyNotFrom?: (base: BaseRevision) => RunOutcome | null;
}

/** Everything a run is given from outside; `env` is the environment without the API key. */
export interface RunInput extends ProcessParts, RunHooks {
  readonly settings: Settings;
  /** The flags as they were typed that `resume` takes as well, to print how the run continues. Default: none. */
  readonly typed?: TypedFlags;
  readonly apiKey: string | null;
  /** By the name of the provider: those of the fallback model and of the reviewer, if they differ. */
  readonly otherKeys?: Readonly<Record<string, string>>;
  /** Warnings from reading the settings. */
  readonly startNotes: readonly Warning[];
  /** Gets every event as it happens, with its secrets redacted. */
  readonly onEvent?: (event: RunEvent) => void;
  /** The available providers. Default: the built-in ones. */
  readonly providers?: ProviderRegistry;
  /** MCP servers, ready to be started. Default: none. */
  readonly servers?: FilledEntries;
  /** Tools that are not patchsmith's own: only the program that provides them could resume the run. */
  readonly ownTools?: readonly Tool[];
  /** Called when the run has ended, unless it was interrupted; returns a line for people, or null. */
  readonly afterwards?: () => Promise<string | null>;
  /** Absent when it was not examined, as for the demo. */
  readonly trust?: Trust;
  /** Where one of several attempts works, instead of the checkout. */
  readonly attempt?: AttemptPlace;
  /** Of a run that is the chosen one of several attempts, or continues it. Null or absent: there were none. */
  readonly attempts?: Attempts | null;
  /** When the attempts began, if the chosen one is being brought in (Unix time in milliseconds). */
  readonly attemptsBeganAt?: number;
  /** The caller keeps other runs out of the work tree. Default: the run does so itself. */
  readonly holdsWorkTree?: boolean;
  /** Only the steps before the first request, for a caller that prints the findings. Default: false. */
  readonly isCheck?: boolean;
  /** A check that has failed already: it runs no setup or verify command. */
  readonly withoutCommands?: boolean;
}

/** One of several attempts of a run: a copy of its work tree, over the same repository. */
interface AttemptPlace {
  readonly number: number;
  /** Of the whole run. */
  readonly runId: string;
  /** The root is that of the copy. */
  readonly checkout: Checkout;
  /** The user's work tree: commands see the copy at this path. */
  readonly root: string;
  /** Called when the work has come to its end, with the warnings so far. Later ones are about the copy. */
  onWorked(warnings: readonly string[]): void;
}

/** The plan and the branch of a run that is about to spend something. */
export interface WorkAhead {
  readonly runId: string;
  readonly plan: Plan;
  /** The branch that is checked out; null for none. */
  readonly base: string | null;
  /** Of the rounds in which a pull request is continued. */
  readonly caps: RoundCaps;
}

/** Called about a run while it is running. */
export interface RunWatcher {
  /** All checks have passed: the work begins. */
  onStart(): void;
  /** The run directory exists, with a result in it that says the run is running. */
  onDirectory(directory: RunDirectory): void;
  /** The run has ended and its result is written. Secrets in it are redacted. */
  onResult(result: RunResult): void;
}
