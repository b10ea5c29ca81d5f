/** What to restore so that a work tree is as it was before a run: the fold of the journal used by undo. */

import { type FileState, type PathChange, sameOnDisk } from '../changes/change.ts';
import type { RunEvent } from '../run/events.ts';
import { advance, startOf } from '../run/state.ts';

/** `steps` are sorted by path. */
export interface UndoPlan {
  /** For each path that the run changed: the state before the run, and the one that the run left. */
  readonly steps: readonly PathChange[];
  /** Paths that both the run and something else changed during the run: the two cannot be separated. */
  readonly tangled: readonly string[];
  /** Paths that only something else changed during the run; they are left as they are. */
  readonly foreign: readonly string[];
  /** Paths that git ignored when the run began, and of which nobody knows what they were then; they are left as they are. */
  readonly unknown: readonly string[];
}

/**
 * Changes by setup commands, tool calls and verify commands are the run's own, whether they are in its patch or not. Changes
 * from outside are someone's work: if they came first, the run is undone down to them.
 */
export function undoPlan(events: readonly RunEvent[]): UndoPlan {
  const own = new Map<string, { before: FileState | null; after: FileState | null; tangled: boolean }>();
  const foreign = new Set<string>();
  const unknown = new Set<string>();
  for (const { path, before, after, isOwn, ignored } of changesOf(events)) {
    const known = own.get(path);
    if (ignored === 'until_now' && !known) unknown.add(path);
    if (unknown.has(path)) continue;
    if (!isOwn) {
      if (known) known.tangled = true;
      else foreign.add(path);
    } else if (known) known.after = after;
    else own.set(path, { before, after, tangled: false });
  }
  const paths = [...own].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    steps: paths.flatMap(([path, { before, after, tangled }]) =>
      tangled || sameOnDisk(before, after) ? [] : [{ path, before, after }],
    ),
    tangled: paths.flatMap(([path, { tangled }]) => (tangled ? [path] : [])),
    foreign: [...foreign].filter((path) => !own.has(path)).sort(),
    unknown: [...unknown].sort(),
  };
}

/**
 * Files that file tools have written but that no change mentions: ignore rules exclude them, or the write changed nothing.
 */
export function unrecordedWrites(events: readonly RunEvent[]): string[] {
  const changed = new Set([...changesOf(events)].map(({ path }) => path));
  const targets = new Map<string, string>();
  const written = new Set<string>();
  for (const event of events) {
    if (event.type === 'tool.started' && WRITERS.includes(event.call.name)) {
      const { input } = event.call;
      if (typeof input === 'object' && input !== null && 'path' in input && typeof input.path === 'string')
        targets.set(event.call.id, input.path);
    }
    if (event.type === 'tool.completed' && event.outcome.status === 'ok') {
      const path = targets.get(event.call);
      if (path !== undefined && !changed.has(path)) written.add(path);
    }
  }
  return [...written].sort();
}

/**
 * What was in progress when the run died and may have changed files that no event mentions: calls by tool and id, or verify
 * commands. Empty for a run that ended by itself or had nothing of the kind in progress.
 */
export function underWay(events: readonly [RunEvent & { type: 'run.started' }, ...RunEvent[]]): string[] {
  const last = events.at(-1);
  // If time ran out in the middle of a step, its calls have no outcome.
  if (last?.type === 'run.stopped' && last.stop.why !== 'deadline' && last.stop.why !== 'interrupted')
    return [];
  const [started, ...rest] = events;
  if (rest.reduce(advance, startOf(started)).phase.at === 'verify') return ['verify commands'];
  const open = new Map<string, string>();
  for (const event of rest) {
    if (event.type === 'tool.started') open.set(event.call.id, event.call.name);
    if (event.type === 'tool.completed') open.delete(event.call);
  }
  return [...open].flatMap(([id, tool]) => (READERS.includes(tool) ? [] : [`${tool} ${id}`]));
}

/** Whether commands, from the model or for verification, were in progress when the run died. */
export function wereCommandsUnderWay(
  events: readonly [RunEvent & { type: 'run.started' }, ...RunEvent[]],
): boolean {
  return underWay(events).some((call) => !WRITERS.includes(call.split(' ')[0] ?? ''));
}

const READERS = ['read_file', 'list_files', 'search', 'finish'];
const WRITERS = ['write_file', 'edit_file'];

function* changesOf(events: readonly RunEvent[]): Generator<PathChange & { isOwn: boolean }> {
  for (const event of events) {
    if (event.type === 'run.started')
      for (const change of event.setupChanges) yield { ...change, isOwn: true };
    if (event.type === 'run.resumed') for (const change of event.accepted) yield { ...change, isOwn: false };
    if (event.type !== 'change.recorded') continue;
    for (const { path, kind, from, before, after, source, ignored } of event.changes) {
      const isOwn = source.by !== 'outside';
      if (kind === 'rename' && from !== undefined) {
        yield { path: from, before, after: null, isOwn };
        yield { path, before: null, after, isOwn };
      } else yield { path, before, after, isOwn, ...(ignored === undefined ? {} : { ignored }) };
    }
  }
}
