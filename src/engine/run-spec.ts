/** What differs between a new run, a resumed one and a replayed one while it is opened. `openRun` goes through it in order. */

import type { SandboxMode, SandboxOptions } from '../adapters/sandboxes/options.ts';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import type { WorkspacePlaces } from '../adapters/workspace/open.ts';
import type { Failed } from '../domain/failed.ts';
import type { Permitted } from '../domain/review/allowed-domain.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { PathRules } from '../domain/run/plan.ts';
import type { Checkout } from '../git/checkout-layout.ts';
import type { SandboxGitDir, Workspace } from '../ports/workspace.ts';
import type { Sandbox, Tool } from '../ports.ts';
import type { Providing } from './open/provider.ts';
import type { VerifyPlaceParts } from './open/verify-place.ts';
import type { Ready, Stopped } from './ready.ts';
import type { Session } from './session.ts';

/** How one kind of run begins. Each stage returns the next one, or the outcome that ends the run before its loop. */
export interface RunSpec {
  /** Changes nothing in the checkout. */
  locate(session: Session): Promise<Located | Stopped>;
}

/** Where a run works. */
export interface Located {
  readonly status: 'ok';
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
  /** Checks whether the run may begin, and reads its task. */
  admit(): Promise<Admitted | Stopped>;
}

/** A run that may begin, and what has to be opened for it. */
export interface Admitted {
  readonly status: 'ok';
  readonly tools: readonly Tool[];
  /** What may be changed: a path that all of them permit. */
  readonly rules: readonly PathRules[];
  readonly sandbox: WantedSandbox;
  readonly verify: Pick<VerifyPlaceParts, 'kind' | 'setup'>;
  /** Aborted when waiting should stop. */
  readonly giveUp: AbortSignal;
  openProvider(): Promise<Providing>;
  /** Prepares the workspace at least as far as the sandbox needs it. Leaves the checkout as it is. */
  begin(places: WorkspacePlaces): Promise<BegunTaking>;
  /** Why the run cannot continue in this sandbox; null if it can. */
  whyNotIn?(sandbox: Sandbox): RunOutcome | null;
  /** Why the run cannot succeed whatever the model does, found before the model is asked; null if nothing was found. */
  whyHopeless?(sandbox: Sandbox): Promise<string | null>;
}

/** The sandbox that a run asks for. */
interface WantedSandbox extends Pick<SandboxOptions, 'onProving'> {
  readonly mode: SandboxMode;
  readonly hosts: Permitted;
  /** The working directory. */
  readonly folder: string;
  /** Absolute path at which commands see the work tree. Default: its own. */
  readonly shownAs?: string;
}

/** A workspace that is yet to be taken; a sandbox for its commands is opened in the meantime. */
export interface BegunTaking {
  readonly sandboxGitDir: SandboxGitDir;
  /** Call once. */
  take(): Promise<TakenRun | Failed>;
}

/** The workspace, with what is left to do before the work. */
export interface TakenRun {
  readonly status: 'ok';
  readonly workspace: Workspace;
  /** Runs the commands that come before the work. */
  settle(opened: OpenedRun): Promise<Settled | Stopped>;
}

/** Everything that is open before the first command runs. */
export interface OpenedRun
  extends Pick<Ready, 'provider' | 'sandbox' | 'workspace' | 'verifyPlace' | 'permits'> {
  /** Has this called when the run has ended, before the sandbox is closed. */
  readonly own: (close: () => unknown) => void;
}

/** How the run begins. Members left out are those of every run. */
export interface Settled
  extends Pick<Ready, 'start' | 'beginning'>,
    Partial<
      Omit<Ready, keyof OpenedRun | 'start' | 'beginning' | 'status' | 'directory' | 'forbidsBelow' | 'close'>
    > {
  readonly status: 'settled';
}
