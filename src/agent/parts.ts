/** What the loop and everything that it drives work with: one record for a run. Types only. */

import type { ToolCall } from '../domain/conversation/conversation.ts';
import type { SeenLines } from '../domain/conversation/seen-files.ts';
import type { ToolOutcome } from '../domain/conversation/tool.ts';
import type { AskedHost } from '../domain/review/egress.ts';
import type { CommandReport, RunAction, RunStarted } from '../domain/run/events.ts';
import type { Redact } from '../domain/secrets/redact.ts';
import type { Workspace } from '../ports/workspace.ts';
import type { Clock, LlmProvider, Sandbox, Tool, VerifyPlace } from '../ports.ts';

/** The ports through which a run acts, and what bounds it. */
export interface AgentParts {
  readonly provider: LlmProvider;
  readonly tools: readonly Tool[];
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly verifyPlace: VerifyPlace;
  /** What the model has been shown. */
  readonly seen: SeenLines;
  /** False for a path that the plan or the settings do not allow to be changed. */
  readonly permits: (path: string) => boolean;
  /** The working directory: what the model's paths are relative to. */
  readonly folder: string;
  readonly toolSettings: RunStarted['toolSettings'];
  readonly clock: Clock;
  readonly redact: Redact;
  /** Aborted by a signal or the deadline; its reason is an `Interruption`. */
  readonly interrupt: AbortSignal;
  /** The hosts that were asked for since the last call; those that are only counted again wait until it `isLast`. */
  readonly takeHosts: (isLast: boolean) => AskedHost[];
  /** Called as a verify command starts; what it returns is called when the command has ended. */
  readonly watchVerify?: (command: string) => (report: CommandReport) => void;
  /** Ends what lives longer than a call until the next one, so that the work is judged while only the runner acts. Never rejects. */
  readonly restServers: () => Promise<void>;
  /** Interrupts this one call, where that differs from what interrupts the turn: a replay lets calls end that ended in time. */
  readonly interruptOf?: (call: ToolCall) => AbortSignal;
  /** The recorded result of a call to the outside, which is then not made. */
  readonly outcomeOf?: (call: ToolCall) => ToolOutcome;
  /** How the replayed run was continued after it had stopped here; null if it ended. */
  readonly resumption?: () => RunAction | null;
}
