/** What differs between a new run, a resumed one and a replayed one while it is opened. `openRun` goes through it in order. */

import type { SandboxMode, SandboxOptions } from '../adapters/sandboxes/options.ts';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import type { AllowedHosts } from '../domain/review/allowed-domain.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { Checkout } from '../git/checkout-layout.ts';
import type { SandboxGitDir, Workspace } from '../ports/workspace.ts';
import type { LlmProvider, Sandbox, VerifyPlace } from '../ports.ts';
import type { Providing } from './open/provider.ts';
import type { VerifyPlaceParts } from './open/verify-place.ts';
import type { Ready, Stopped } from './ready.ts';
import type { Session } from './session.ts';

/** How one kind of run begins. Each stage returns the next one, or the outcome that ends the run before its loop. */
export interface RunSpec<Taken extends TakenWorkspace = TakenWorkspace> {
  /** Changes nothing in the checkout. */
  locate(session: Session): Promise<Located<Taken> | Stopped>;
}

/** Where a run works. */
export interface Located<Taken extends TakenWorkspace = TakenWorkspace> {
  readonly status: 'located';
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
  /** Checks whether the run may begin, and reads its task. */
  admit(): Promise<Admitted<Taken> | Stopped>;
}

/** A run that may begin, and what has to be opened for it. */
export interface Admitted<Taken extends TakenWorkspace = TakenWorkspace>
  extends Pick<Ready, 'tools' | 'permits' | 'forbidsBelow'> {
  readonly status: 'admitted';
  readonly sandbox: WantedSandbox;
  readonly verify: Pick<VerifyPlaceParts, 'kind' | 'setup'>;
  /** Aborted when waiting should stop. */
  readonly giveUp: AbortSignal;
  openProvider(): Promise<Providing>;
  /** Prepares the workspace at least as far as the sandbox needs it. Leaves the checkout as it is. */
  begin(): Promise<BegunTaking<Taken>>;
  /** Why the run cannot continue in this sandbox; null if it can. */
  whyNotIn?(sandbox: Sandbox): RunOutcome | null;
  /** Why the run cannot succeed whatever the model does, found before the model is asked; null if nothing was found. */
  whyHopeless?(opened: FirstLook): Promise<string | null>;
  /** Runs the commands that come before the work. */
  settle(opened: OpenedRun<Taken>): Promise<Settled | Stopped>;
}

/** What is open before the workspace is taken, and what is known by then. */
export interface FirstLook {
  readonly sandbox: Sandbox;
  /** The output of the requested sandbox's `lookup`; null if it was not run. */
  readonly lookedUp: string | null;
}

/** The sandbox that a run asks for. */
export interface WantedSandbox extends Pick<SandboxOptions, 'onProving' | 'lookup'> {
  readonly mode: SandboxMode;
  readonly hosts: AllowedHosts;
  /** Absolute path at which commands see the work tree. Default: its own. */
  readonly shownAs?: string;
}

/** A workspace that is yet to be taken; a sandbox for its commands is opened in the meantime. */
export interface BegunTaking<Taken> {
  readonly sandboxGitDir: SandboxGitDir;
  /** Call once. */
  take(): Promise<Taken | { readonly status: 'failed'; readonly message: string }>;
}

/** A workspace, and whatever else was found out while taking it. */
export interface TakenWorkspace {
  readonly status: 'ok';
  readonly workspace: Workspace;
}

/** Everything that is open before the first command runs. */
export interface OpenedRun<Taken> {
  readonly provider: LlmProvider;
  readonly sandbox: Sandbox;
  readonly taken: Taken;
  readonly verifyPlace: VerifyPlace;
  /** Has this called when the run has ended, before the sandbox is closed. */
  readonly own: (close: () => unknown) => void;
}

/** How the run begins. Members left out are those of every run. */
export interface Settled
  extends Pick<Ready, 'start' | 'beginning'>,
    Partial<
      Pick<
        Ready,
        | 'clock'
        | 'interrupt'
        | 'interruptOf'
        | 'outcomeOf'
        | 'redact'
        | 'resumption'
        | 'sinks'
        | 'judge'
        | 'tools'
        | 'servers'
        | 'restServers'
      >
    > {
  readonly status: 'settled';
}
