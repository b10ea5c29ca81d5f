/**
 * Everything that happens in a run, as one union. The journal has one event per line, written before the loop acts on it;
 * progress, logs, results, replay and resume are readers of the same stream.
 */

import * as z from 'zod';
import { ChangeSource, CodeChange, ObjectId, PathChange } from '../changes/change.ts';
import { CompactionFailed, CompactionSettings, ContextCompacted } from '../conversation/compaction.ts';
import { LlmTurn, ToolCall, ToolDefinition, Usage } from '../conversation/conversation.ts';
import { SeenNote } from '../conversation/seen-files.ts';
import { CommandEnd, ToolOutcome } from '../conversation/tool.ts';
import { FallbackModel, ModelReplaced } from '../fallback.ts';
import { ReviewCompleted, ReviewFailed, ReviewSettings } from '../findings/review.ts';
import { FollowUp } from '../github/follow-up.ts';
import { ServerTool } from '../mcp/chosen-tools.ts';
import { IF_DENIED } from '../review/denied.ts';
import { AskedHost } from '../review/egress.ts';
import { AllowedDomain, AllowedPrivate, Service } from '../review/reachable.ts';
import { ReachedCap, Retry, SpentTokens } from './budget.ts';
import { OutcomeName } from './exit-code.ts';
import {
  ExceededChangeLimit,
  Interruption,
  JOURNAL_VERSION,
  Limits,
  ProviderFailureKind,
  StopReason,
} from './limits.ts';
import { ModelSettings, NO_CHANGES, VERIFY_PLACES } from './model-settings.ts';
import { PlanSource, PrinciplesRecord } from './plan.ts';
import { Price } from './pricing.ts';

/** The failures that an output names, for comparison with those of the same command before the work. */
export const NamedFailures = z.strictObject({
  /** True if these are the lines that speak of failures; false if no line does, and these are all. */
  inWords: z.boolean(),
  /**
   * Sorted, each once, without what differs from run to run; `times` is how often it occurs, and `worst` the largest number
   * of failures it states, or 0.
   */
  lines: z.array(z.strictObject({ line: z.string(), times: z.number(), worst: z.number() })),
  /** How many more lines there were, which sort after these. */
  others: z.number(),
});
export type NamedFailures = z.infer<typeof NamedFailures>;

/** One verify or setup command that ran. `output` is the excerpt shown to people and the model. */
export const CommandReport = z.strictObject({
  command: z.string(),
  end: CommandEnd,
  output: z.string(),
  /** Those of the whole output, if the command failed and `output` does not show all of it. */
  failures: NamedFailures.optional(),
  /** The line of the whole output that says why the command failed, where one is known to. */
  why: z.string().optional(),
  /** How it failed before on the same files, if it was run again for that. */
  earlier: z.array(z.strictObject({ end: CommandEnd, output: z.string() })).optional(),
});
export type CommandReport = z.infer<typeof CommandReport>;

/**
 * How commands are contained, best first. `namespaces`: they see nothing but the work tree and toolchains; `+seccomp`: a filter also
 * blocks system calls that reach beyond that; `-lite`: with the filter, but they can list the processes outside.
 */
export const SandboxLevel = z.enum([
  'namespaces+seccomp',
  'namespaces',
  'namespaces-lite',
  'landlock',
  'none',
]);
export type SandboxLevel = z.infer<typeof SandboxLevel>;

/** What a run started from. */
export const BaseRevision = z.strictObject({
  /** HEAD when the run began; null in a repository without commits. */
  commit: ObjectId.nullable(),
  /** Tree of the work tree when the run began, uncommitted changes included. */
  tree: ObjectId,
  /** Short name of the branch; null when HEAD is detached. */
  branch: z.string().nullable(),
  /** The work tree differed from `commit` when the run began. */
  dirty: z.boolean(),
  objectFormat: z.enum(['sha1', 'sha256']),
});
export type BaseRevision = z.infer<typeof BaseRevision>;

/** Globs of the settings; a change must be permitted by these and by the plan. */
export const PathGlobs = z.strictObject({ allow: z.array(z.string()), protect: z.array(z.string()) });

/** What is recorded of a plan. */
export const PlanRecord = z.strictObject({
  title: z.string(),
  sha256: z.string(),
  source: PlanSource,
  allow: z.array(z.string()).describe("Globs of the plan and the settings' are both enforced; empty: all"),
  protect: z.array(z.string()),
});

/** The tool settings of a run, recorded so that tools behave the same in a replay. */
const ToolSettings = z.strictObject({
  maxOutputChars: z.int().positive(),
  commandTimeoutMs: z.int().positive(),
  maxCommandTimeoutMs: z.int().positive(),
  verifyTimeoutMs: z.int().positive(),
  /** How often a verify command that fails is run again. */
  flakyReruns: z.int().nonnegative(),
  /** Whether verify commands run after one that failed. */
  verifyAll: z.boolean(),
  /** The only tools of the run besides `finish`; null for all. */
  tools: z.array(z.string()).nullable(),
  /** The JSON Schema of the answer in `finish`; null if none was requested. */
  answerSchema: z.record(z.string(), z.json()).nullable(),
  /** Hosts whose pages the model may read, `*` for all; empty for none. */
  webFetch: z.array(z.string()),
  /** Names of tools that only the program has that started the run. */
  ownTools: z.array(z.string()),
  /** Tools of MCP servers; their definitions are among the run's. */
  serverTools: z.array(ServerTool),
});

/** The first event of a run. */
const RunStarted = z.strictObject({
  type: z.literal('run.started'),
  journalVersion: z.literal(JOURNAL_VERSION),
  runId: z.string(),
  /** Of a replay: the run that is played again, in a copy of its checkout. */
  replayOf: z.string().optional(),
  patchsmith: z.string(),
  provider: z.string(),
  model: z.string(),
  sandbox: SandboxLevel,
  /** The hosts commands may reach; without a sandbox the runner does not control this, and the list is empty. */
  allowedDomains: z.array(AllowedDomain),
  /** The same, for hosts in a private network. */
  allowedPrivate: z.array(AllowedPrivate),
  /** Services of the machine that they may reach, by the same rule. */
  services: z.array(Service),
  /** Absolute path of the work tree. */
  root: z.string(),
  /** The folder in which commands start and file tools look, relative to the root; empty for the root. */
  workingDirectory: z.string(),
  base: BaseRevision,
  plan: PlanRecord,
  /** The pull request that the run continues. */
  followUp: FollowUp.nullable(),
  paths: PathGlobs,
  principles: z.array(PrinciplesRecord),
  /** What the plan's setup commands did, before the model was asked. */
  setup: z.array(CommandReport),
  /** Changes made by them, and by verify commands that ran before the work; they stay out of the patch. */
  setupChanges: z.array(PathChange),
  /** Globs of paths in which the patch may add what looks like a secret. */
  acceptSecrets: z.array(z.string()),
  verify: z.array(z.string()),
  /** Where the verify commands run. */
  verifyIn: z.enum(VERIFY_PLACES),
  /** How the verify commands ended before the model was asked; null when they were not run. */
  verifyBaseline: z.array(CommandReport).nullable(),
  /** Changes that no call explains are included in the patch. */
  includeForeign: z.boolean(),
  limits: Limits,
  toolSettings: ToolSettings,
  modelSettings: ModelSettings,
  /** The model that takes over if this one refuses or cannot be reached; null for none. */
  fallback: FallbackModel.nullable(),
  /** How the finished work is reviewed; null if it is not. */
  review: ReviewSettings.nullable(),
  /** How the conversation is kept short. */
  compaction: CompactionSettings,
  /** Why the run ends before the model is asked, as when a setup command failed; left out where it does not. */
  unready: z.string().exactOptional(),
  ifNoChanges: z.enum(NO_CHANGES),
  /** Whether a run to which something was denied ends well. */
  ifDenied: z.enum(IF_DENIED),
  price: Price.nullable(),
  system: z.string(),
  tools: z.array(ToolDefinition),
  prompt: z.string(),
});

/** What the verify commands said of one state of the work. */
export const VerifyRound = z.strictObject({
  /** The base with the patch; null if there was no such patch. */
  tree: ObjectId.nullable(),
  /** In a fresh checkout, setup commands that failed, so that the verify commands did not run. */
  reports: z.array(CommandReport),
});
export type VerifyRound = z.infer<typeof VerifyRound>;

/** The event recorded when verify commands have ended. */
const VerifyCompleted = z.strictObject({
  type: z.literal('verify.completed'),
  ...VerifyRound.shape,
  /** Paths of the patch that had other contents when the commands had ended. */
  otherwise: z.array(z.string()),
});

/** The event recorded when forbidden changes were reverted. */
const ChangesPutBack = z.strictObject({
  type: z.literal('changes.put_back'),
  /** As they were found; they have been undone, so no other event mentions them. */
  changes: z.array(PathChange),
  /** Paths that could not be put back, and why; the changes are recorded as made by `source`. */
  stuck: z.array(z.strictObject({ path: z.string(), why: z.string() })),
  source: ChangeSource,
  iteration: z.int().nonnegative(),
});

/** An end that a run had come to before it was resumed. */
export const SupersededEnd = z.strictObject({
  outcome: OutcomeName.nullable(),
  exitCode: z.int().nullable(),
  reason: z.string(),
});
export type SupersededEnd = z.infer<typeof SupersededEnd>;

/** The event that resumes a run. */
const RunResumed = z.strictObject({
  type: z.literal('run.resumed'),
  patchsmith: z.string(),
  /** Its result until then, which is no longer valid; null if it had none. */
  supersedes: SupersededEnd.nullable(),
  /** Those of the whole run from here on. */
  limits: Limits,
  /** The earlier base, or a new one that includes the accepted changes. */
  base: BaseRevision,
  /** Changes found in the work tree that the run did not make, and that were accepted as they are. */
  accepted: z.array(PathChange),
  /** Model turns that were completed before. */
  iteration: z.int().nonnegative(),
});

/** What the runner or the model did. `call` ids are the provider's. */
export const RunAction = z.discriminatedUnion('type', [
  RunStarted,
  /** The run was killed, or had stopped, and is continued. The time between this event and the one before does not count. */
  RunResumed,
  /** Written before a request. If its end is not recorded, `reserved`, the most it can have used, counts as an estimate. */
  z.strictObject({ type: z.literal('request.sent'), reserved: Usage }),
  z.strictObject({ type: z.literal('turn.completed'), turn: LlmTurn }),
  /** An attempt failed, and the next one follows after a wait. Written before the wait. */
  z.strictObject({ type: z.literal('turn.retried'), ...Retry.shape }),
  z.strictObject({
    type: z.literal('turn.failed'),
    kind: ProviderFailureKind,
    message: z.string(),
    /** The usage of the last attempt. */
    spent: SpentTokens.exactOptional(),
  }),
  /** The run was stopped, or its money was used up, before the end of an answer; what had been answered is lost and billed. */
  z.strictObject({ type: z.literal('turn.interrupted'), spent: SpentTokens }),
  /** The conversation continues in a new segment. */
  ContextCompacted,
  CompactionFailed,
  /** Another model takes over, in a segment without what the first one wrote. */
  ModelReplaced,
  z.strictObject({ type: z.literal('tool.started'), call: ToolCall, iteration: z.int() }),
  z.strictObject({
    type: z.literal('change.recorded'),
    changes: z.array(CodeChange).min(1),
  }),
  /** Commands changed paths that the policy protects, and the runner put them back. */
  ChangesPutBack,
  /** Files that existed when last seen and that a scan of the work tree could not examine; at most 100. */
  z.strictObject({ type: z.literal('files.hidden'), paths: z.array(z.string()).min(1) }),
  z.strictObject({
    type: z.literal('tool.completed'),
    call: z.string(),
    outcome: ToolOutcome,
    durationMs: z.number().nonnegative(),
    /** Which lines of which file the call has shown to the model, or written for it. */
    seen: z.array(SeenNote).optional(),
  }),
  /**
   * Hosts that were asked for since the last such event. Written when one is new or refused, before the end of the calls that asked
   * for it, and at the end.
   */
  z.strictObject({ type: z.literal('network.used'), hosts: z.array(AskedHost).min(1) }),
  VerifyCompleted,
  /** A separate conversation has reviewed the finished work, or tried to. */
  ReviewCompleted,
  ReviewFailed,
  /**
   * A message of the runner to the model: a failed verification, the findings of a review, or to continue after a truncated text.
   */
  z.strictObject({ type: z.literal('message.added'), text: z.string().min(1) }),
  /** The next request does not fit into a cap; the message to the model before its last answer. */
  z.strictObject({ type: z.literal('budget.reached'), ...ReachedCap.shape, text: z.string().min(1) }),
  z.strictObject({ type: z.literal('run.interrupted'), interruption: Interruption }),
  /** Some changes exceed a limit and were left out. */
  z.strictObject({ type: z.literal('changes.limited'), ...ExceededChangeLimit.shape }),
  z.strictObject({ type: z.literal('run.stopped'), stop: StopReason }),
]);
export type RunAction = z.infer<typeof RunAction>;
export type RunStarted = z.infer<typeof RunStarted>;
export type VerifyCompleted = z.infer<typeof VerifyCompleted>;
export type ChangesPutBack = z.infer<typeof ChangesPutBack>;
export type RunResumed = z.infer<typeof RunResumed>;

/** A run's events, as its journal holds them. */
export type RunEvents = readonly [RunEvent & { type: 'run.started' }, ...RunEvent[]];

/** `seq` counts from 1, `at` is Unix time in milliseconds. */
export interface EventPlace {
  readonly seq: number;
  readonly at: number;
}

/** An action with its place in the run. */
export type RunEvent = RunAction & EventPlace;
