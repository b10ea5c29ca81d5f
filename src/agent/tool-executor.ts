/**
 * Runs the tool calls of one turn. calls/ has the steps, in their order: prepared-call.ts parses and checks,
 * lane-changes.ts records what changed, shown-outcome.ts redacts and truncates. A failing call affects nothing
 * else; the run continues.
 */

import type { FoundChange } from '../domain/changes/change.ts';
import { isWithin } from '../domain/changes/path.ts';
import type { LlmTurn, ToolCall } from '../domain/conversation/conversation.ts';
import type { SeenNote } from '../domain/conversation/seen-files.ts';
import type { Lane, ToolOutcome } from '../domain/conversation/tool.ts';
import { MAX_CALLS_IN_A_TURN } from '../domain/conversation/tools-phase.ts';
import { CutShort } from '../domain/errors/thrown.ts';
import type { ShownImages } from '../domain/images/shown.ts';
import { changesRecorded } from '../domain/journal/recorded-changes.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { Sandbox, Tool, ToolContext, ToolResult } from '../ports.ts';
import { notingUnseen, recordChanges, recordEarlier } from './calls/lane-changes.ts';
import {
  failedResult,
  type PreparedCall,
  prepareCall,
  refuseRepositories,
  withOwnNames,
} from './calls/prepared-call.ts';
import { ImageRoom, shownOutcome, withPolicyNotice } from './calls/shown-outcome.ts';
import type { AgentParts } from './parts.ts';
import { hiddenFiles } from './policy.ts';

/** What the executor needs to run tool calls. */
type ExecutorParts = Omit<AgentParts, 'provider' | 'verifyPlace' | 'takeHosts' | 'restServers'>;

/** The pending calls of one turn. `cutOff` turns are answered without running anything. */
interface TurnCalls {
  readonly calls: readonly ToolCall[];
  /** The calls that are answered without being run, since the turn has too many. */
  readonly tooMany: ReadonlySet<ToolCall>;
  readonly cutOff: boolean;
  /** The run has come to a cap: whatever else the model calls is answered without being run. */
  readonly finishOnly: boolean;
  /** What images have been shown before. */
  readonly images: ShownImages;
  readonly iteration: number;
  readonly signal: AbortSignal;
}

const CUT_OFF =
  'Not run: the answer was cut off at the output limit, so this call may be incomplete. Send it again, in smaller pieces.';

const AT_THE_CAP = 'Not run: the budget of this run is used up, and only `finish` was to be called.';

const TOO_MANY = `Not run: a turn may have at most ${MAX_CALLS_IN_A_TURN} calls. Send the rest in the next turns.`;

/**
 * Carries out the tool calls of one turn: reads in parallel, writes in order, commands in parallel. Outputs are truncated
 * and redacted here and nowhere else.
 */
export class ToolExecutor {
  readonly #parts: ExecutorParts;
  readonly #tools: ReadonlyMap<string, Tool>;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    this.#tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  }

  /** The turn with the parameters of its calls by the tools' names; what is sent back to the model stays as it came. */
  named(turn: LlmTurn): LlmTurn {
    return { ...turn, calls: withOwnNames(turn.calls, this.#tools) };
  }

  /** Forgets everything shown by calls other than these: their results are no longer in the conversation. */
  forgetAllBut(calls: ReadonlySet<string>): void {
    this.#parts.seen.forgetAllBut(calls);
  }

  /** Yields events, each lane's starts before the lane runs. Stops between lanes if the run has to end. */
  async *execute(turn: TurnCalls): AsyncGenerator<RunAction> {
    if (turn.cutOff) {
      for (const call of turn.calls) {
        yield completed(call, { status: 'failed', reason: 'cut_off', text: CUT_OFF }, 0);
      }
      return;
    }
    const refused = turn.finishOnly ? turn.calls.filter((call) => !this.#isFinish(call)) : [];
    for (const call of refused) {
      yield completed(call, { status: 'failed', reason: 'budget', text: AT_THE_CAP }, 0);
    }
    const room = new ImageRoom(turn.images, this.#parts.redact);
    const calls = turn.calls.filter((call) => !turn.tooMany.has(call) && !refused.includes(call));
    const prepared = calls.map((call) => prepareCall(call, { ...this.#parts, tools: this.#tools }));
    for (const lane of lanesOf(prepared)) {
      if (turn.signal.aborted || this.#parts.workspace.notes().exceeded !== null) return;
      const { iteration } = turn;
      yield* recordEarlier(lane, iteration, this.#parts);
      const checked = await refuseRepositories(lane, this.#parts.workspace, this.#parts.folder);
      for (const { call } of lane) yield { type: 'tool.started', call, iteration };
      const unseen = new Map<string, FoundChange>();
      const results = await sideBySide(checked, (one) => this.#perform(one, turn, unseen));
      const notice = yield* recordChanges({ lane, unseen, iteration }, this.#parts);
      for (const { prepared, result, noted, durationMs } of results) {
        yield completed(
          prepared.call,
          this.#outcomeOf(prepared, result, { notice, room }),
          durationMs,
          noted,
        );
      }
    }
    if (turn.signal.aborted || this.#parts.workspace.notes().exceeded !== null) return;
    for (const call of turn.tooMany) {
      if (refused.includes(call)) continue;
      yield completed(call, { status: 'failed', reason: 'too_many_calls', text: TOO_MANY }, 0);
    }
  }

  /** The final scan of the work tree: a change since the last call belongs to no call, and is recorded as such. */
  async *settle(iteration: number): AsyncGenerator<RunAction> {
    const { workspace } = this.#parts;
    yield* changesRecorded(await workspace.capture('all'), { by: 'outside' }, iteration);
    yield* hiddenFiles(workspace).actions;
  }

  #isFinish({ name }: ToolCall): boolean {
    return this.#tools.get(name)?.lane === 'finish';
  }

  /** Adds what no capture will show to `unseen`, by path. */
  async #perform(prepared: PreparedCall, { signal: ofTurn }: TurnCalls, unseen: Map<string, FoundChange>) {
    const { clock, interruptOf } = this.#parts;
    const workspace = notingUnseen(this.#parts.workspace, unseen);
    const signal = interruptOf?.(prepared.call) ?? ofTurn;
    const startedAt = clock();
    const noted: SeenNote[] = [];
    const seen = this.#parts.seen.forCall(prepared.call.id, (note) => noted.push(note));
    const sandbox = commandsOf(prepared.call, this.#parts.sandbox);
    const result = await this.#resultOf(prepared, { workspace, sandbox, seen, signal });
    return { prepared, result, noted, durationMs: Math.max(0, clock() - startedAt) };
  }

  /** Null for a call that is not made because its result is known. */
  async #resultOf(prepared: PreparedCall, context: ToolContext): Promise<ToolResult | null> {
    if ('refusal' in prepared) return prepared.refusal;
    if (prepared.isOutside && this.#parts.outcomeOf !== undefined) return null;
    if (context.signal.aborted && prepared.lane === 'read')
      return failedResult('interrupted', 'Not run: the run was stopped.');
    return prepared.tool.execute(prepared.input, context).catch(crashed);
  }

  /** A known outcome is complete: redacted, cut, with its notices. */
  #outcomeOf(
    { call }: PreparedCall,
    result: ToolResult | null,
    { notice, room }: { readonly notice: string; readonly room: ImageRoom },
  ): ToolOutcome {
    const { redact, toolSettings, outcomeOf } = this.#parts;
    const { maxOutputChars } = toolSettings;
    if (result !== null)
      return withPolicyNotice(shownOutcome(call.name, result, { redact, maxOutputChars, room }), notice);
    const outcome = outcomeOf?.(call);
    if (outcome?.status === 'ok') room.count(outcome.images ?? []);
    return outcome ?? { status: 'failed', reason: 'crashed', text: 'Not recorded.' };
  }
}

/** The sandbox, with the call that its commands belong to. */
function commandsOf({ id }: ToolCall, sandbox: Sandbox): Sandbox {
  return { ...sandbox, run: (command) => sandbox.run({ ...command, call: id }) };
}

function completed(
  call: ToolCall,
  outcome: ToolOutcome,
  durationMs: number,
  noted: readonly SeenNote[] = [],
): RunAction {
  const seen = noted.length > 0 ? { seen: [...noted] } : {};
  return { type: 'tool.completed', call: call.id, outcome, durationMs, ...seen };
}

/** One of the two places that catch everything: a bug in a tool costs one call, not the run. */
function crashed(error: unknown): ToolResult {
  if (error instanceof CutShort) return failedResult('interrupted', error.message);
  return failedResult(
    'crashed',
    `The tool failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/**
 * Adjacent calls of one lane run together: writes only while their targets differ, `finish` always alone. Calls to the outside
 * never run together with commands, so their changes can be distinguished. Images stay in memory until their lane has ended, so
 * lanes of calls that may return images are bounded in length.
 */
export function lanesOf<T extends { lane: Lane; isOutside?: boolean; target?: string | null }>(
  calls: readonly T[],
): T[][] {
  const lanes: T[][] = [];
  for (const call of calls) {
    const last = lanes.at(-1);
    const joins =
      last !== undefined &&
      last[0]?.lane === call.lane &&
      call.lane !== 'finish' &&
      !((call.lane === 'read' || call.isOutside === true) && last.length >= MAX_SIDE_BY_SIDE) &&
      !(call.lane === 'command' && last[0].isOutside !== call.isOutside) &&
      !(call.lane === 'write' && last.some((other) => conflict(other.target, call.target)));
    if (joins) last.push(call);
    else lanes.push([call]);
  }
  return lanes;
}

/** Two writes conflict on the same path and when one path is a folder of the other. */
function conflict(a: string | null | undefined, b: string | null | undefined): boolean {
  if (a == null || b == null) return true;
  return isWithin(a, b) || isWithin(b, a);
}

/**
 * Maximum number of calls that run at the same time: each takes processes, memory and open files, and a turn may contain
 * hundreds.
 */
const MAX_SIDE_BY_SIDE = 16;

/** Results in the order of `items`, with at most `MAX_SIDE_BY_SIDE` of them in progress at a time. */
async function sideBySide<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const workers = Array.from({ length: MAX_SIDE_BY_SIDE }, async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  });
  await Promise.all(workers);
  return results;
}
