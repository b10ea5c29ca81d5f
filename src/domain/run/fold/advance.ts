/** The pure fold of a run's events. What takes more lines is in the files beside this one, by subject. */

import { toCodeChanges } from '../../changes/change.ts';
import { awaitedAfter } from '../../conversation/awaited.ts';
import { type ContextCompacted, withFailure, withNewSegment } from '../../conversation/compaction.ts';
import { type LlmTurn, usageBetween } from '../../conversation/conversation.ts';
import { freshSegment } from '../../conversation/segments.ts';
import { withChanges, withStarted } from '../../conversation/tools-phase.ts';
import { type ModelReplaced, withMoreUse, withReplacement, withUse } from '../../fallback.ts';
import { withWorker } from '../../findings/review.ts';
import { deniedChanges, withDenials } from '../../review/denied.ts';
import { conversationTokens } from '../budget.ts';
import type { ChangesPutBack, EventPlace, RunEvent, RunResumed } from '../events.ts';
import { askedNow, type Phase, type RunState, startOf } from '../state.ts';
import { costIn, withCharge, withSpent, withTurn } from './bill.ts';
import { afterFindings, afterNoFindings, afterStop, afterVerify } from './finished-work.ts';
import {
  afterCap,
  afterFailedTurn,
  afterMessage,
  afterTool,
  afterTurn,
  withAskedHosts,
  withDenied,
} from './turn.ts';

/** The state after one more event. Everything is copied except the ledger, which is passed along. */
export function advance(earlier: RunState, event: RunEvent): RunState {
  const before = ENDS.includes(event.type) ? withLostRequest(earlier) : earlier;
  const after = afterEvent(before, event);
  if (event.type === 'run.started') return after;
  return withUses(before, after, 'turn' in event ? event.turn : undefined);
}

/** After these, no answer to an earlier request can arrive. */
const ENDS: readonly RunEvent['type'][] = ['run.resumed', 'run.stopped'];

/** Counts the most that a request can have used whose end is not recorded, as for a process that was killed. */
export function withLostRequest(state: RunState): RunState {
  const { reserved } = state;
  if (reserved === null) return state;
  const charged = withCharge({ ...state, reserved: null }, { usage: reserved, estimated: true });
  return withUses(state, charged, undefined);
}

/** Adds what has been used since `before` to the model that was asked. */
function withUses(before: RunState, after: RunState, turn: LlmTurn | undefined): RunState {
  if (after.usage === before.usage) return after;
  const tokens = usageBetween(before.usage, after.usage);
  const asked = askedNow(before);
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

function afterEvent(before: RunState, event: RunEvent): RunState {
  const calls = before.phase.at === 'tools' ? before.phase.calls : [];
  const awaited = awaitedAfter(before.awaited, event, calls);
  const reserved = ANSWERS.includes(event.type) ? null : before.reserved;
  const state = { ...before, seq: event.seq, now: event.at, awaited, reserved };
  switch (event.type) {
    case 'run.started':
      return startOf(event);
    case 'run.resumed':
      for (const change of event.accepted) state.changes.accept(change, event.iteration);
      return afterResuming(before, event);
    case 'request.sent':
      return { ...state, reserved: event.reserved };
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
      const asked = turn === undefined ? state : withTurn(state, turn);
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
    case 'network.used':
      return withAskedHosts(state, event.hosts);
    case 'verify.completed':
      return afterVerify(state, event);
    case 'review.completed':
      return afterFindings(state, event);
    case 'review.failed':
      return afterNoFindings(state, event);
    case 'message.added':
      return afterMessage(state, event.text);
    case 'budget.reached':
      return afterCap(state, event);
    case 'run.interrupted':
      return { ...state, interruption: event.interruption };
    case 'changes.limited': {
      const { limit, value, used, folder } = event;
      return { ...state, overChanges: { limit, value, used, ...(folder === undefined ? {} : { folder }) } };
    }
    case 'tool.started':
      return state.phase.at === 'tools'
        ? { ...state, phase: withStarted(state.phase, event.call.id) }
        : state;
    case 'run.stopped':
      return afterStop(state, event.stop);
  }
}

/** Each ends a request, if one was made. */
const ANSWERS: readonly RunEvent['type'][] = [
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'context.compacted',
  'compaction.failed',
  'review.completed',
  'review.failed',
];

/** They are in the history as excluded, and each path is either reverted or stuck. */
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
  const commands = source.by === 'verify' ? state.verify : [];
  const maker = { tool: 'a command', verify: 'verify commands', setup: 'setup commands', outside: 'others' };
  const paths = changes.map(({ path }) => path);
  const denied = withDenials(state.denied, deniedChanges(paths, { calls, commands }, maker[source.by]));
  return { ...state, putBack, stuck: stillStuck, denied };
}

/** Forgets only what lay outside the run. Whatever else had stopped it stops it again, unless that has changed. */
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
    limits: event.limits,
    superseded: event.supersedes ? [...before.superseded, event.supersedes] : before.superseded,
    startedAt: event.at - Math.max(0, before.now - before.startedAt),
    cutOffsInARow: wasCutOff ? 0 : before.cutOffsInARow,
    // There may be more to spend by now. Calls of the last answer stay those of a last answer.
    lastTurn: before.phase.at === 'tools' ? before.lastTurn : null,
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

/** After a compaction. The state keeps everything but the messages that were dropped. */
function afterCompaction(before: RunState, event: ContextCompacted): RunState {
  const { turn } = event;
  const state = turn === undefined ? before : withTurn(before, turn);
  const costUsd = turn === undefined ? 0 : costIn(before, turn.usage, turn.model);
  return {
    ...state,
    ...withNewSegment(state, event, { iteration: state.iterations, costUsd }),
    modelMs: state.modelMs + (turn?.durationMs ?? 0),
  };
}

/** After the fallback model has taken over. Its name and price are those that the run began with, whatever the event says. */
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
    // The known context window is that of the first model.
    compaction: {
      ...compaction,
      settings: { ...compaction.settings, at: to.compactAt ?? compaction.settings.at },
      ...{ base: null, notBelow: 0, isWindowFull: false, window: null },
    },
  };
}
