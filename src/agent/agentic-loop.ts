/**
 * The loop: model turn, tool calls, verification, until `stopReason` says stop.
 *
 * It yields every event before it acts on it: its consumer writes the journal, which makes the journal a write-ahead log. There
 * is no `try` and no limit here: `stopReason` has the limits, and the state is the fold of the events.
 */

import { dueCompaction } from '../domain/conversation/compaction.ts';
import { answeredCalls } from '../domain/conversation/segments.ts';
import { callsDue, callsTooMany, outcomesOf } from '../domain/conversation/tools-phase.ts';
import { shownImages } from '../domain/images/shown.ts';
import { answerTokens, nextRequest } from '../domain/run/budget.ts';
import type { RunAction, RunEvent } from '../domain/run/events.ts';
import { advance } from '../domain/run/fold/advance.ts';
import { withSpent } from '../domain/run/fold/bill.ts';
import type { Interruption } from '../domain/run/limits.ts';
import type { RunState } from '../domain/run/state.ts';
import { stopOfInterruption, stopReason } from '../domain/run/stop-reason.ts';
import type { LlmProvider } from '../ports.ts';
import { MESSAGES, verifyFailedPrompt } from '../prompts.ts';
import { askModel } from './ask-model.ts';
import { compact, replacementFor } from './compact.ts';
import type { AgentParts } from './parts.ts';
import { ToolExecutor } from './tool-executor.ts';
import { verifyWork } from './verification.ts';

/**
 * The loop: asks the model, lets the executor carry out its calls, verifies, and stops at the first limit. Every step
 * is an action that is recorded before it counts.
 */
export class AgenticLoop {
  readonly #parts: AgentParts;
  readonly #executor: ToolExecutor;
  #state: RunState;

  /** `state` is the state after the last recorded event. */
  constructor(state: RunState, parts: AgentParts) {
    this.#parts = parts;
    this.#executor = new ToolExecutor(parts);
    this.#state = state;
  }

  /** The state after the last event that was yielded. */
  get state(): RunState {
    return this.#state;
  }

  /**
   * `first` are events that are already known to have happened. Ends with `run.stopped`; returns at once when that is already
   * recorded. Rejects only for bugs and a broken machine.
   */
  async *run(first: readonly RunAction[] = []): AsyncGenerator<RunEvent> {
    const { interrupt, workspace } = this.#parts;
    for (const action of first) yield this.#advance(action);
    while (this.#state.stop === null) {
      yield* this.asked();
      if (interrupt.aborted && this.#state.interruption === null) {
        yield this.#advance({ type: 'run.interrupted', interruption: interrupt.reason });
      }
      const over = workspace.notes().exceeded;
      if (over !== null && this.#state.overChanges === null)
        yield this.#advance({ type: 'changes.limited', ...over });
      const { limits } = this.#state;
      const stop = stopReason(this.#state, limits);
      const replacement = stop === null ? null : replacementFor(this.#state, stop);
      if (replacement !== null) {
        yield this.#advance(replacement);
        this.#executor.forgetAllBut(new Set());
      } else if (stop) {
        await this.#parts.restServers();
        for await (const action of this.#executor.settle(this.#state.iterations)) yield this.#advance(action);
        yield* this.asked(true);
        yield this.#advance({ type: 'run.stopped', stop });
        const resumed = this.#parts.resumption?.() ?? null;
        if (resumed !== null) yield this.#advance(resumed);
      } else {
        for await (const action of this.#step(this.#state)) {
          yield* this.asked();
          yield this.#advance(action);
        }
      }
    }
  }

  /** Ends a run whose time ran out in the middle of a step; calls in progress stay without an outcome. */
  *cutShort(interruption: Interruption): Generator<RunEvent> {
    if (this.#state.interruption === null) yield this.#advance({ type: 'run.interrupted', interruption });
    if (this.#state.stop === null)
      yield this.#advance({
        type: 'run.stopped',
        stop: stopOfInterruption(this.#state, interruption, this.#state.limits),
      });
  }

  /**
   * The hosts that were asked for, as an event. Whoever has accepted every event so far may ask for it while a call or command runs, so
   * that a run which is killed in it has not lost them.
   */
  *asked(isLast = false): Generator<RunEvent> {
    const hosts = this.#parts.takeHosts(isLast);
    if (hosts.length > 0) yield this.#advance({ type: 'network.used', hosts });
  }

  #advance(action: RunAction): RunEvent {
    const event = { ...action, seq: this.#state.seq + 1, at: this.#parts.clock() };
    this.#state = advance(this.#state, event);
    return event;
  }

  async *#step(state: RunState): AsyncGenerator<RunAction> {
    const { interrupt } = this.#parts;
    const { phase, limits } = state;
    switch (phase.at) {
      case 'model':
        yield* this.#modelTurn(state);
        break;
      case 'tools': {
        const calls = callsDue(phase);
        yield* this.#executor.execute({
          calls,
          tooMany: callsTooMany(phase, calls),
          cutOff: phase.cutOff,
          finishOnly: state.lastTurn !== null,
          images: shownImages(state, outcomesOf(phase).values()),
          iteration: state.iterations,
          signal: interrupt,
        });
        break;
      }
      case 'continue':
        yield { type: 'message.added', text: MESSAGES.continue };
        break;
      case 'unanswered':
        yield { type: 'message.added', text: MESSAGES.answer };
        break;
      case 'verify':
        await this.#parts.restServers();
        yield* verifyWork(this.#parts, {
          commands: state.verify,
          baseline: state.verifyBaseline,
          changes: state.changes,
          iteration: state.iterations,
          signal: interrupt,
        });
        break;
      case 'fix':
        yield {
          type: 'message.added',
          text: verifyFailedPrompt(
            phase.failed,
            limits.fixRounds - state.fixRoundsUsed - 1,
            state.verify.filter((line) => !state.reports.some(({ command }) => command === line)),
          ),
        };
        break;
      case 'review':
      case 'objections': {
        await this.#parts.restServers();
        const provider = asked(this.#parts.provider, state.models.length > 1);
        const { reviewWork } = await import('./review.ts');
        yield* reviewWork(state, { ...this.#parts, provider, now: () => this.#state });
        break;
      }
      case 'ended':
        throw new Error('The loop continued after the work had ended.');
    }
  }

  async *#modelTurn(state: RunState): AsyncGenerator<RunAction> {
    const { interrupt } = this.#parts;
    const { conversation, limits } = state;
    const isOfFallback = state.models.length > 1;
    const provider = asked(this.#parts.provider, isOfFallback);
    const due = dueCompaction(state, state.compaction);
    if (due !== null) {
      yield* compact(state, due, provider, interrupt);
      if (this.#state.conversation.segment > conversation.segment)
        this.#executor.forgetAllBut(answeredCalls(this.#state.conversation));
      return;
    }
    const next = nextRequest(state, limits);
    if (next.status === 'last_turn') {
      yield { type: 'budget.reached', ...next.cap, text: MESSAGES.lastTurn };
      return;
    }
    const result = yield* askModel({
      provider,
      spending: state,
      conversation,
      answerTokens: (spent) => answerTokens(spent.reduce(withSpent, state), limits),
      signal: interrupt,
    });
    if (result?.status === 'ok') yield { type: 'turn.completed', turn: this.#executor.named(result.turn) };
    else if (result !== null) {
      const { status: _, ...failure } = result;
      yield { type: 'turn.failed', ...failure };
    }
  }
}

/** The provider as the loop asks it, by the model whose turn it is. */
function asked({ complete }: LlmProvider, isOfFallback: boolean): Pick<LlmProvider, 'complete'> {
  return { complete: (request) => complete(isOfFallback ? { ...request, isOfFallback } : request) };
}
