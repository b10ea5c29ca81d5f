/** The difference of two texts by lines: by jsdiff as a whole if it is small, and between anchors if it is large. */

import { diffArrays } from 'diff';
import type { LineRun } from '../../../domain/changes/line-history.ts';

/** Maximum number of removed and added lines that are searched for in one go. */
const MAX_EDITS = 100;

/** Deterministic: the same texts give the same runs. A difference of up to 100 lines is minimal. */
export function diffLines(before: readonly string[], after: readonly string[]): LineRun[] {
  return betweenEnds(before, after, (old, now) => {
    if (old.length === 0 || now.length === 0) return replaced(old, now);
    return smallDiff(old, now) ?? anchoredDiff(old, now);
  });
}

/** Lines that occur once in each text, in the same order, stay; what is between them is compared piece by piece. */
function anchoredDiff(before: readonly string[], after: readonly string[]): LineRun[] {
  const runs: LineRun[] = [];
  let [old, now] = [0, 0];
  for (const [oldAt, nowAt] of [...anchorsOf(before, after), [before.length, after.length] as const]) {
    runs.push(
      ...betweenEnds(before.slice(old, oldAt), after.slice(now, nowAt), (left, right) =>
        left.length === 0 || right.length === 0
          ? replaced(left, right)
          : (smallDiff(left, right) ?? replaced(left, right)),
      ),
    );
    if (oldAt < before.length) runs.push({ kind: 'keep', count: 1 });
    [old, now] = [oldAt + 1, nowAt + 1];
  }
  return runs;
}

/** Keeps the common beginning and end of both texts. */
function betweenEnds(
  before: readonly string[],
  after: readonly string[],
  diff: (before: string[], after: string[]) => LineRun[],
): LineRun[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const middle = diff(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  const runs: LineRun[] = [{ kind: 'keep', count: head }, ...middle, { kind: 'keep', count: tail }];
  return runs.filter(({ count }) => count > 0);
}

function replaced(before: readonly string[], after: readonly string[]): LineRun[] {
  return [
    { kind: 'remove', count: before.length },
    { kind: 'add', count: after.length },
  ];
}

/** Null when there are too many edits. */
function smallDiff(before: string[], after: string[]): LineRun[] | null {
  const changes = diffArrays(before, after, { maxEditLength: MAX_EDITS });
  if (!changes) return null;
  return changes.map(({ added, removed, count }) => ({
    kind: added ? 'add' : removed ? 'remove' : 'keep',
    count,
  }));
}

/** Positions of lines that occur once in both texts: the longest sequence that increases in both. */
function anchorsOf(before: readonly string[], after: readonly string[]): (readonly [number, number])[] {
  const nowAt = placesOfOnce(after);
  const pairs = [...placesOfOnce(before)].flatMap(([line, at]) => {
    const now = nowAt.get(line);
    return now === undefined ? [] : [[at, now] as const];
  });
  // Patience sorting: `ends[n]` is the last pair of the best sequence of n + 1 pairs so far.
  const ends: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([, now], at) => {
    let [from, to] = [0, ends.length];
    while (from < to) {
      const half = (from + to) >> 1;
      if ((pairs[ends[half] ?? 0]?.[1] ?? 0) < now) from = half + 1;
      else to = half;
    }
    previous[at] = from === 0 ? -1 : (ends[from - 1] ?? -1);
    ends[from] = at;
  });
  const row: (readonly [number, number])[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair) row.push(pair);
  }
  return row.reverse();
}

function placesOfOnce(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  const again = new Set<string>();
  for (const [at, line] of lines.entries()) {
    if (places.has(line)) again.add(line);
    places.set(line, at);
  }
  for (const line of again) places.delete(line);
  return places;
}
