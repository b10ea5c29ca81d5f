/** The state of a run: the fold of its events. `advance` in fold/advance.ts computes the next state for each event. */

import type * as z from 'zod';
import type { ChangeSource, VerifiedPatch } from '../changes/change.ts';
import { ChangeLedger } from '../changes/ledger.ts';
import { awaitedBefore } from '../conversation/awaited.ts';
import { type CompactionState, noCompactions } from '../conversation/compaction.ts';
import { noUsage, openConversation, totalTokens, type Usage } from '../conversation/conversation.ts';
import type { Repeats, ToolsPhase } from '../conversation/tools-phase.ts';
import { type FallbackModel, type ModelUse, unused } from '../fallback.ts';
import { type ReviewState, reviewToCome } from '../findings/review.ts';
import { type Denial, type Denials, NO_DENIALS } from '../review/denied.ts';
import type { HostUse } from '../review/egress.ts';
import type { Spending } from './budget.ts';
import type {
  BaseRevision,
  CommandReport,
  EventPlace,
  RunStarted,
  SupersededEnd,
  VerifyRound,
} from './events.ts';
import type { ExceededChangeLimit, Interruption, Limits, ProviderFailureKind, StopReason } from './limits.ts';

/**
 * What is due next. `model` the model's turn · `tools` its calls · `continue` telling it to go on after a cut-off text ·
 * `unanswered` asking it for the answer without which the run cannot end · `verify` the plan's commands · `fix` telling it what failed ·
 * `review` another conversation's look at the finished work · `objections` telling the model what that found · `ended` nothing more.
 */
export type Phase =
  | { at: 'model' }
  | ToolsPhase
  | { at: 'continue' }
  | { at: 'unanswered' }
  | { at: 'verify'; summary: string }
  | { at: 'fix'; failed: readonly CommandReport[]; summary: string }
  | { at: 'review'; summary: string }
  | { at: 'objections'; summary: string }
  | { at: 'ended'; how: 'done' | 'blocked' | 'refused' | 'context_full'; summary: string };

/** The state of a run: what its events add up to. */
export interface RunState extends Repeats, Spending {
  readonly phase: Phase;
  /** Absolute path of the work tree in which the run began. */
  readonly root: string;
  /** The folder of it in which commands start; `''` is the root. */
  readonly workingDirectory: string;
  readonly base: BaseRevision;
  /** Sequence number of the last event. */
  readonly seq: number;
  /** Unix milliseconds; for a resumed run, moved forward by the time it was not running. */
  readonly startedAt: number;
  /** Time of the last event, Unix milliseconds. */
  readonly now: number;
  /** The run has to end with an answer. */
  readonly wantsAnswer: boolean;
  /** The last answer that fitted the run's schema; null before the first. */
  readonly answer: z.core.util.JSONType | null;
  /** Model turns that were completed. */
  readonly iterations: number;
  /** Some of `usage` is an estimate, since an answer was cut off. */
  readonly isEstimated: boolean;
  /** The most that the request in progress can use; null while there is none. */
  readonly reserved: Usage | null;
  /** Tokens of the last request's prompt, as the provider counted them. */
  readonly lastPromptTokens: number;
  readonly cutOffsInARow: number;
  readonly verify: readonly string[];
  /** How the verify commands ended before the first turn; null when they were not run. */
  readonly verifyBaseline: readonly CommandReport[] | null;
  /** Reports of the last verification; empty before the first. */
  readonly reports: readonly CommandReport[];
  /** All verifications, oldest first. */
  readonly rounds: readonly VerifyRound[];
  /** The patch at the time of the last verification; null before the first. */
  readonly verified: VerifiedPatch | null;
  readonly fixRoundsUsed: number;
  /** They count over the whole run, however often it is resumed. */
  readonly limits: Limits;
  /** Ends that the run had come to before it was resumed, oldest first. */
  readonly superseded: readonly SupersededEnd[];
  readonly interruption: Interruption | null;
  /** The limit that changes have reached; null when none was reached. */
  readonly overChanges: ExceededChangeLimit | null;
  /** Why the loop ended; null while it runs. */
  readonly stop: StopReason | null;
  /** Why the work cannot begin; null where it can. */
  readonly unready: string | null;
  readonly compaction: CompactionState;
  /** The model that takes over if this one refuses or cannot be reached; null for none, or once it has. */
  readonly fallback: FallbackModel | null;
  /** The models that have answered so far, and what each came to; the last one is asked now. */
  readonly models: readonly ModelUse[];
  readonly providerFailure: { kind: ProviderFailureKind; message: string } | null;
  /** Null for a run without a review. */
  readonly review: ReviewState | null;
  /** What the run is waiting for, or was when it stopped, as the end of a sentence; null if unknown. */
  readonly awaited: string | null;
  readonly changes: ChangeLedger;
  /** Paths with forbidden changes that were reverted, and who changed them last. */
  readonly putBack: ReadonlyMap<string, ChangeSource['by']>;
  /** Paths with forbidden changes that could not be reverted, with the reason. */
  readonly stuck: ReadonlyMap<string, string>;
  /** Files that existed before a command and could not be examined after it. */
  readonly hidden: ReadonlySet<string>;
  /** What calls asked for and did not get. */
  readonly denied: Denials;
  /** The hosts that were asked for, each once for everyone who asked and every way it ended. */
  readonly hosts: readonly HostUse[];
  /** Why a file tool could not write where the policy let it; of the first such call. Null when there was none. */
  readonly unwritten: string | null;
  /** Places that commands which ended well say they could not write to. */
  readonly unwritable: readonly Denial[];
  /** Milliseconds spent waiting for the model, retries included. */
  readonly modelMs: number;
  /** Bytes of all images that the model was shown. */
  readonly imageBytes: number;
}

/** The state after `run.started`. */
export function startOf(event: RunStarted & EventPlace): RunState {
  return {
    phase: { at: 'model' },
    conversation: openConversation(event.system, event.tools, event.prompt),
    root: event.root,
    workingDirectory: event.workingDirectory,
    base: event.base,
    seq: event.seq,
    startedAt: event.at,
    now: event.at,
    wantsAnswer: event.toolSettings.answerSchema !== null,
    answer: null,
    iterations: 0,
    usage: noUsage,
    isEstimated: false,
    reserved: null,
    counted: null,
    lastTurn: null,
    maxOutputTokens: event.modelSettings.maxOutputTokens,
    costUsd: 0,
    price: event.price,
    model: event.model,
    lastPromptTokens: 0,
    cutOffsInARow: 0,
    repeats: 0,
    lastTurnKey: '',
    verify: event.verify,
    verifyBaseline: event.verifyBaseline,
    reports: [],
    rounds: [],
    verified: null,
    fixRoundsUsed: 0,
    limits: event.limits,
    superseded: [],
    interruption: null,
    overChanges: null,
    stop: null,
    unready: event.unready ?? null,
    compaction: noCompactions(event.compaction),
    fallback: event.fallback,
    models: [unused(event)],
    providerFailure: null,
    review: reviewToCome(event.review, event),
    awaited: awaitedBefore(event),
    changes: new ChangeLedger(event),
    putBack: new Map(),
    stuck: new Map(),
    hidden: new Set(),
    denied: NO_DENIALS,
    hosts: [],
    unwritten: null,
    unwritable: [],
    modelMs: 0,
    imageBytes: 0,
  };
}

/** The model that the next request goes to, with its price where the table does not have it. */
export function askedNow({ phase, review, model, price }: RunState): Pick<RunState, 'model' | 'price'> {
  const reviewer = phase.at === 'review' ? (review?.settings.by ?? null) : null;
  return reviewer === null ? { model, price } : { model: reviewer.model, price: reviewer.price };
}

/** Every model that was asked for something, with what it came to. */
export function usesOf({ models, review }: Pick<RunState, 'models' | 'review'>): ModelUse[] {
  const hasReviewed = review !== null && totalTokens(review.use.tokens) > 0;
  return [...models, ...(review !== null && (hasReviewed || review.use.turns > 0) ? [review.use] : [])];
}
