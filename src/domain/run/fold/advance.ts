/** The pure fold of a run's events. What one kind of event changes is in the files beside this one, by subject. */

import { conversationTokens } from '../../budget/next-request.ts';
import { withFailure } from '../../compaction/fold.ts';
import { awaitedAfter } from '../../conversation/awaited.ts';
import { usageBetween } from '../../conversation/conversation.ts';
import { withChanges, withStarted } from '../../conversation/tools-phase.ts';
import { withMoreUse, withUse } from '../../fallback/fallback.ts';
import type { RunEvent } from '../events.ts';
import { askedNow, type RunState, startOf } from '../state.ts';
import { costIn, withCharge, withSpent, withTurn } from './bill.ts';
import { afterTool, withDenied } from './calls.ts';
import { withAskedHosts } from './egress.ts';
import { afterFindings, afterNoFindings, afterStop, afterVerify } from './finished-work.ts';
import { afterCap, afterMessage } from './message.ts';
import { afterCompaction, afterReplacement } from './new-segment.ts';
import { afterPutBack } from './put-back.ts';
import { afterResuming } from './resumed.ts';
import { afterFailedTurn, afterTurn } from './turn.ts';

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
    case 'budget.warned':
      return { ...state, warnedOf: new Set([...state.warnedOf, event.limit]) };
    case 'budget.reached':
      return afterCap(state, event);
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
    case 'run.stopped':
      return afterStop(state, event.stop);
  }
}
