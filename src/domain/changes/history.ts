/** The recorded changes of a run as a history: a commit for each step, on top of the files as they were before. */

import { type ChangeSource, type CodeChange, type FileState, sameState } from './change.ts';
import { type Origin, originOf } from './provenance.ts';

/** What is at a path; null means absent. */
export interface PathState {
  readonly path: string;
  readonly state: FileState | null;
}

/** One commit. Null as the origin: the files that the run changed, as they were before. */
export interface HistoryCommit {
  readonly origin: Origin | null;
  /** States whose contents are unavailable are left out. */
  readonly edits: readonly PathState[];
}

/** How a path became what it is in the patch. */
export interface PathPast {
  /** Places in `RunHistory.commits` of those that changed it, also under a name that it had before. */
  readonly commits: ReadonlySet<number>;
  /** Bytes of all its states. */
  readonly bytes: number;
  /** A content along the way is unavailable or too large, so that its lines cannot be followed. */
  readonly isBlurred: boolean;
  /** It may have been moved and edited at once: only contents show from where. */
  readonly mayBeMoved: boolean;
}

/** The commits, and the pasts of all paths with changes that the patch takes in. */
export interface RunHistory {
  readonly commits: readonly HistoryCommit[];
  readonly pasts: ReadonlyMap<string, PathPast>;
}

/** What a history is made from. */
export interface HistoryParts {
  /** All recorded changes in order. */
  readonly changes: readonly CodeChange[];
  /** Whether the patch takes in changes from a source. What follows the last of them is not part of a path's past. */
  readonly takesIn: (source: ChangeSource) => boolean;
  /** Bytes of the available contents by their ids. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Maximum bytes of a state whose lines are followed. */
  readonly maxStateBytes: number;
}

/** What lies between one change of a path and the next, and was not recorded, is a commit from outside. */
export function historyOf({ changes, takesIn, sizes, maxStateBytes }: HistoryParts): RunHistory {
  const steps = stepsOf(changes);
  const lastTaken = new Map<string, number>();
  for (const [at, { source, sides }] of steps.entries())
    if (takesIn(source)) for (const { path } of sides) lastTaken.set(path, at);
  const isAvailable = ({ state }: PathState) =>
    state === null || state.mode === '160000' || sizes.has(state.blob);
  const commits: HistoryCommit[] = [];
  // The last state of a path in a step counts.
  const commit = (origin: Origin, edits: readonly PathState[]) =>
    commits.push({
      origin,
      edits: [...new Map(edits.map((edit) => [edit.path, edit])).values()].filter(isAvailable),
    });

  const base: PathState[] = [];
  const now = new Map<string, FileState | null>();
  const pasts = new Map<string, GrowingPast>();
  const pastOf = (path: string) => {
    const past = pasts.get(path) ?? { commits: new Set(), bytes: 0, isBlurred: false, mayBeMoved: false };
    pasts.set(path, past);
    return past;
  };
  const hold = (path: string, state: FileState | null) => {
    const past = pastOf(path);
    const size = state === null ? 0 : state.mode === '160000' ? undefined : sizes.get(state.blob);
    past.bytes += size ?? 0;
    past.isBlurred ||= size === undefined || size > maxStateBytes;
    return past;
  };
  for (const [at, { source, iteration, sides }] of steps.entries()) {
    const isPast = (path: string) => at <= (lastTaken.get(path) ?? -1);
    const drifted: PathState[] = [];
    const met = new Set<string>();
    for (const { path, before } of sides) {
      const known = met.has(path) ? before : now.get(path);
      met.add(path);
      if (known === undefined) base.push({ path, state: before });
      if (known === undefined && isPast(path)) hold(path, before);
      if (known !== undefined && !sameState(known, before)) drifted.push({ path, state: before });
    }
    if (drifted.length > 0) {
      const outside = commit({ by: 'outside', iteration }, drifted);
      for (const { path, state } of drifted) if (isPast(path)) hold(path, state).commits.add(outside);
    }
    const isMove = sides.some(({ before, after }) => before !== null && after === null);
    const place = commit(
      originOf(source, iteration),
      sides.map(({ path, after }) => ({ path, state: after })),
    );
    for (const { path, before, after, from } of sides) {
      now.set(path, after);
      if (!isPast(path)) continue;
      const past = hold(path, after);
      if (from !== undefined) takeOver(past, pastOf(from));
      else past.mayBeMoved ||= isMove && before === null;
      past.commits.add(place);
    }
  }
  const first = { origin: null, edits: base.filter(isAvailable) };
  return { commits: [first, ...commits], pasts };
}

/** A past under construction: modified in place, since a file can have thousands of changes. */
interface GrowingPast extends PathPast {
  readonly commits: Set<number>;
  bytes: number;
  isBlurred: boolean;
  mayBeMoved: boolean;
}

function takeOver(past: GrowingPast, earlier: PathPast): void {
  for (const commit of earlier.commits) past.commits.add(commit);
  past.bytes += earlier.bytes;
  past.isBlurred ||= earlier.isBlurred;
  past.mayBeMoved ||= earlier.mayBeMoved;
}

/** One path in one step. `from` is where the file was before, if it was moved as it is. */
interface Side {
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
  readonly from?: string;
}

/** Changes that follow each other and have the same source. */
interface RecordedStep {
  readonly source: ChangeSource;
  readonly iteration: number;
  readonly sides: readonly Side[];
}

/** Excluded changes are not part of any step. */
function stepsOf(changes: readonly CodeChange[]): RecordedStep[] {
  const steps: (RecordedStep & { readonly sides: Side[] })[] = [];
  let lastKey = '';
  for (const change of changes) {
    if (change.excluded !== undefined) continue;
    const { source, iteration } = change;
    const key = JSON.stringify([source, iteration]);
    const last = steps.at(-1);
    if (last && key === lastKey) last.sides.push(...sidesOf(change));
    else steps.push({ source, iteration, sides: sidesOf(change) });
    lastKey = key;
  }
  return steps;
}

/** The new place of a moved file comes first: it takes the past of the old one along. */
function sidesOf({ path, before, after, from }: CodeChange): Side[] {
  if (from === undefined) return [{ path, before, after }];
  return [
    { path, before: null, after, from },
    { path: from, before, after: null },
  ];
}
