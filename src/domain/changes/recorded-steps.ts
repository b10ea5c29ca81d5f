/**
 * The recorded changes as steps: the findings of one scan of the work tree, path by path, and the origin of new files' contents.
 */

import type { ChangeSource, CodeChange, FileState } from './change.ts';

/** `from` is where a new file's content was before. */
export interface Side {
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
  readonly from?: { readonly path: string; readonly state: FileState | null };
}

/** One change with the contents of both sides. */
export interface RecordedStep {
  readonly source: ChangeSource;
  readonly iteration: number;
  readonly sides: readonly Side[];
}

/**
 * Maximum number of new and deleted files of one step that are compared with each other; beyond that they are considered
 * unrelated.
 */
const MAX_COMPARED = 20;

/** `contents` returns lines, null if there are none; without it only exact renames are detected. Excluded changes are no steps. */
export function stepsOf(
  changes: readonly CodeChange[],
  contents: (blob: string) => readonly string[] | null = () => null,
): RecordedStep[] {
  const groups: CodeChange[][] = [];
  let lastKey = '';
  for (const change of changes) {
    if (change.excluded !== undefined) continue;
    const key = JSON.stringify([change.source, change.iteration]);
    const group = groups.at(-1);
    if (group && key === lastKey) group.push(change);
    else groups.push([change]);
    lastKey = key;
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const sides = withLikelySources(group.flatMap(sidesOf), contents);
    return [{ source: first.source, iteration: first.iteration, sides }];
  });
}

/** The paths whose past may be part of the past of `wanted`. */
export function pathsBehind(changes: readonly CodeChange[], wanted: Iterable<string>): Set<string> {
  const paths = new Set(wanted);
  for (const { sides } of stepsOf(changes).reverse()) {
    const deleted = sides.filter(({ before, after }) => before && !after);
    for (const { path, before, from } of sides) {
      if (!paths.has(path)) continue;
      if (from) paths.add(from.path);
      else if (!before && deleted.length <= MAX_COMPARED) for (const gone of deleted) paths.add(gone.path);
    }
  }
  return paths;
}

function sidesOf({ path, before, after, from }: CodeChange): Side[] {
  if (from === undefined) return [{ path, before, after }];
  return [
    { path, before: null, after, from: { path: from, state: before } },
    { path: from, before, after: null },
  ];
}

/** A new file that shares most of its lines with a deleted one was moved and edited in one step. */
function withLikelySources(
  sides: readonly Side[],
  contents: (blob: string) => readonly string[] | null,
): readonly Side[] {
  const renamed = new Set(sides.flatMap(({ from }) => (from ? [from.path] : [])));
  const gone = sides.filter(({ path, before, after }) => before && !after && !renamed.has(path));
  const made = sides.filter(({ before, after, from }) => !before && after && !from);
  if (gone.length === 0 || gone.length > MAX_COMPARED || made.length > MAX_COMPARED) return sides;
  return sides.map((side) => {
    if (!made.includes(side)) return side;
    const lines = side.after && contents(side.after.blob);
    let best: { side: Side; share: number } | null = null;
    for (const other of gone) {
      const share = sharedPart(lines, other.before && contents(other.before.blob));
      if (share >= 0.5 && share > (best?.share ?? 0)) best = { side: other, share };
    }
    return best ? { ...side, from: { path: best.side.path, state: best.side.before } } : side;
  });
}

function sharedPart(a: readonly string[] | null, b: readonly string[] | null): number {
  if (!a || !b || a.length === 0 || b.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1);
  let shared = 0;
  for (const line of b) {
    const left = counts.get(line) ?? 0;
    if (left > 0) shared += 1;
    counts.set(line, left - 1);
  }
  return shared / Math.max(a.length, b.length);
}
