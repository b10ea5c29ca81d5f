/** Answers of the model, results of its calls, and messages to it: they extend the conversation, and decide what is due next. */

import { canBeCut, withAnswer, withFullWindow } from '../../conversation/compaction.ts';
import { type LlmTurn, type Message, totalTokens } from '../../conversation/conversation.ts';
import { laneOf, type ToolOutcome } from '../../conversation/tool.ts';
import {
  afterOneMoreTurn,
  areAllAnswered,
  outcomesOf,
  toolsDue,
  withOutcome,
} from '../../conversation/tools-phase.ts';
import { bytesOfImages, speaksOfImages, withoutLastImages } from '../../images/shown.ts';
import { denialsOf, deniedHosts, withDenials, withUnwritable } from '../../review/denied.ts';
import { type AskedHost, withUses } from '../../review/egress.ts';
import { conversationTokens } from '../budget.ts';
import type { RunEvent } from '../events.ts';
import type { ProviderFailureKind } from '../limits.ts';
import type { Phase, RunState } from '../state.ts';
import { withTurn } from './bill.ts';
import { workDone } from './finished-work.ts';

/** The state after an answer, which decides what is due next. */
export function afterTurn(before: RunState, turn: LlmTurn): RunState {
  const charge = withTurn(before, turn);
  const tokens = totalTokens(turn.usage);
  // If there was no room for an answer, it is requested again in a shorter conversation.
  if (turn.stop === 'context_window' && canBeCut(before.conversation, before.compaction))
    return {
      ...charge,
      iterations: before.iterations + 1,
      modelMs: before.modelMs + turn.durationMs,
      compaction: withFullWindow(before.compaction, conversationTokens(before)),
    };
  const answered = withMessage(charge, { role: 'assistant', content: turn.content });
  const isCounted = tokens > 0 && turn.estimated !== true;
  const counted = isCounted ? { tokens, messages: answered.conversation.messages.length } : before.counted;
  const state: RunState = {
    ...answered,
    // If the provider counts nothing, everything is estimated.
    counted,
    compaction: withAnswer(before.compaction, () => conversationTokens({ ...answered, counted })),
    lastTurn: before.lastTurn && { ...before.lastTurn, isAnswered: true },
    iterations: before.iterations + 1,
    lastPromptTokens: tokens - turn.usage.output,
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
      // At a cap only the word `done` counts: any other text may say what is missing.
      if (state.lastTurn !== null) return { ...state, phase: { at: 'model' } };
      return { ...state, phase: state.wantsAnswer ? { at: 'unanswered' } : workDone(state, turn.text) };
  }
}

/** After a request that failed for good. */
export function afterFailedTurn(state: RunState, kind: ProviderFailureKind, message: string): RunState {
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

/** Appends a message; what the runner adds before the model has answered is merged into the unsent message. */
function withMessage(state: RunState, message: Message): RunState {
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

/** After a message of the runner: it answers what failed, or what a review objected to. */
export function afterMessage(state: RunState, text: string): RunState {
  const { phase, review, fixRoundsUsed } = state;
  return {
    ...withMessage(state, { role: 'user', content: [{ type: 'text', text }] }),
    phase: { at: 'model' },
    fixRoundsUsed: fixRoundsUsed + (phase.at === 'fix' ? 1 : 0),
    review: phase.at === 'objections' ? review && { ...review, sentBack: true } : review,
  };
}

/** After the run has come to a cap: one more answer fits. */
export function afterCap(
  state: RunState,
  { limit, value, used, needed, text }: Extract<RunEvent, { type: 'budget.reached' }>,
): RunState {
  return {
    ...withMessage(state, { role: 'user', content: [{ type: 'text', text }] }),
    phase: { at: 'model' },
    lastTurn: { cap: { limit, value, used, needed }, isAnswered: false },
  };
}

/** After the outcome of one call; the last one of a turn completes the message. */
export function afterTool(state: RunState, callId: string, outcome: ToolOutcome): RunState {
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
    ...withMessage(state, { role: 'user', content: results }),
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

/** Adds what a call asked for and did not get. */
export function withDenied(state: RunState, callId: string, outcome: ToolOutcome): RunState {
  const call = state.phase.at === 'tools' ? state.phase.calls.find(({ id }) => id === callId) : undefined;
  if (call === undefined) return state;
  const unwritable = withUnwritable(state.unwritable, call, outcome);
  const more = denialsOf(call, outcome, { root: state.root, known: state.denied.named });
  if (more.length === 0) return unwritable === state.unwritable ? state : { ...state, unwritable };
  const isWrite = laneOf(call.name) === 'write';
  const unwritten = state.unwritten ?? more.find(({ kind }) => isWrite && kind === 'sandbox')?.why ?? null;
  return { ...state, denied: withDenials(state.denied, more), unwritten, unwritable };
}

/** After hosts were asked for. They are counted, and one that was refused to commands is a denial of the calls that asked for it. */
export function withAskedHosts<State extends Pick<RunState, 'denied' | 'hosts'>>(
  state: State,
  hosts: readonly AskedHost[],
): State {
  return {
    ...state,
    denied: withDenials(state.denied, deniedHosts(hosts, state.denied.named)),
    hosts: withUses(state.hosts, hosts),
  };
}
