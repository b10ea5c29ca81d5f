import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ChangeSource,
  type FileState,
  type PathChange,
  toCodeChanges,
} from '../../../src/domain/changes/change.ts';
import { ChangeLedger } from '../../../src/domain/changes/ledger.ts';

const file = (blob: string, mode: FileState['mode'] = '100644', size = 3): FileState => ({
  mode,
  blob,
  size,
});
const byTool: ChangeSource = { by: 'tool', tool: 'write_file', calls: ['c1'] };

function ledgerOf(...steps: PathChange[][]): ChangeLedger {
  const ledger = new ChangeLedger();
  for (const step of steps) for (const change of toCodeChanges(step, byTool, 1)) ledger.record(change);
  return ledger;
}

describe('toCodeChanges', () => {
  test('a deletion and a creation of the same content are one rename', () => {
    const [change, ...rest] = toCodeChanges(
      [
        { path: 'old', before: file('x'), after: null },
        { path: 'new', before: null, after: file('x') },
      ],
      byTool,
      1,
    );
    expect(rest).toEqual([]);
    expect(change).toMatchObject({ path: 'new', kind: 'rename', from: 'old' });
  });

  test('empty files are never taken for renamed ones', () => {
    const empty = file('e', '100644', 0);
    const changes = toCodeChanges(
      [
        { path: 'a', before: empty, after: null },
        { path: 'b', before: null, after: empty },
      ],
      byTool,
      1,
    );
    expect(changes.map((change) => change.kind)).toEqual(['delete', 'create']);
  });
});

describe('ChangeLedger', () => {
  test('a change that is accepted becomes the baseline, but where the model has been it is only told', () => {
    const ledger = ledgerOf([{ path: 'own', before: file('1'), after: file('2') }]);
    const foreign: PathChange[] = [
      { path: 'own', before: file('2'), after: file('3') },
      { path: 'theirs', before: file('1'), after: file('3') },
    ];
    for (const change of foreign) ledger.accept(change, 1);
    for (const change of toCodeChanges([{ path: 'theirs', before: file('3'), after: file('4') }], byTool, 2))
      ledger.record(change);
    expect(ledger.net()).toEqual([
      { path: 'own', before: file('1'), after: file('2') },
      { path: 'theirs', before: file('3'), after: file('4') },
    ]);
    expect(ledger.unexplained()).toEqual([{ path: 'own', by: 'outside' }]);
  });

  test('the net of any sequence of states is first state to last state', () => {
    const states = fc.array(
      fc.dictionary(
        fc.constantFrom('a', 'b', 'dir/c'),
        fc.constantFrom('1', '2', '3').map((blob) => file(blob)),
      ),
      { minLength: 2, maxLength: 8 },
    );
    fc.assert(
      fc.property(states, (sequence) => {
        const steps = sequence.slice(1).map((after, i) => difference(sequence[i] ?? {}, after));
        expect(ledgerOf(...steps).net()).toEqual(difference(sequence[0] ?? {}, sequence.at(-1) ?? {}));
      }),
    );
  });
});

function difference(before: Record<string, FileState>, after: Record<string, FileState>): PathChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((path) => {
    const change = { path, before: before[path] ?? null, after: after[path] ?? null };
    return change.before?.blob === change.after?.blob ? [] : [change];
  });
}
