import { expect, test } from 'vitest';
import {
  type ChangeSource,
  type FileState,
  type FoundChange,
  toCodeChanges,
} from '../../../src/domain/changes/change.ts';
import { type FoldedEvents, underWay, undoPlan } from '../../../src/domain/journal/recorded-changes.ts';
import type { RunAction, RunEvent, RunEvents } from '../../../src/domain/run/events.ts';
import { advance } from '../../../src/domain/run/fold/advance.ts';
import { startOf } from '../../../src/domain/run/state.ts';
import { call, completed, started, turn } from '../../support/runs/events.ts';

const state = (blob: string): FileState => ({ mode: '100644', blob, size: 1 });
const [a, b, c] = [state('a'), state('b'), state('c')];
const NONE = { tangled: [], foreign: [], ignored: [], unknown: [], unsure: [] };

const tool: ChangeSource = { by: 'tool', tool: 'write_file', calls: ['c1'] };
const verify: ChangeSource = { by: 'verify' };
const outside: ChangeSource = { by: 'outside' };

const changed = (source: ChangeSource, ...changes: FoundChange[]): RunAction => ({
  type: 'change.recorded',
  changes: toCodeChanges(changes, source, 1),
});
const change = (path: string, before: FileState | null, after: FileState | null) => ({ path, before, after });

function journal(...actions: RunAction[]): [RunEvent & { type: 'run.started' }, ...RunEvent[]] {
  const rest = actions.map((action, at) => ({ ...action, seq: at + 2, at: at + 2 }));
  return [{ ...started, setupChanges: [change('setup', null, a)], seq: 1, at: 1 }, ...rest];
}

function folded(events: RunEvents): FoldedEvents {
  const [start, ...rest] = events;
  return { events, state: rest.reduce(advance, startOf(start)) };
}

test('the changes of setup, tools and verify commands are folded to the state before the first of them', () => {
  const events = journal(
    changed(tool, change('x', a, b), change('back', a, b)),
    changed(tool, change('x', b, c), change('back', b, a), change('setup', a, b)),
    changed(verify, change('cache', null, a)),
  );
  expect(undoPlan(events)).toEqual({
    ...NONE,
    steps: [change('cache', null, a), change('setup', null, b), change('x', a, c)],
  });
});

test('a rename is two paths, and another line ending of the same blob is a change', () => {
  const crlf = { ...a, size: 2 };
  const events = journal(
    changed(tool, change('old', a, null), change('new', null, a), change('eol', a, crlf)),
  );
  expect(undoPlan(events).steps).toEqual([
    change('eol', a, crlf),
    change('new', null, a),
    change('old', a, null),
    change('setup', null, a),
  ]);
});

test('what came from outside stays: undo goes down to it, and a path that both have changed in turn is tangled', () => {
  const events = journal(
    changed(outside, change('first', a, b), change('only', null, a)),
    changed(tool, change('first', b, c), change('after', a, b)),
    changed(outside, change('after', b, c)),
  );
  expect(undoPlan(events)).toEqual({
    ...NONE,
    steps: [change('first', b, c), change('setup', null, a)],
    tangled: ['after'],
    foreign: ['only'],
  });
});

test('what a file was before a rule showed it no one knows, unless the run had made it', () => {
  const events = journal(
    changed(tool, change('made', null, a)),
    changed(tool, { ...change('made', a, a), ignored: 'from_now' }),
    changed(tool, { ...change('made', null, b), ignored: 'until_now' }),
    changed(tool, { ...change('theirs', null, a), ignored: 'until_now' }),
    changed(tool, change('theirs', a, b)),
  );
  expect(undoPlan(events)).toEqual({
    ...NONE,
    steps: [change('made', null, b), change('setup', null, a)],
    unknown: ['theirs'],
  });
});

test('of ignored files, those that file tools made or the own rules hide are undone, and the others named', () => {
  const command: ChangeSource = { by: 'tool', tool: 'run_command', calls: ['c2'] };
  const ignored = (path: string, before: FileState | null, more: Partial<FoundChange> = {}): FoundChange => ({
    ...change(path, before, b),
    excluded: 'ignored',
    ...more,
  });
  const events = journal(
    changed(tool, ignored('made', null), ignored('theirs', a), {
      ...change('x', a, a),
      excluded: 'identical',
    }),
    changed(tool, change('hidden', null, b)),
    changed(command, { ...change('hidden', b, b), ignored: 'from_now' }),
    changed(tool, { ...change('made', b, c), excluded: 'ignored' }),
  );
  expect(undoPlan(events)).toEqual({
    ...NONE,
    steps: [
      { ...change('hidden', null, b), mayStay: true },
      { ...change('made', null, c), mayStay: true },
      change('setup', null, a),
    ],
    ignored: ['theirs'],
  });
});

test('calls that may have changed something when the run died are known', () => {
  const calls = [call('1', 'run_command', { command: 'make' }), call('2'), call('3', 'write_file', {})];
  const starts = calls.map((one): RunAction => ({ type: 'tool.started', call: one, iteration: 1 }));
  const stopped: RunAction = { type: 'run.stopped', stop: { why: 'completed', summary: '' } };
  expect(underWay(folded(journal(turn({ calls }), ...starts, completed('3'))))).toEqual(['run_command 1']);
  expect(underWay(folded(journal(turn({ calls }), ...starts, stopped)))).toEqual([]);
  const cutShort: RunAction = { type: 'run.stopped', stop: { why: 'deadline', valueMs: 1, usedMs: 1 } };
  expect(underWay(folded(journal(turn({ calls }), ...starts, cutShort)))).toEqual([
    'run_command 1',
    'write_file 3',
  ]);
  expect(underWay(folded(journal(turn())))).toEqual([]);
  const [first, ...rest] = journal(turn());
  expect(underWay(folded([{ ...first, verify: ['npm test'] }, ...rest]))).toEqual(['verify commands']);
});
