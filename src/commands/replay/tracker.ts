/** Follows a replayed run along its recording: supplies the recorded times, ends and outside changes. */

import type { Restorer } from '../../adapters/workspace/restore/restore.ts';
import { deletionsFirst, type FileState } from '../../domain/changes/change.ts';
import type { ToolCall } from '../../domain/conversation/conversation.ts';
import { type ToolOutcome, wasInterrupted } from '../../domain/conversation/tool.ts';
import { divergenceOf } from '../../domain/journal/divergence.ts';
import type { RunAction, RunEvent } from '../../domain/run/events.ts';
import type { Interruption } from '../../domain/run/limits.ts';
import { type Redact, redactedJson } from '../../domain/secrets/redact.ts';
import type { Workspace } from '../../ports/workspace.ts';
import type { Clock, EventSink } from '../../ports.ts';

/** The inputs for tracking a replay. */
interface Following {
  readonly redact: Redact;
  /** Aborted where the recorded run was stopped from outside. */
  readonly stop: AbortController;
  /** Names of the tools whose results come from outside, so that nothing they did can be repeated. */
  readonly outside: ReadonlySet<string>;
}

/** Compares the events of a replay with the recorded ones and collects the differences. */
export class ReplayTracker implements EventSink {
  readonly #divergences: string[] = [];
  readonly #recorded: readonly RunEvent[];
  readonly #redact: Redact;
  readonly #stop: AbortController;
  readonly #outside: ReadonlySet<string>;
  #played = 0;
  #lost = false;

  constructor(recorded: readonly RunEvent[], { redact, stop, outside }: Following) {
    this.#recorded = recorded.filter(isCompared);
    this.#redact = redact;
    this.#stop = stop;
    this.#outside = outside;
  }

  /** The time at which the next event was recorded, so that deadlines expire as they did then. */
  readonly clock: Clock = () => (this.#recorded[this.#played] ?? this.#recorded.at(-1))?.at ?? 0;

  /** Recorded events that have not been replayed yet. */
  get due(): readonly RunEvent[] {
    return this.#lost ? [] : this.#recorded.slice(this.#played);
  }

  /** The event that carried the recorded run on, when it is due; null for one that stopped for good. */
  resumption(): RunAction | null {
    const [next] = this.due;
    if (next?.type !== 'run.resumed') return null;
    const { seq: _seq, at: _at, ...resumed } = next;
    return resumed;
  }

  /** True when the recorded run was stopped before this call had begun or ended. */
  cutsShort(call: string): boolean {
    return this.due.some(
      (event) => event.type === 'tool.completed' && event.call === call && wasInterrupted(event.outcome),
    );
  }

  /** The result of a call to the outside, as the model saw it; a failure if the recording does not have it. */
  outcomeOf({ id }: ToolCall): ToolOutcome {
    for (const event of this.due)
      if (event.type === 'tool.completed' && event.call === id) return event.outcome;
    return {
      status: 'failed',
      reason: 'crashed',
      text: 'The recording does not have the result of this call.',
    };
  }

  /**
   * True when the recorded run made this change in a way that cannot be repeated: from outside, by a call to the outside, or by a
   * call that was cut short. `rest` is what follows it.
   */
  cannotBeMadeAgain(event: RunEvent, rest: readonly RunEvent[]): boolean {
    if (event.type !== 'change.recorded' && event.type !== 'changes.put_back') return false;
    const cutShort = new Set(
      rest.flatMap((later) =>
        later.type === 'tool.completed' && wasInterrupted(later.outcome) ? [later.call] : [],
      ),
    );
    const sources =
      event.type === 'changes.put_back' ? [event.source] : event.changes.map(({ source }) => source);
    return sources.every((source) => {
      if (source.by !== 'tool') return source.by === 'outside';
      return this.#outside.has(source.tool) || source.calls.some((call) => cutShort.has(call));
    });
  }

  accept(event: RunEvent): void {
    if (!isCompared(event)) return;
    const expected = this.#recorded[this.#played];
    this.#played += 1;
    if (this.#lost) return;
    // The recording was redacted when it was written.
    const got: RunEvent = JSON.parse(redactedJson(event, this.#redact));
    const divergence = divergenceOf(expected, got);
    if (divergence) this.#divergences.push(divergence);
    this.#lost = expected?.type !== got.type;
    const interruption = this.#interruptionDue(event);
    if (interruption) this.#stop.abort(interruption);
  }

  close(): void {}

  /** In the order of the events. Nothing is compared after an event of a different type. */
  divergences(): string[] {
    const [missing] = this.due;
    const left = missing ? divergenceOf(missing, undefined) : null;
    return left ? [...this.#divergences, left] : [...this.#divergences];
  }

  /** Set when the recorded run was stopped after this event: before anything else happened, or while these calls ran. */
  #interruptionDue(played: RunEvent): Interruption | null {
    const rest = this.due;
    const begins = played.type === 'tool.started' && rest[0]?.type !== 'tool.started';
    for (const event of rest) {
      if (event.type === 'run.interrupted') return event.interruption;
      if (!begins || !ENDS_OF_CALLS.includes(event.type)) return null;
    }
    return null;
  }
}

/** Events recorded when calls have ended. */
const ENDS_OF_CALLS: readonly RunEvent['type'][] = [
  'tool.completed',
  'change.recorded',
  'changes.put_back',
  'files.hidden',
];

/** Changes outside the patch may differ in a replay, and so may the network. */
function isCompared(event: RunEvent): boolean {
  if (event.type === 'change.recorded') return event.changes.some(({ excluded }) => excluded === undefined);
  return event.type !== 'network.used';
}

/** Before each scan of the tree, applies the recorded changes that no command of the replay makes. */
export function replayWorkspace(workspace: Workspace, tracker: ReplayTracker, restorer: Restorer): Workspace {
  return {
    ...workspace,
    async capture(scope) {
      await putDue(tracker.due, tracker, restorer);
      return workspace.capture(scope);
    },
  };
}

/** Applies the next change if nothing in a replay makes it. */
async function putDue(
  [next, ...rest]: readonly RunEvent[],
  tracker: ReplayTracker,
  restorer: Restorer,
): Promise<void> {
  if (!next || !tracker.cannotBeMadeAgain(next, rest)) return;
  // What cannot be applied is missing from the events that follow, and is reported there.
  for (const { path, after } of deletionsFirst(madeBy(next), (change) => change.after))
    await restorer.put(path, after);
  // Reverted changes were found together with the others.
  if (next.type === 'changes.put_back') await putDue(rest, tracker, restorer);
}

function madeBy(event: RunEvent): { path: string; after: FileState | null }[] {
  if (event.type === 'changes.put_back') return event.changes;
  if (event.type !== 'change.recorded') return [];
  const counted = event.changes.filter(({ excluded }) => excluded === undefined);
  return counted.flatMap(({ path, from, after }) => [
    ...(from === undefined ? [] : [{ path: from, after: null }]),
    { path, after },
  ]);
}
