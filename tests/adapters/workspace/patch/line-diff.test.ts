import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from '../../../../src/adapters/workspace/patch/line-diff.ts';
import type { LineRun } from '../../../../src/domain/changes/line-history.ts';

/** What the runs make of the old lines, with the new ones to take added lines from; fails where they do not fit. */
function applied(before: readonly string[], after: readonly string[], runs: readonly LineRun[]): string[] {
  const made: string[] = [];
  let [old, now] = [0, 0];
  for (const { kind, count } of runs) {
    if (kind === 'keep') expect(before.slice(old, old + count)).toEqual(after.slice(now, now + count));
    if (kind !== 'remove') made.push(...after.slice(now, now + count));
    if (kind !== 'add') old += count;
    if (kind !== 'remove') now += count;
  }
  expect(old).toBe(before.length);
  return made;
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`);

test('for any two texts the runs lead from the one to the other', () => {
  const lines = fc.array(fc.constantFrom('a\n', 'b\n', '\n', 'c\n', 'd'), { maxLength: 300 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      expect(applied(before, after, diffLines(before, after))).toEqual(after);
    }),
    { numRuns: 300 },
  );
});

test('many small edits of a large text keep the lines between them', () => {
  const before = numbered(5_000);
  const after = before.map((line, at) => (at % 10 === 0 ? `new ${line}` : line));
  const runs = diffLines(before, after);
  expect(applied(before, after, runs)).toEqual(after);
  const kept = runs.reduce((sum, { kind, count }) => sum + (kind === 'keep' ? count : 0), 0);
  expect(kept).toBe(4_500);
});

test('a text with nothing in common is replaced, and an empty one too', () => {
  const other = numbered(3_000).map((line) => `x${line}`);
  expect(diffLines(numbered(2_000), other)).toEqual([
    { kind: 'remove', count: 2_000 },
    { kind: 'add', count: 3_000 },
  ]);
  expect(diffLines([], ['a\n'])).toEqual([{ kind: 'add', count: 1 }]);
  expect(diffLines(['a\n'], ['a\n'])).toEqual([{ kind: 'keep', count: 1 }]);
});
