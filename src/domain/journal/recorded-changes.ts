/** The changes that a journal has: the states that they leave, and what undo restores so that a work tree is as it was before. */

import {
  type ChangeSource,
  type FileState,
  type FoundChange,
  type PathChange,
  sameOnDisk,
  toCodeChanges,
} from '../changes/change.ts';
import type { ToolCall } from '../conversation/conversation.ts';
import { type Lane, laneOf } from '../conversation/tool.ts';
import type { RunAction, RunEvent, RunEvents } from '../run/events.ts';
import type { RunState } from '../run/state.ts';

/** The event that records the findings of a scan of the work tree; none when nothing has changed. */
export function changesRecorded(
  found: readonly FoundChange[],
  source: ChangeSource,
  iteration: number,
): RunAction[] {
  const changes = toCodeChanges(found, source, iteration);
  return changes.length > 0 ? [{ type: 'change.recorded', changes }] : [];
}

/** Every path that changed since the base, with its last known state; null means absent. */
export function workTreeStates(events: Iterable<RunEvent>): Map<string, FileState | null> {
  const states = new Map<string, FileState | null>();
  for (const { path, after, ignored, isIgnored } of changesOf(events)) {
    // A look no longer finds what a rule hides.
    if (ignored === 'from_now') states.delete(path);
    else if (!isIgnored) states.set(path, after);
  }
  return states;
}

/** `mayStay`: the file is not git's, so that one that has changed since is left instead of stopping everything. */
export interface UndoStep extends PathChange {
  readonly mayStay?: true;
  /** Of an ignored file that was kept as it was before the run. */
  readonly permissions?: number;
}

/** An ignored file that was kept; without `after`, it is not known what the run left. */
interface KeptBefore {
  readonly path: string;
  readonly before: FileState;
  readonly after?: FileState | null | undefined;
  readonly permissions: number;
  /** Somebody else may have changed it while the run was not at work. */
  readonly isUnsure?: true | undefined;
}

/** A change that no event has; without `after`, it is not known what the run left. */
type UnrecordedChange = Omit<PathChange, 'after'> & { readonly after?: FileState | null | undefined };

/** `steps` are sorted by path. */
export interface UndoPlan {
  /** For each path that the run changed: the state before the run, and the one that the run left. */
  readonly steps: readonly UndoStep[];
  /** Paths that both the run and something else changed during the run: the two cannot be separated. */
  readonly tangled: readonly string[];
  /** Paths over a limit that the run did not read at its end. */
  readonly unsure: readonly string[];
  /** Paths that only something else changed during the run; they are left as they are. */
  readonly foreign: readonly string[];
  /**
   * Paths that git ignores and that the run wrote; their earlier content is neither known nor stored, so they are left as they
   * are.
   */
  readonly ignored: readonly string[];
  /** Paths that git ignored when the run started, and whose content then is unknown; they are left as they are. */
  readonly unknown: readonly string[];
}

/**
 * Changes by setup commands, tool calls and verify commands are the run's own, whether they are in its patch or not. Changes
 * from outside are someone's work: if they came first, the run is undone down to them.
 */
export function undoPlan(
  events: readonly RunEvent[],
  kept: readonly KeptBefore[] = [],
  unrecorded: readonly UnrecordedChange[] = [],
): UndoPlan {
  const own = new Map<string, Own>();
  const foreign = new Set<string>();
  const unknown = new Set<string>();
  const ignoredFiles = new Map<string, FileState | null>();
  for (const { path, before, after, isOwn, ignored, isIgnored, isExact } of changesOf(events)) {
    const known = own.get(path);
    if (!(known || isExact)) {
      if (isOwn) ignoredFiles.set(path, after);
      continue;
    }
    if (ignored === 'until_now' && !known) unknown.add(path);
    if (unknown.has(path)) continue;
    if (!isOwn) {
      if (known) known.tangled = true;
      else foreign.add(path);
      continue;
    }
    // What is written to a hidden file is not recorded.
    const mayStay = isIgnored || ignored === 'from_now';
    own.set(path, known ? { ...known, after, mayStay } : { before, after, tangled: false, mayStay });
  }
  const unsure: string[] = [];
  for (const { path, before, after } of unrecorded) {
    if (after === undefined) unsure.push(path);
    else own.set(path, { before, tangled: false, mayStay: false, ...own.get(path), after });
  }
  for (const { path, before, after: left, permissions, isUnsure } of kept) {
    const recorded = own.get(path)?.after ?? ignoredFiles.get(path) ?? null;
    const after = isUnsure ? null : left === undefined ? recorded : left;
    own.set(path, { before, after, tangled: false, mayStay: true, permissions });
    unknown.delete(path);
  }
  const paths = [...own].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    steps: paths.flatMap(([path, { tangled, mayStay, ...step }]) =>
      tangled || sameOnDisk(step.before, step.after)
        ? []
        : [{ path, ...step, ...(mayStay ? { mayStay } : {}) }],
    ),
    tangled: paths.flatMap(([path, { tangled }]) => (tangled ? [path] : [])),
    unsure: unsure.sort(),
    foreign: [...foreign].filter((path) => !own.has(path)).sort(),
    ignored: [...ignoredFiles.keys()].filter((path) => !(own.has(path) || unknown.has(path))).sort(),
    unknown: [...unknown].sort(),
  };
}

/** The events of a run, and the state after the last of them. */
export interface FoldedEvents {
  readonly events: RunEvents;
  readonly state: RunState;
}

/**
 * Work that was in progress when the run died and may have changed files that no event mentions: calls by tool and id, or verify
 * commands. Empty if the run ended by itself or no such work was in progress.
 */
export function underWay({ events, state }: FoldedEvents): string[] {
  const last = events.at(-1);
  // If time ran out in the middle of a step, its calls have no outcome.
  if (last?.type === 'run.stopped' && last.stop.why !== 'deadline' && last.stop.why !== 'interrupted')
    return [];
  if (events.length === 1 && events[0].unready !== undefined) return ['commands before the work'];
  if (state.phase.at === 'verify') return ['verify commands'];
  const open = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool.started') open.set(event.call.id, event.call.name);
    if (event.type === 'tool.completed') open.delete(event.call);
  }
  return [...open].flatMap(([id, tool]) => (READING.includes(laneOf(tool)) ? [] : [`${tool} ${id}`]));
}

/** Whether commands, from the model or for verification, were in progress when the run died. */
export function wereCommandsUnderWay(run: FoldedEvents): boolean {
  return underWay(run).some((call) => laneOf(call.split(' ')[0] ?? '') !== 'write');
}

/** Lanes of calls that change no file. */
const READING: readonly (Lane | null)[] = ['read', 'finish'];

/** The run's change of a path. */
interface Own {
  readonly before: FileState | null;
  readonly after: FileState | null;
  tangled: boolean;
  readonly mayStay: boolean;
  readonly permissions?: number;
}

/** A change of one path. `isExact`: the earlier content is known and stored, or there was no file. */
interface PathEvent extends PathChange {
  readonly isOwn: boolean;
  readonly isIgnored: boolean;
  readonly isExact: boolean;
}

function* changesOf(events: Iterable<RunEvent>): Generator<PathEvent> {
  const seen = { isIgnored: false, isExact: true };
  for (const event of events) {
    if (event.type === 'run.started')
      for (const change of event.setupChanges) yield { ...change, ...seen, isOwn: true };
    if (event.type === 'run.resumed')
      for (const change of event.accepted) yield { ...change, ...seen, isOwn: false };
    if (event.type !== 'change.recorded') continue;
    for (const change of event.changes) {
      const { path, kind, from, before, after, source, ignored, excluded } = change;
      if (excluded === 'identical' || excluded === 'put_back') continue;
      const isOwn = source.by !== 'outside';
      const isIgnored = excluded === 'ignored';
      if (kind === 'rename' && from !== undefined) {
        yield { path: from, before, after: null, isOwn, ...seen };
        yield { path, before: null, after, isOwn, ...seen };
      } else {
        const isExact = !isIgnored || kind === 'create';
        yield { path, before, after, isOwn, isIgnored, isExact, ignored };
      }
    }
  }
}

/** The calls that were started, in order. */
export function callsOf(events: readonly RunEvent[]): ToolCall[] {
  return events.flatMap((event) => (event.type === 'tool.started' ? [event.call] : []));
}
