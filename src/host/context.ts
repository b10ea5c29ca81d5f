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
  /** Length of a second, in milliseconds, when waiting before GitHub is asked again. Default: 1,000. */
  readonly secondMs?: number;
  /** Keeps a value out of what the process prints if it crashes; that of a `variable` also out of what /proc shows. */
  hide(secret: string, variable?: string): void;
  /** Removes the secrets of the environment, and hidden values. */
  redact(text: string): string;
  /** A workflow step gets inputs instead of flags, and messages use their names. */
  readonly isStep?: boolean;
  /** Warnings of the run that is started, from before it began. */
  readonly startNotes?: readonly Warning[];
  /** Receives the result of a publication, without the secrets of the environment. */
  readonly onPublication?: (publication: Publication) => void;
  /** Receives the plan files that `prepare` was given, without those that may not be carried out. */
  readonly onPrepared?: (planFiles: readonly string[]) => void;
}

/** `printed` has printed its last line; `refused` has done nothing, for these reasons. */
export type CommandOutcome =
  | { status: 'printed'; outcome: RunOutcome }
  | { status: 'refused'; problems: Problem[] };
