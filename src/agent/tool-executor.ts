/**
 * Runs the tool calls of one turn: parses their input, orders them in lanes, records what they changed, and truncates what
 * they return. A failing call affects nothing else; the run goes on.
 */

import type { ChangeSource, CodeChange, FoundChange, Writer } from '../domain/changes/change.ts';
import { isRuleFile, isWithin } from '../domain/changes/path.ts';
import type { LlmTurn, ToolCall } from '../domain/conversation/conversation.ts';
import { cutTo, type Excerpt, excerptLength } from '../domain/conversation/excerpt.ts';
import type { SeenLines, SeenNote } from '../domain/conversation/seen-files.ts';
import type { FailureReason, Lane, ToolOutcome } from '../domain/conversation/tool.ts';
import { MAX_CALLS_IN_A_TURN } from '../domain/conversation/tools-phase.ts';
import type { ShownImages } from '../domain/images/shown.ts';
import { changesRecorded, excludedRecorded, identicalRecorded } from '../domain/journal/change-events.ts';
import { belongsTo } from '../domain/review/git-folder.ts';
import { CutShort } from '../domain/run/cut-short.ts';
import type { RunAction } from '../domain/run/events.ts';
import { type Redact, redactedExcerpt, redactedStrings } from '../domain/secrets/redact.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import type { Checkpoint, Workspace } from '../ports/workspace.ts';
import type { Clock, NextCall, Sandbox, Tool, ToolContext, ToolResult } from '../ports.ts';
import { putBackPrompt, removedGitPrompt, repositoriesPrompt } from '../prompts.ts';
import { creditedChanges } from './credited-changes.ts';
import { ignoredRecorded } from './ignored-recorded.ts';
import { ImageRoom } from './image-room.ts';
import { withOwnNames } from './parameter-aliases.ts';
import { enforcePolicy, hiddenFiles } from './policy.ts';

/** What the executor needs to run tool calls. */
export interface ExecutorParts {
  readonly tools: readonly Tool[];
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly seen: SeenLines;
  readonly clock: Clock;
  readonly redact: Redact;
  /** False for a path that the plan or the settings do not allow to be changed. */
  readonly permits: (path: string) => boolean;
  /** The base has been recorded without its tree, which is to be recorded before anything is changed. Default: it has one. */
  readonly awaitsBaseline?: boolean;
  /** Maximum characters of one result; results are truncated nowhere else. */
  readonly maxOutputChars: number;
  /**
   * Interrupts this one call, where that differs from what interrupts the turn: a replay lets calls end that ended in time.
   */
  readonly interruptOf?: ((call: ToolCall) => AbortSignal) | undefined;
  /** What is known to have come of a call of a tool that is outside; where it is given, no such call is made. */
  readonly outcomeOf?: ((call: ToolCall) => ToolOutcome) | undefined;
}

/** The pending calls of one turn. `cutOff` turns are answered without running anything. */
export interface TurnCalls {
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

/** A call whose tool is known and whose input has been parsed, or the reason why it cannot run. */
type Prepared = Ran | { call: ToolCall; lane: 'read'; isOutside: false; refusal: ToolResult };

interface Ran {
  readonly call: ToolCall;
  readonly lane: Lane;
  readonly isOutside: boolean;
  readonly tool: Tool;
  readonly input: unknown;
  readonly target: string | null;
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
  #awaitsBaseline: boolean;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    this.#awaitsBaseline = parts.awaitsBaseline ?? false;
    this.#tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  }

  /** The turn with the parameters of its calls by the tools' names; what is sent back to the model stays as it came. */
  named(turn: LlmTurn): LlmTurn {
    return { ...turn, calls: withOwnNames(turn.calls, this.#tools) };
  }

  /** Forgets what was shown by other calls than these: their results are gone from the conversation. */
  forgetAllBut(calls: ReadonlySet<string>): void {
    this.#parts.seen.forgetAllBut(calls);
  }

  /** Yields events, each lane's starts before the lane runs. Stops between lanes when the run is to end. */
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
    for (const lane of lanesOf(calls.map((call) => this.#prepare(call)))) {
      if (turn.signal.aborted || this.#parts.workspace.exceeded() !== null) return;
      if (lane.some(({ lane: kind }) => kind !== 'read')) yield* this.takeBaseline();
      const line = yield* this.#lookBefore(lane, turn.iteration);
      const refuse = await this.#refusalsOf(lane);
      for (const { call } of lane) yield { type: 'tool.started', call, iteration: turn.iteration };
      const unseen = new Map<string, FoundChange>();
      const results = await sideBySide(lane, (prepared) => this.#perform(refuse(prepared), turn, unseen));
      const notice = yield* this.#recordChanges(lane, { line, unseen }, turn.iteration);
      for (const { prepared, result, noted, durationMs } of results) {
        yield completed(prepared.call, this.#told(prepared, result, { notice, room }), durationMs, noted);
      }
    }
    if (turn.signal.aborted || this.#parts.workspace.exceeded() !== null) return;
    for (const call of turn.tooMany) {
      if (refused.includes(call)) continue;
      yield completed(call, { status: 'failed', reason: 'too_many_calls', text: TOO_MANY }, 0);
    }
  }

  /** Waits for the baseline, and records it unless that has been done. Called before anything that may change a file. */
  async *takeBaseline(): AsyncGenerator<RunAction> {
    if (!this.#awaitsBaseline) return;
    const { base } = await this.#parts.workspace.baseline();
    this.#awaitsBaseline = false;
    yield { type: 'baseline.taken', base };
  }

  /**
   * One last look at the work tree: a change since the last call belongs to no call, and is recorded as such. What commands
   * wrote to ignored paths is only found here; `history` is what is recorded already.
   */
  async *settle(iteration: number, history: readonly CodeChange[]): AsyncGenerator<RunAction> {
    const { workspace } = this.#parts;
    yield* this.takeBaseline();
    yield* creditedChanges(workspace, await workspace.capture('all'), { by: 'outside' }, iteration);
    yield* hiddenFiles(workspace).actions;
    yield* ignoredRecorded(await workspace.ignoredChanges(), history, iteration);
  }

  #isFinish({ name }: ToolCall): boolean {
    return this.#tools.get(name)?.lane === 'finish';
  }

  #prepare(call: ToolCall): Prepared {
    const refuse = (reason: FailureReason, message: string): Prepared => ({
      call,
      lane: 'read',
      isOutside: false,
      refusal: failed(reason, message),
    });
    const tool = this.#tools.get(call.name);
    if (!tool) {
      return refuse(
        'unknown_tool',
        `There is no tool ${JSON.stringify(call.name)}. Tools: ${[...this.#tools.keys()].join(', ')}.`,
      );
    }
    if (call.malformed !== undefined)
      return refuse('invalid_input', `Invalid input for ${tool.name}: ${call.malformed}`);
    const parsed = tool.schema.safeParse(call.input);
    if (!parsed.success) {
      const issues = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`,
      );
      return refuse('invalid_input', `Invalid input for ${tool.name}: ${issues.join('; ')}`);
    }
    const target = tool.target?.(parsed.data) ?? null;
    if (target !== null && !this.#parts.permits(target)) {
      return refuse(
        'policy',
        `The plan and the settings do not allow changes to ${JSON.stringify(target)}. Leave it as it is.`,
      );
    }
    const { lane, isOutside = false } = tool;
    return { call, lane, isOutside, tool, input: parsed.data, target };
  }

  /** Refuses writes that would turn a folder into a repository, or change one; the writes of a lane count together. */
  async #refusalsOf(lane: readonly Prepared[]): Promise<(prepared: Prepared) => Prepared> {
    const targets = targetsOf(lane);
    const repositories =
      targets.length > 0 ? await this.#parts.workspace.repositoriesAround(targets, targets) : [];
    return (prepared) => {
      if ('refusal' in prepared || prepared.target === null) return prepared;
      const { call, target } = prepared;
      if (!repositories.some((folder) => belongsTo(target, folder))) return prepared;
      const refusal = failed('policy', repositoriesPrompt(repositories).trim());
      return { call, lane: 'read', isOutside: false, refusal };
    };
  }

  /** Adds what no capture will show to `unseen`, by path. */
  async #perform(
    prepared: Prepared,
    { signal: ofTurn, iteration }: TurnCalls,
    unseen: Map<string, FoundChange>,
  ) {
    const { sandbox, clock, interruptOf } = this.#parts;
    const by = { source: sourceOf(prepared), iteration };
    const workspace = notingUnseen(this.#parts.workspace, unseen, by);
    const signal = interruptOf?.(prepared.call) ?? ofTurn;
    const startedAt = clock();
    const noted: SeenNote[] = [];
    const seen = this.#parts.seen.forCall(prepared.call.id, (note) => noted.push(note));
    const result = await this.#resultOf(prepared, { workspace, sandbox, seen, signal });
    return { prepared, result, noted, durationMs: Math.max(0, clock() - startedAt) };
  }

  /** Null for a call that is not made, since what came of it is known. */
  async #resultOf(prepared: Prepared, context: ToolContext): Promise<ToolResult | null> {
    if ('refusal' in prepared) return prepared.refusal;
    if (prepared.isOutside && this.#parts.outcomeOf !== undefined) return null;
    if (context.signal.aborted && prepared.lane === 'read')
      return failed('interrupted', 'Not run: the run was stopped.');
    return prepared.tool.execute(prepared.input, context).catch(crashed);
  }

  /** A known outcome is complete: redacted, cut, with its notices. */
  #told(
    { call }: Prepared,
    result: ToolResult | null,
    { notice, room }: { readonly notice: string; readonly room: ImageRoom },
  ): ToolOutcome {
    if (result !== null) return withPolicyNotice(this.#outcomeOf(call.name, result, room), notice);
    const outcome = this.#parts.outcomeOf?.(call);
    if (outcome?.status === 'ok') room.count(outcome.images ?? []);
    return outcome ?? { status: 'failed', reason: 'crashed', text: 'Not recorded.' };
  }

  /**
   * A change since the last call belongs to no call and must not be attributed to the next one. Returns the checkpoint taken
   * before commands; null for other lanes.
   */
  async *#lookBefore(
    lane: readonly Prepared[],
    iteration: number,
  ): AsyncGenerator<RunAction, Checkpoint | null> {
    const { workspace } = this.#parts;
    const kind = lane[0]?.lane;
    if (kind === 'write') {
      const targets = targetsOf(lane);
      // Rules may bring any file into view, and what was changed before must not count as their doing.
      const scope = targets.some(isRuleFile) ? 'all' : targets;
      yield* creditedChanges(workspace, await workspace.capture(scope), { by: 'outside' }, iteration);
    }
    const [first, ...more] = lane;
    if (kind !== 'command' || first === undefined) return null;
    const line = await workspace.checkpoint({ source: sourceOf(first, ...more), iteration });
    yield* creditedChanges(workspace, line.changes, { by: 'outside' }, iteration);
    return line;
  }

  /**
   * Attributes writes by path; commands of one lane ran together, so their changes are attributed to all of them. Returns
   * what their results must say about changes against the policy.
   */
  async *#recordChanges(
    lane: readonly Prepared[],
    { line, unseen }: { line: Checkpoint | null; unseen: ReadonlyMap<string, FoundChange> },
    iteration: number,
  ): AsyncGenerator<RunAction, string> {
    const { workspace } = this.#parts;
    const ran = lane.flatMap((prepared) => ('refusal' in prepared ? [] : [prepared]));
    if (ran[0]?.lane === 'write') {
      for (const { call, target } of ran) {
        if (target === null) continue;
        const changes = await workspace.capture([target]);
        const source = sourceOf({ call });
        yield* changesRecorded(changes, source, iteration);
        const write = changes.some(({ path }) => path === target) ? undefined : unseen.get(target);
        if (write !== undefined) yield* excludedRecorded([write], source, iteration);
      }
      yield* this.#recordRules(ran, iteration);
    } else if (ran[0]?.lane === 'command' && line !== null) {
      const removed = workspace.removedGitDirs().length;
      const { earlier, since, identical } = await line.captureSince();
      const removedGit = workspace.removedGitDirs().slice(removed);
      yield* creditedChanges(workspace, earlier, { by: 'outside' }, iteration);
      const source = sourceOf(ran[0], ...ran.slice(1));
      const enforced = await enforcePolicy({ changes: since, source, iteration }, this.#parts);
      yield* enforced.actions;
      yield* identicalRecorded(identical, source, iteration);
      return this.#parts.redact(putBackPrompt(enforced) + removedGitPrompt(removedGit));
    }
    return '';
  }

  /** What new rules and attributes do to other files is the doing of the calls that wrote them. */
  async *#recordRules(ran: readonly Ran[], iteration: number): AsyncGenerator<RunAction> {
    const writers = ran.filter(({ target }) => target !== null && isRuleFile(target));
    const [first, ...more] = writers;
    if (first === undefined) return;
    const changes = await this.#parts.workspace.capture('all');
    yield* creditedChanges(this.#parts.workspace, changes, sourceOf(first, ...more), iteration);
  }

  #outcomeOf(tool: string, result: ToolResult, room: ImageRoom): ToolOutcome {
    const { redact, maxOutputChars } = this.#parts;
    if (result.status === 'finished') {
      const text = result.verdict === 'done' ? 'Work ended.' : 'Work ended as blocked.';
      const { verdict, answer } = result;
      const answered =
        answer === undefined ? {} : { answer: redactedStrings(answer, redact) as typeof answer };
      return { status: 'finished', verdict, summary: redact(result.summary), ...answered, text };
    }
    const output = redactedExcerpt(result.output, redact);
    const shown = cutTo(output, maxOutputChars);
    const text = shown.omitted === 0 ? shown.head : withNotice(shown, tool, result.next);
    const said = text.trim() === '' ? '(no output)' : text;
    const command = result.command === undefined ? {} : { command: result.command };
    if (result.status === 'failed')
      return { status: 'failed', reason: result.reason, text: said, ...command };
    result.shown?.(shown);
    const { images, notes } = room.take(result.images ?? []);
    const all = [said, ...notes].join('\n');
    return { status: 'ok', text: all, ...command, ...(images.length > 0 ? { images: [...images] } : {}) };
  }
}

/** Calls of one tool, as who made a change. */
function sourceOf(first: { call: ToolCall }, ...more: readonly { call: ToolCall }[]): ChangeSource {
  const calls = [first, ...more].map(({ call }) => call.id);
  return { by: 'tool', tool: first.call.name, calls };
}

/** Paths the calls will write. */
function targetsOf(lane: readonly Prepared[]): string[] {
  return lane.flatMap((prepared) => ('refusal' in prepared ? [] : (prepared.target ?? [])));
}

function withPolicyNotice(outcome: ToolOutcome, notice: string): ToolOutcome {
  return notice === '' ? outcome : { ...outcome, text: `${outcome.text.trimEnd()}\n\n${notice.trimEnd()}` };
}

/**
 * Adjacent calls of one lane run together: writes only while their targets differ, `finish` always alone. What calls from outside
 * change can be told apart from what commands change, since they never run together.
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
      !(call.lane === 'command' && last[0].isOutside !== call.isOutside) &&
      !(call.lane === 'write' && last.some((other) => conflict(other.target, call.target)));
    if (joins) last.push(call);
    else lanes.push([call]);
  }
  return lanes;
}

/**
 * Maximum number of calls that run at the same time: each takes processes, memory and open files, and a turn may hold
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

/** Two writes conflict on the same path and when one path is a folder of the other. */
function conflict(a: string | null | undefined, b: string | null | undefined): boolean {
  if (a == null || b == null) return true;
  return isWithin(a, b) || isWithin(b, a);
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

/** The same workspace, but noting the writes that no capture will show. */
function notingUnseen(workspace: Workspace, unseen: Map<string, FoundChange>, by: Writer): Workspace {
  return {
    ...workspace,
    async writeFile(path, bytes) {
      const write = await workspace.writeFile(path, bytes, by);
      if (write.status === 'ok' && write.unseen !== null) unseen.set(path, write.unseen);
      return write;
    },
  };
}

function failed(reason: FailureReason, message: string): ToolResult {
  return { status: 'failed', reason, output: { head: message, omitted: 0, tail: '' } };
}

/** One of the two places that catch everything: a bug in a tool costs one call, not the run. */
function crashed(error: unknown): ToolResult {
  if (error instanceof CutShort) return failed('interrupted', error.message);
  return failed(
    'crashed',
    `The tool failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`,
  );
}

function withNotice(shown: Excerpt, tool: string, next: NextCall | undefined): string {
  const total = excerptLength(shown);
  const notice = `[OUTPUT TRUNCATED: Showing ${formatNumber(total - shown.omitted)} of ${formatNumber(total)} characters from ${tool}]`;
  const rest = next ? ` To see the rest: ${next(shown.head, shown.omitted, shown.tail)}` : '';
  return `${shown.head}\n${notice}${rest}\n${shown.tail}`;
}
