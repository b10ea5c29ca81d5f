/**
 * How a run is opened. New, resumed and replayed runs supply what differs between them (`Admitted`, `Settled`); the result is a run
 * that is ready to begin or to continue, or the outcome that ended it beforehand.
 */

import type { SandboxMode, SandboxOptions } from '../adapters/sandboxes/options.ts';
import { openJournal } from '../adapters/sinks/journal.ts';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import type { BegunWorkspace, TakenWorkspace, WorkspacePlaces } from '../adapters/workspace/open.ts';
import type { AgentParts } from '../agent/parts.ts';
import { awaitedBefore } from '../domain/conversation/awaited.ts';
import { SeenLines } from '../domain/conversation/seen-files.ts';
import type { Failed } from '../domain/failed.ts';
import type { ServerTool, ServerUse } from '../domain/mcp/chosen-tools.ts';
import type { Permitted } from '../domain/review/reachable.ts';
import { decideOutcome } from '../domain/run/decide-outcome.ts';
import type { RunAction, RunEvent, RunStarted } from '../domain/run/events.ts';
import type { VerifyIn } from '../domain/run/model-settings.ts';
import { type RunOutcome, refused, type Stopped, stopped } from '../domain/run/outcome.ts';
import type { PathRules } from '../domain/run/plan.ts';
import { type RunState, startOf } from '../domain/run/state.ts';
import type { Redact } from '../domain/secrets/redact.ts';
import type { Checkout } from '../git/checkout-layout.ts';
import type { ProvenPatch } from '../ports/workspace.ts';
import type { EventSink, LlmProvider, Sandbox, Tool, VerifyPlace } from '../ports.ts';
import type { RanBefore } from './open/setup-commands.ts';
import type { Session } from './session.ts';

/** Finds where a run works, checks whether it may begin, and reads its task. Changes nothing in the checkout. */
export type Admit = (session: Session) => Promise<Admitted | Stopped>;

/** A run that may begin, and what has to be opened for it. */
export interface Admitted<Place extends TakenWorkspace = TakenWorkspace> {
  readonly status: 'ok';
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
  readonly tools: readonly Tool[];
  /** What may be changed: a path that all of them permit. */
  readonly rules: readonly PathRules[];
  readonly sandbox: WantedSandbox;
  /** Where verify commands run, and the setup commands that a fresh checkout needs. */
  readonly verify: { readonly kind: VerifyIn; readonly setup: readonly string[] };
  openProvider(): Promise<{ status: 'ok'; provider: LlmProvider } | Failed>;
  /**
   * Prepares the workspace at least as far as the sandbox needs it, and leaves the checkout as it is. It is taken once, while or after
   * the sandbox is opened.
   */
  begin(places: WorkspacePlaces): Promise<BegunWorkspace<Place | Failed>>;
  /** Why the run cannot continue in this sandbox, or cannot succeed there whatever the model does; null if nothing was found. */
  whyNotIn?(sandbox: Sandbox): Promise<RunOutcome | null>;
  /** Runs the commands that come before the work. */
  settle(opened: OpenedRun, taken: Place): Promise<Settled | Stopped>;
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

/** Everything that is open before the first command runs. */
export interface OpenedRun
  extends Pick<Ready, 'provider' | 'sandbox' | 'workspace' | 'verifyPlace' | 'permits'> {
  /** The MCP servers; those of a resumed run have the tools that are recorded. */
  openServers(recorded?: readonly ServerTool[]): Promise<OpenServers | Stopped>;
}

/** The tools of the servers, for the model and for the record, and what the run has of them. */
export interface OpenServers {
  readonly status: 'ok';
  readonly tools: readonly Tool[];
  readonly recorded: readonly ServerTool[];
  readonly ready: Pick<Ready, 'servers' | 'restServers'>;
}

/** MCP servers of a run that has none, or ends before it needs them. */
export const NO_SERVERS: OpenServers = {
  status: 'ok',
  tools: [],
  recorded: [],
  ready: { servers: () => [], restServers: async () => undefined },
};

/** How the run begins. Members left out are those of every run. */
export interface Settled
  extends Pick<Ready, 'start' | 'beginning'>,
    Partial<
      Omit<Ready, keyof OpenedRun | 'start' | 'beginning' | 'status' | 'directory' | 'forbidsBelow' | 'close'>
    > {
  readonly status: 'settled';
}

/** Everything that the loop needs, and how it begins. */
export interface Ready
  extends Omit<AgentParts, 'seen' | 'folder' | 'toolSettings' | 'takeHosts' | 'watchVerify'> {
  readonly status: 'ready';
  /** As it was found before anything else. */
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
  readonly start: RunStarted;
  readonly beginning: Beginning;
  /** Always a fresh checkout. */
  readonly provePlace: VerifyPlace;
  /** The MCP servers and what they were used for, as of now. */
  readonly servers: () => readonly ServerUse[];
  /** Whether anything below a folder is protected, as far as the rules can tell without looking at files. */
  readonly forbidsBelow: (folder: string) => boolean;
  /** Further readers of the events; each is called when those before it have written. */
  readonly sinks: readonly EventSink[];
  /** Derives the final outcome from the decided one and the patch. */
  judge(outcome: RunOutcome, patch: ProvenPatch | null): RunOutcome;
  /** Ends what is still running in the sandbox and closes everything opened for the run. Never rejects. */
  close(): Promise<void>;
}

/** How a process begins: with a new run, or in the middle of one. */
export interface Beginning {
  /** The first event that it records, and the state after it. */
  readonly first: RunEvent;
  readonly state: RunState;
  /** What is already known to have happened next. */
  readonly actions: readonly RunAction[];
  /** What the model has seen so far. */
  readonly seen: SeenLines;
  openJournal(): EventSink;
}

/** A new run that starts at the time `at`. */
export function newRun(start: RunStarted, at: number, { events }: RunDirectory, redact: Redact): Beginning {
  const first = { ...start, seq: 1, at };
  return {
    first,
    state: startOf(first),
    actions: [],
    seen: new SeenLines(),
    openJournal: () => openJournal(events, first, redact),
  };
}

/** Thrown when it turns out later that the run may not continue. */
export class LateRefusal extends Error {
  readonly outcome: RunOutcome;

  constructor(outcome: RunOutcome) {
    super(outcome.reason);
    this.name = 'LateRefusal';
    this.outcome = outcome;
  }
}

/** Ends a run whose commands before the work did not all succeed. */
export function stoppedBefore(session: Session, ran: Exclude<RanBefore, { status: 'ok' }>): Stopped {
  if (ran.status === 'failed') return refused('ERR_SETUP_FAILED', ran.message);
  const unknown =
    ran.changes === null ? 'what setup commands changed was not looked at: see git status' : null;
  return stopped(interruptedOutcome(session, { unknown, awaited: awaitedBefore(ran) }));
}

/**
 * The outcome when a signal or the deadline came before the loop began. `unknown` says what could not be examined,
 * `awaited` which command was running.
 */
export function interruptedOutcome(
  { interrupt, limits: { deadlineMs }, isResumed }: Session,
  { unknown = null, awaited = null }: { unknown?: string | null; awaited?: string | null } = {},
): RunOutcome {
  const { cause, signal } = interrupt.reason;
  return decideOutcome({
    // It has not been examined again yet, so only its place is known.
    unmade: isResumed ? 'the run had not gone on yet, and what it did before is in its journal' : unknown,
    stop:
      cause === 'signal'
        ? { why: 'interrupted', signal }
        : {
            why: 'deadline',
            valueMs: deadlineMs,
            usedMs: deadlineMs,
            awaited: awaited ?? 'the preparation of the run',
          },
  });
}
