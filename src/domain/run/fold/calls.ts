/** After tool calls: their results become the next message to the model. */

import { afterOneMoreTurn } from '../../conversation/repeats.ts';
import { laneOf, type ToolOutcome } from '../../conversation/tool.ts';
import { areAllAnswered, outcomesOf, withOutcome } from '../../conversation/tools-phase.ts';
import { bytesOfImages } from '../../images/shown.ts';
import { denialsOf, deniedHosts, withDenials, withUnwritable } from '../../review/denied.ts';
import { type AskedHost, withUses } from '../../review/egress.ts';
import type { Phase, RunState } from '../state.ts';
import { workDone } from './finished-work.ts';
import { withMessage } from './turn.ts';

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
