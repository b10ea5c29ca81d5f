import { existsSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CodeChange } from '../../../src/domain/changes/change.ts';
import type { ScratchCheckout } from '../../adapters/workspace/scratch-checkout.ts';
import { RecordedChanges } from './recorded-changes.ts';

const PATHS = ['a.txt', 'b.txt', 'd/c.txt'];
const line = fc.constantFrom('a', 'b', '}', '', 'x = 1', 'x=1', '  x = 1');
const text = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => `${lines.join('\n')}\n`);
const edit = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('write' as const), path: fc.constantFrom(...PATHS), text }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('splice' as const),
      path: fc.constantFrom(...PATHS),
      at: fc.nat(12),
      remove: fc.nat(3),
      add: fc.array(line, { maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('indent' as const), path: fc.constantFrom(...PATHS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('remove' as const), path: fc.constantFrom(...PATHS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      path: fc.constantFrom(...PATHS),
      to: fc.constantFrom(...PATHS),
    }),
  },
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function perform(scratch: ScratchCheckout, made: Edit): void {
  const read = () =>
    existsSync(scratch.path(made.path)) ? readFileSync(scratch.path(made.path), 'utf8') : '';
  switch (made.do) {
    case 'write':
      scratch.write(made.path, made.text);
      return;
    case 'splice': {
      const lines = read().split('\n');
      lines.splice(Math.min(made.at, lines.length), made.remove, ...made.add);
      scratch.write(made.path, lines.join('\n'));
      return;
    }
    case 'indent':
      if (read() !== '') scratch.write(made.path, read().replace(/^(?=.)/gm, '  '));
      return;
    case 'remove':
      scratch.remove(made.path);
      return;
    case 'move':
      if (made.path !== made.to) scratch.move(made.path, made.to);
  }
}

const linesIn = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? [];

/** For every place in both texts, the length of the longest common part of what comes before it. */
function commonBefore(old: readonly string[], now: readonly string[]): number[][] {
  const table = [now.map(() => 0).concat(0)];
  for (const [i, line] of old.entries()) {
    const row = [0];
    for (const [j, other] of now.entries()) {
      const skipped = Math.max(row[j] ?? 0, table[i]?.[j + 1] ?? 0);
      row.push(line === other ? (table[i]?.[j] ?? 0) + 1 : skipped);
    }
    table.push(row);
  }
  return table;
}

/** Lines, without line endings, that some smallest difference of the texts takes away or brings. */
function touchedLines(before: string, after: string): Set<string> {
  const [old, now] = [linesIn(before), linesIn(after)];
  const head = commonBefore(old, now);
  const tail = commonBefore([...old].reverse(), [...now].reverse());
  const longest = head[old.length]?.[now.length];
  const through = (from: readonly [number, number], to: readonly [number, number]) =>
    (head[from[0]]?.[from[1]] ?? 0) + (tail[old.length - to[0]]?.[now.length - to[1]] ?? 0) === longest;
  const removed = old.filter((_, i) => [...now, ''].some((_, j) => through([i, j], [i + 1, j])));
  const added = now.filter((_, j) => [...old, ''].some((_, i) => through([i, j], [i, j + 1])));
  return new Set([...removed, ...added].map((line) => line.replace(/\n$/, '')));
}

test('for any sequence of edits, every changed line names a call that touched such a line, or moved it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom(...PATHS), text, { noNullPrototype: true }),
      fc.array(edit, { minLength: 1, maxLength: 10 }),
      async (files, edits) => {
        const run = new RecordedChanges(files);
        try {
          for (const made of edits) await run.step((scratch) => perform(scratch, made));
          const ofCall = new Map<string, CodeChange[]>();
          for (const change of run.ledger.history) {
            const call = change.source.by === 'tool' ? (change.source.calls[0] ?? '') : '';
            ofCall.set(call, [...(ofCall.get(call) ?? []), change]);
          }
          const touches = (change: CodeChange, wanted: string) => {
            // A rename brings and takes whole files.
            if (change.kind === 'rename') return true;
            const [before, after] = [change.before, change.after].map((state) =>
              state ? run.blob(state.blob) : '',
            );
            return touchedLines(before ?? '', after ?? '').has(wanted);
          };
          for (const { file, hunks, cut, sources: all } of await run.attributed()) {
            expect(cut).toBeNull();
            const ofFile = all.flatMap((one) => (one.by === 'tool' ? one.calls : []));
            for (const { sign, text: wanted, sources } of hunks?.flatMap(({ lines }) => lines) ?? []) {
              const calls = sources.flatMap((one) => (one.by === 'tool' ? one.calls : []));
              const isReal = (call: string) =>
                ofCall.get(call)?.some((change) => touches(change, wanted)) === true;
              // Where no call ever touched such a line, git's difference moved it past lines that calls did touch.
              expect(
                ofFile.some(isReal) ? calls.filter(isReal) : calls,
                `${file.path}: ${sign}${wanted} by ${calls.join()}`,
              ).not.toEqual([]);
            }
          }
        } finally {
          run.scratch.close();
        }
      },
    ),
    { numRuns: 10 },
  );
});
