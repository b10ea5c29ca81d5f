/** What commands and runs get from the process that they run in. Types only. */

import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../domain/environment.ts';
import type { Federation } from '../ports/network.ts';
import type { Clock, Terminal } from '../ports.ts';

/** The process as commands and runs see it. */
export interface ProcessParts {
  readonly env: Environment;
  /** Secrets among the variables are still readable in /proc/<our pid>/environ. Default: false. */
  readonly secretsInProc?: boolean;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** The terminal behind `stderr`, if a status line may be painted there. Default: null. */
  readonly terminal?: Terminal | null;
  /** What people read on `stderr` may have colours. Default: false. */
  readonly hasColors?: boolean;
  /** Aborted by a signal, with an `Interruption` as the reason. */
  readonly interrupt: AbortSignal;
  /** As `Watchdog.askIn`. Default: the main thread is not watched. */
  readonly askIn?: (delayMs: number) => () => void;
  readonly now: Clock;
  readonly version: string;
  /** Used instead of a key. */
  readonly federation?: Federation;
}
