/** Where a run stands: the pure fold of its events. */

import type * as z from 'zod';
import type { NearCap } from '../budget/caps.ts';
import { conversationTokens, type Spending } from '../budget/next-request.ts';
import type { SpentTokens } from '../budget/spent.ts';
import { type ChangeSource, toCodeChanges } from '../changes/change.ts';
import { ChangeLedger } from '../changes/ledger.ts';
import { type VerifiedPatch, verifiedPatch } from '../changes/verified-patch.ts';
import { type CompactionState, type ContextCompacted, noCompactions } from '../compaction/compaction.ts';
import { canBeCut } from '../compaction/due.ts';
import { withAnswer, withFailure, withFullWindow, withNewSegment } from '../compaction/fold.ts';
import { type AliasCounts, withAliases } from '../conversation/alias-counts.ts';
import { awaitedAfter } from '../conversation/awaited.ts';
import {
  addUsage,
  type Conversation,
  type LlmTurn,
  type Message,
  noUsage,
  openConversation,
  totalTokens,
  type Usage,
  usageBetween,
} from '../conversation/conversation.ts';
import { afterOneMoreTurn, type Repeats } from '../conversation/repeats.ts';
import { freshSegment } from '../conversation/segments.ts';
import type { ToolOutcome } from '../conversation/tool.ts';
import {
  areAllAnswered,
  outcomesOf,
  type ToolsPhase,
  toolsDue,
  withChanges,
  withOutcome,
  withStarted,
} from '../conversation/tools-phase.ts';
import type { FallbackModel, ModelReplaced } from '../fallback/fallback.ts';
import { type ModelUse, unused, withMoreUse, withReplacement, withUse } from '../fallback/model-use.ts';
import {
  afterFailedReview,
  afterReview,
  hasObjections,
  type ReviewCompleted,
  type ReviewState,
  reviewToCome,
  withWorker,
} from '../findings/review.ts';
import { bytesOfImages, speaksOfImages, withoutLastImages } from '../images/shown.ts';
import { type Denials, denialsOf, deniedChanges, NO_DENIALS, withDenials } from '../review/denied.ts';
import type { ExceededChangeLimit } from './change-limits.ts';
import type {
  BaseCommit,
  BaseRevision,
  ChangesPutBack,
  CommandReport,
  EventPlace,
  RunEvent,
  RunResumed,
  RunStarted,
  SupersededEnd,
  VerifyCompleted,
} from './events.ts';
import type { Interruption, Limits, ProviderFailureKind, StopReason } from './limits.ts';
import { costOf } from './pricing.ts';
import { judgeReports } from './verify-baseline.ts';

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
  /** Without a tree until the baseline is recorded: nothing has been changed by then. */
  readonly base: BaseRevision | BaseCommit;
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
  /** Caps of which it has been said that they are nearly used up. */
  readonly warnedOf: ReadonlySet<NearCap['limit']>;
  /** Tokens of the last request's prompt, as the provider counted them. */
  readonly lastPromptTokens: number;
  readonly aliases: AliasCounts;
  readonly cutOffsInARow: number;
  readonly verify: readonly string[];
  /** How the verify commands ended before the first turn; null when they were not run. */
  readonly verifyBaseline: readonly CommandReport[] | null;
  /** Reports of the last verification; empty before the first. */
  readonly reports: readonly CommandReport[];
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
  /** Why the loop ended; null while it goes on. */
  readonly stop: StopReason | null;
  /** Why the work cannot begin; null where it can. */
  readonly unready: string | null;
  readonly compaction: CompactionState;
  /** Who goes on where the model refuses or cannot be reached; null for nobody, or when it already does. */
  readonly fallback: FallbackModel | null;
  /** The models that have answered so far, and what each came to; the last one is asked now. */
  readonly models: readonly ModelUse[];
  readonly providerFailure: { kind: ProviderFailureKind; message: string } | null;
  /** Null for a run whose work nobody reviews. */
  readonly review: ReviewState | null;
  /** What the run waits for, or was waiting for when it was stopped, as the end of a sentence; null while nothing is known. */
  readonly awaited: string | null;
  readonly warnings: readonly string[];
  readonly changes: ChangeLedger;
  /** Paths that were changed against the policy and put back, with who changed them last. */
  readonly putBack: ReadonlyMap<string, ChangeSource['by']>;
  /** Paths that were changed against the policy and could not be put back, with the reason. */
  readonly stuck: ReadonlyMap<string, string>;
  /** Files that existed before a command and could not be examined after it. */
  readonly hidden: ReadonlySet<string>;
  /** What calls asked for and did not get. */
  readonly denied: Denials;
  /** Milliseconds spent waiting for the model, retries included. */
  readonly modelMs: number;
  /** Bytes of all images that the model was shown. */
  readonly imageBytes: number;
}

/** What a conversation begins with. */
export type ConversationOpening = Pick<RunStarted, 'system' | 'tools' | 'prompt'>;

/** The state after `run.started`. */
export function startOf(event: RunStarted & EventPlace): RunState {
  return {
    phase: { at: 'model' },
    conversation: openingOf(event),
    base: event.base,
    seq: event.seq,
    startedAt: event.at,
    now: event.at,
    wantsAnswer: event.toolSettings.answerSchema !== null,
    answer: null,
    iterations: 0,
    usage: noUsage,
    isEstimated: false,
    warnedOf: new Set(),
    counted: null,
    lastTurn: null,
    maxOutputTokens: event.modelSettings.maxOutputTokens,
    costUsd: 0,
    price: event.price,
    model: event.model,
    lastPromptTokens: 0,
    aliases: {},
    cutOffsInARow: 0,
    repeats: 0,
    lastTurnKey: '',
    verify: event.verify,
    verifyBaseline: event.verifyBaseline,
    reports: [],
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
    awaited: null,
    warnings: [],
    changes: new ChangeLedger(event),
    putBack: new Map(),
    stuck: new Map(),
    hidden: new Set(),
    denied: NO_DENIALS,
    modelMs: 0,
    imageBytes: 0,
  };
}

/** The first conversation the model is asked to complete. */
export function openingOf({ system, tools, prompt }: ConversationOpening): Conversation {
  return openConversation(system, tools, prompt);
}

/** The state after one more event. Everything is copied except the ledger, which is passed along. */
export function advance(before: RunState, event: RunEvent): RunState {
  const after = afterEvent(before, event);
  if (event.type === 'run.started' || after.usage === before.usage) return after;
  const tokens = usageBetween(before.usage, after.usage);
  const asked = askedNow(before);
  const turn = 'turn' in event ? event.turn : undefined;
  const costUsd = costIn({ ...before, ...asked }, tokens, turn?.model ?? asked.model);
  if (before.phase.at === 'review' && after.review !== null) {
    const turns = turn === undefined ? 0 : 1;
    return {
      ...after,
      review: { ...after.review, use: withMoreUse(after.review.use, { turns, tokens, costUsd }) },
    };
  }
  const turns = after.iterations - before.iterations;
  return { ...after, models: withUse(before.models, { turns, tokens, costUsd }) };
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

function afterEvent(before: RunState, event: RunEvent): RunState {
  const calls = before.phase.at === 'tools' ? before.phase.calls : [];
  const awaited = awaitedAfter(before.awaited, event, calls);
  const state = { ...before, seq: event.seq, now: event.at, awaited };
  switch (event.type) {
    case 'run.started':
      return startOf(event);
    case 'run.resumed':
      for (const change of event.accepted) state.changes.accept(change, event.iteration);
      return afterResuming(before, event);
    case 'baseline.taken':
      return { ...state, base: event.base };
    case 'turn.completed':
      return afterTurn(state, event.turn);
    case 'turn.retried':
    case 'turn.interrupted':
      return withCharge(state, event.spent);
    case 'turn.failed':
      return afterFailedTurn(withSpent(state, event.spent), event.kind, event.message);
    case 'context.compacted':
      return afterCompaction(state, event);
    case 'model.replaced':
      return afterReplacement(state, event);
    case 'compaction.failed': {
      const { kind, turn, spent } = event;
      const asked = turn === undefined ? state : charged(state, turn.usage, turn.model);
      const compaction = withFailure(state.compaction, kind, conversationTokens(state));
      return { ...withSpent(asked, spent), compaction };
    }
    case 'tool.completed':
      return afterTool(withDenied(state, event.call, event.outcome), event.call, event.outcome);
    case 'change.recorded':
      for (const change of event.changes) state.changes.record(change);
      return state.phase.at === 'tools'
        ? { ...state, phase: withChanges(state.phase, event.changes) }
        : state;
    case 'changes.put_back':
      return afterPutBack(state, event);
    case 'files.hidden':
      return { ...state, hidden: new Set([...state.hidden, ...event.paths]) };
    case 'verify.completed':
      return afterVerify(state, event);
    case 'review.completed':
      return afterFindings(state, event);
    case 'review.failed': {
      const review = state.review && afterFailedReview(state.review, event);
      return {
        ...withCharge(state, event.spent, event.turn),
        review,
        phase: event.again ? state.phase : asFinished(state.phase),
      };
    }
    case 'message.added':
      return {
        ...said(state, { role: 'user', content: [{ type: 'text', text: event.text }] }),
        phase: { at: 'model' },
        fixRoundsUsed: state.fixRoundsUsed + (state.phase.at === 'fix' ? 1 : 0),
        review:
          state.phase.at === 'objections'
            ? state.review && { ...state.review, sentBack: true }
            : state.review,
      };
    case 'budget.warned':
      return { ...state, warnedOf: new Set([...state.warnedOf, event.limit]) };
    case 'budget.reached': {
      const { limit, value, used, needed, text } = event;
      const told = said(state, { role: 'user', content: [{ type: 'text', text }] });
      return {
        ...told,
        phase: { at: 'model' },
        lastTurn: { cap: { limit, value, used, needed }, isAnswered: false },
      };
    }
    case 'run.interrupted':
      return { ...state, interruption: event.interruption };
    case 'changes.limited': {
      const { limit, value, used, folder } = event;
      return { ...state, overChanges: { limit, value, used, ...(folder === undefined ? {} : { folder }) } };
    }
    case 'warning.raised':
      return { ...state, warnings: [...state.warnings, event.message] };
    case 'tool.started':
      return state.phase.at === 'tools'
        ? { ...state, phase: withStarted(state.phase, event.call.id) }
        : state;
    case 'run.stopped': {
      const { stop } = event;
      // Finished work that was about to be looked at once more, or was.
      const phase: Phase = {
        at: 'ended',
        how: 'done',
        summary: stop.why === 'completed' ? stop.summary : '',
      };
      return { ...state, stop, phase: stop.why === 'completed' ? phase : state.phase };
    }
  }
}

/** Appends a message; what the runner adds before the model has answered is merged into the unsent message. */
function said(state: RunState, message: Message): RunState {
  const { conversation } = state;
  const last = conversation.messages.at(-1);
  const messages =
    last?.role === 'user' && message.role === 'user'
      ? [
          ...conversation.messages.slice(0, -1),
          { role: 'user' as const, content: [...last.content, ...message.content] },
        ]
      : [...conversation.messages, message];
  return { ...state, conversation: { ...conversation, messages } };
}

/** What a lost answer has used up counts like any other. */
export function withSpent<State extends Bill>(state: State, spent: SpentTokens | undefined): State {
  if (spent === undefined) return state;
  const { usage, estimated } = spent;
  return { ...charged(state, usage, state.model), isEstimated: state.isEstimated || estimated };
}

/** The same for whoever is asked now, who may be a reviewer. `turn` is the answer where there is one. */
function withCharge(state: RunState, spent: SpentTokens | undefined, turn?: LlmTurn): RunState {
  const asked = { ...state, ...askedNow(state) };
  const { usage, costUsd, isEstimated } =
    turn === undefined ? withSpent(asked, spent) : charged(asked, turn.usage, turn.model);
  return { ...state, usage, costUsd, isEstimated };
}

/** What is known of the cost so far. */
type Bill = Pick<RunState, 'usage' | 'costUsd' | 'isEstimated' | 'price' | 'model'>;

/** Null when it is not known. */
function costIn(state: Bill, usage: Usage, model: string): number | null {
  // An endpoint may answer under a name of its own; the requested model's price is known.
  return costOf(model, usage, state.price) ?? costOf(state.model, usage, state.price);
}

function charged<State extends Bill>(state: State, usage: Usage, model: string): State {
  const cost = costIn(state, usage, model);
  return {
    ...state,
    usage: addUsage(state.usage, usage),
    costUsd: state.costUsd === null || cost === null ? null : state.costUsd + cost,
  };
}

function afterFailedTurn(state: RunState, kind: ProviderFailureKind, message: string): RunState {
  const { conversation, compaction } = state;
  const isAboutImages = kind === 'too_large' || (kind === 'invalid_request' && speaksOfImages(message));
  const without = isAboutImages ? withoutLastImages(conversation, IMAGE_REFUSED) : null;
  if (without !== null) return { ...state, conversation: without };
  if (kind !== 'too_large' || !canBeCut(conversation, compaction))
    return { ...state, providerFailure: { kind, message } };
  return { ...state, compaction: withFullWindow(compaction, conversationTokens(state)) };
}

/** Images that came with a refused request are taken back, so that a broken one does not end the run. */
const IMAGE_REFUSED = '[Not shown after all: the API of this model does not accept it.]';

function afterCompaction(before: RunState, event: ContextCompacted): RunState {
  const { turn } = event;
  const state = turn === undefined ? before : charged(before, turn.usage, turn.model);
  const costUsd = turn === undefined ? 0 : costIn(before, turn.usage, turn.model);
  return {
    ...state,
    ...withNewSegment(state, event, { iteration: state.iterations, costUsd }),
    modelMs: state.modelMs + (turn?.durationMs ?? 0),
  };
}

/** Who goes on, at which price, is what the run was begun with, whatever the event says. */
function afterReplacement(state: RunState, event: ModelReplaced): RunState {
  const { compaction, fallback: to, review } = state;
  if (to === null) return state;
  return {
    ...state,
    conversation: freshSegment(state.conversation, event.text),
    phase: { at: 'model' },
    providerFailure: null,
    fallback: null,
    models: withReplacement(state.models, { ...event, to }),
    review: review && withWorker(review, to),
    model: to.model,
    price: to.price,
    counted: null,
    lastPromptTokens: 0,
    cutOffsInARow: 0,
    repeats: 0,
    lastTurnKey: '',
    // What is known of the window is that of the first model.
    compaction: { ...compaction, base: null, notBelow: 0, isWindowFull: false, window: null },
  };
}

function afterTurn(before: RunState, turn: LlmTurn): RunState {
  const charge = charged(before, turn.usage, turn.model);
  const tokens = totalTokens(turn.usage);
  // An answer for which there was no room is asked for again, in a shorter conversation.
  if (turn.stop === 'context_window' && canBeCut(before.conversation, before.compaction))
    return {
      ...charge,
      iterations: before.iterations + 1,
      modelMs: before.modelMs + turn.durationMs,
      compaction: withFullWindow(before.compaction, conversationTokens(before)),
    };
  const answered = said(charge, { role: 'assistant', content: turn.content });
  const counted = tokens === 0 ? before.counted : { tokens, messages: answered.conversation.messages.length };
  const state: RunState = {
    ...answered,
    // A provider that counts nothing leaves the whole to be estimated.
    counted,
    compaction: withAnswer(before.compaction, () => conversationTokens({ ...answered, counted })),
    lastTurn: before.lastTurn && { ...before.lastTurn, isAnswered: true },
    iterations: before.iterations + 1,
    lastPromptTokens: tokens - turn.usage.output,
    aliases: withAliases(before.aliases, turn.calls),
    modelMs: before.modelMs + turn.durationMs,
    cutOffsInARow: turn.stop === 'max_tokens' ? before.cutOffsInARow + 1 : 0,
  };
  if (turn.stop === 'refusal')
    return { ...state, phase: { at: 'ended', how: 'refused', summary: turn.stopDetail } };
  // A full conversation has no room for the answers to its calls.
  if (turn.stop === 'context_window')
    return { ...state, phase: { at: 'ended', how: 'context_full', summary: '' } };
  if (turn.calls.length > 0) {
    // Only a turn that stopped for its tools has confirmed its calls; any other may have been cut inside one.
    const cutOff = turn.stop !== 'tool_use';
    return { ...state, phase: toolsDue(turn.calls, cutOff) };
  }
  switch (turn.stop) {
    case 'max_tokens':
      return { ...state, phase: { at: 'continue' } };
    case 'pause_turn':
    case 'tool_use':
    case 'compaction':
      return { ...state, phase: { at: 'model' } };
    case 'end_turn':
      // At a cap only the word `done` counts: a text may as well say what is missing.
      if (state.lastTurn !== null) return { ...state, phase: { at: 'model' } };
      return { ...state, phase: state.wantsAnswer ? { at: 'unanswered' } : workDone(state, turn.text) };
  }
}

/** What had stopped the run does so again unless it is gone: only what lay outside the run is forgotten. */
function afterResuming(before: RunState, event: RunResumed & EventPlace): RunState {
  const { stop, providerFailure } = before;
  const wasCapped = stop?.why === 'limit' && before.lastTurn !== null;
  const wasCutOff = stop?.why === 'limit' && stop.limit === 'output_tokens';
  return {
    ...before,
    seq: event.seq,
    now: event.at,
    // Who may only finish for want of tokens or money is not blocked by the work.
    phase:
      wasCapped && before.phase.at === 'ended' && before.phase.how === 'blocked'
        ? { at: 'model' }
        : withoutStoppedVerification(before.phase),
    base: event.base,
    limits: event.limits ?? before.limits,
    superseded: event.supersedes ? [...before.superseded, event.supersedes] : before.superseded,
    startedAt: event.at - Math.max(0, before.now - before.startedAt),
    cutOffsInARow: wasCutOff ? 0 : before.cutOffsInARow,
    // There may be more to spend by now. Calls of the last answer stay those of a last answer.
    lastTurn: before.phase.at === 'tools' ? before.lastTurn : null,
    warnedOf: new Set(),
    interruption: null,
    overChanges: null,
    // A conversation that is too large for the model stays so.
    providerFailure: providerFailure?.kind === 'too_large' ? providerFailure : null,
    stop: null,
  };
}

/** An interrupted verification has shown nothing: it starts over and does not cost a fix round. */
function withoutStoppedVerification(phase: Phase): Phase {
  return phase.at === 'fix' && phase.failed.some(({ end }) => end.interrupted)
    ? { at: 'verify', summary: phase.summary }
    : phase;
}

function afterPutBack(state: RunState, { changes, stuck, source, iteration }: ChangesPutBack): RunState {
  const excluded = changes.map((change) => ({ ...change, excluded: 'put_back' as const }));
  for (const change of toCodeChanges(excluded, source, iteration)) state.changes.record(change);
  const putBack = new Map(state.putBack);
  const stillStuck = new Map(state.stuck);
  for (const { path } of changes) {
    putBack.set(path, source.by);
    stillStuck.delete(path);
  }
  for (const { path, why } of stuck) stillStuck.set(path, why);
  const calls = source.by === 'tool' ? source.calls : [];
  const maker = { tool: 'a command', verify: 'verify commands', setup: 'setup commands', outside: 'others' };
  const paths = changes.map(({ path }) => path);
  const denied = withDenials(state.denied, deniedChanges(paths, calls, maker[source.by]));
  return { ...state, putBack, stuck: stillStuck, denied };
}

function withDenied(state: RunState, callId: string, outcome: ToolOutcome): RunState {
  const call = state.phase.at === 'tools' ? state.phase.calls.find(({ id }) => id === callId) : undefined;
  const more = call === undefined ? [] : denialsOf(call, outcome);
  return more.length === 0 ? state : { ...state, denied: withDenials(state.denied, more) };
}

function workDone(state: RunState, summary: string): Phase {
  return state.verify.length > 0 ? { at: 'verify', summary } : checkedWork(state, summary);
}

/** Work that passed what the runner checks by itself. Where nothing was changed there is nothing to review. */
function checkedWork({ review, changes }: RunState, summary: string): Phase {
  const isDue = review?.status === 'due' && changes.net().length > 0;
  return isDue ? { at: 'review', summary } : { at: 'ended', how: 'done', summary };
}

function afterFindings(state: RunState, event: ReviewCompleted): RunState {
  const charge = {
    ...withCharge(state, undefined, event.turn),
    modelMs: state.modelMs + event.turn.durationMs,
  };
  if (state.review === null || state.phase.at !== 'review') return charge;
  const { summary } = state.phase;
  const review = afterReview(state.review, event, { net: state.changes.net(), summary });
  return {
    ...charge,
    review,
    phase: hasObjections(review) ? { at: 'objections', summary } : asFinished(state.phase),
  };
}

/** A phase of finished work, at its end. */
function asFinished(phase: Phase): Phase {
  return phase.at === 'review' ? { at: 'ended', how: 'done', summary: phase.summary } : phase;
}

function afterTool(state: RunState, callId: string, outcome: ToolOutcome): RunState {
  if (state.phase.at !== 'tools') return state;
  const phase = withOutcome(state.phase, callId, outcome);
  if (!areAllAnswered(phase)) return { ...state, phase };

  const { calls } = phase;
  const outcomes = outcomesOf(phase);
  const results = calls.map((call) => {
    const result = outcomes.get(call.id);
    return {
      type: 'tool_result' as const,
      callId: call.id,
      text: result?.text ?? '',
      isError: result?.status === 'failed',
      ...(result?.status === 'ok' && result.images !== undefined ? { images: result.images } : {}),
    };
  });
  const images = results.flatMap((result) => result.images ?? []);
  const answered: RunState = {
    ...said(state, { role: 'user', content: results }),
    imageBytes: state.imageBytes + bytesOfImages(images),
    ...afterOneMoreTurn(state, calls, outcomes),
  };
  const answer = [...outcomes.values()].findLast((each) => each.status === 'finished')?.answer;
  return {
    ...answered,
    answer: answer ?? answered.answer,
    phase: afterResults(answered, [...outcomes.values()]),
  };
}

function afterResults(state: RunState, outcomes: readonly ToolOutcome[]): Phase {
  for (const outcome of outcomes) {
    if (outcome.status !== 'finished') continue;
    return outcome.verdict === 'blocked'
      ? { at: 'ended', how: 'blocked', summary: outcome.summary }
      : workDone(state, outcome.summary);
  }
  return { at: 'model' };
}

function afterVerify(
  state: RunState,
  { reports, otherwise }: Pick<VerifyCompleted, 'reports' | 'otherwise'>,
): RunState {
  const { failed } = judgeReports(reports, state.verifyBaseline);
  const summary = state.phase.at === 'verify' ? state.phase.summary : '';
  return {
    ...state,
    reports,
    verified: verifiedPatch(state.changes.net(), otherwise),
    phase: failed.length > 0 ? { at: 'fix', failed, summary } : checkedWork(state, summary),
  };
}
