/** The interface between the process and a command. */

import type { Problem } from '../domain/errors/problem.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { Warning } from '../domain/warnings/warning.ts';
import type { RunHooks } from '../engine/run-input.ts';
import type { ProcessParts } from './process-parts.ts';

/** The process as a command sees it. */
export interface HostContext extends ProcessParts, RunHooks {
  readonly secretsInProc: boolean;
  /** Length of a second, in milliseconds, for waits between requests to GitHub. Default: 1,000. */
  readonly secondMs?: number;
  /** Redacts a value in what the process prints if it crashes, and hides the value of a `variable` in /proc. */
  hide(secret: string, variable?: string): void;
  /** Removes the secrets of the environment, and hidden values. */
  redact(text: string): string;
  /** Where the caller of the command line stands, relative to the root of the checkout; empty for the root, or outside of one. */
  readonly folder?: string;
  /** A workflow step gets inputs instead of flags, and messages use their names. */
  readonly isStep?: boolean;
  /** Warnings from before the run that is being started. */
  readonly startNotes?: readonly Warning[];
  /** Receives the result of a publication, without the secrets of the environment. */
  readonly onPublication?: (publication: Publication) => void;
  /** Receives the plan files that `prepare` was given, without those that may not be carried out. */
  readonly onPrepared?: (planFiles: readonly string[]) => void;
  /** Receives the numbers of the pull requests that a run may continue, once their rounds are recorded. */
  readonly onContinued?: (pulls: readonly number[]) => void;
}

/**
 * `printed`: the command has printed its last line; `stopped`: that is left to its caller; `refused`: it has done nothing, for these
 * reasons.
 */
export type CommandOutcome =
  | { status: 'printed' | 'stopped'; outcome: RunOutcome }
  | { status: 'refused'; problems: Problem[] };
