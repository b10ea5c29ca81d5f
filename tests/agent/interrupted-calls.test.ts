import { describe, expect, test } from 'vitest';
import { settleInterrupted } from '../../src/agent/interrupted-calls.ts';
import { type PathChange, toCodeChanges } from '../../src/domain/changes/change.ts';
import { changesRecorded } from '../../src/domain/journal/recorded-changes.ts';
import type { RunAction } from '../../src/domain/run/events.ts';
import type { RunState } from '../../src/domain/run/state.ts';
import { createTools } from '../../src/tools/registry.ts';
import { call, completed, stateAfter, turn } from '../support/runs/events.ts';

const tools = createTools({ commandTimeoutMs: 1_000, maxCommandTimeoutMs: 1_000 });
const read = call('read', 'read_file', { path: 'a' });
const one = call('one', 'write_file', { path: 'one', content: '1' });
const two = call('two', 'write_file', { path: 'two', content: '2' });
const command = call('command', 'run_command', { command: 'make' });
const other = call('other', 'run_command', { command: 'make more' });

const made = (path: string): PathChange => ({
  path,
  before: null,
  after: { mode: '100644', blob: path, size: 1 },
});
const started = (...calls: (typeof read)[]): RunAction[] =>
  calls.map((one) => ({ type: 'tool.started', call: one, iteration: 1 }));
const recorded = (path: string, tool: string, ...calls: string[]): RunAction => ({
  type: 'change.recorded',
  changes: toCodeChanges([made(path)], { by: 'tool', tool, calls }, 1),
});

function settle(state: RunState, ...found: string[]) {
  const permits = (path: string) => path !== 'protected';
  const { made: claims, answers, foreign } = settleInterrupted(state, found.map(made), { tools, permits });
  const recorded = claims.flatMap(({ changes, source, iteration }) =>
    changesRecorded(changes, source, iteration),
  );
  return { said: [...recorded, ...answers], foreign };
}

/** What is recorded (calls and paths), who is told `interrupted`, and what is nobody's. */
function settled(actions: readonly RunAction[], ...found: string[]) {
  const { said, foreign } = settle(stateAfter(actions), ...found);
  return {
    recorded: said.flatMap((action) =>
      action.type === 'change.recorded' ? action.changes.map(({ path, source }) => [path, source.by]) : [],
    ),
    interrupted: said.flatMap((action) =>
      action.type === 'tool.completed' && action.outcome.status === 'failed' ? [action.call] : [],
    ),
    foreign: foreign.map(({ path }) => path),
  };
}

describe('unfinished work of a killed run', () => {
  test('a read, and a write that has not happened, are left to be run', () => {
    const none = { recorded: [], interrupted: [], foreign: [] };
    expect(settled([turn({ calls: [read] }), ...started(read)])).toEqual(none);
    expect(settled([turn({ calls: [one, two] }), ...started(one, two)])).toEqual(none);
  });

  test('a completed write is answered as interrupted, and its neighbour still runs', () => {
    expect(settled([turn({ calls: [one, two] }), ...started(one, two)], 'stranger', 'two')).toEqual({
      recorded: [['two', 'tool']],
      interrupted: ['two'],
      foreign: ['stranger'],
    });
  });

  test('a write whose change is already recorded is answered accordingly', () => {
    const actions = [turn({ calls: [one, two] }), ...started(one, two), recorded('one', 'write_file', 'one')];
    expect(settled(actions, 'one')).toEqual({ recorded: [], interrupted: ['one'], foreign: ['one'] });
  });

  test('commands are always answered, and all changes are attributed to all of them', () => {
    const actions = [turn({ calls: [command, other] }), ...started(command, other)];
    expect(settled(actions)).toEqual({ recorded: [], interrupted: ['command', 'other'], foreign: [] });
    const { said } = settle(stateAfter(actions), 'x', 'protected');
    const source = { calls: ['command', 'other'] };
    expect(said[0]).toMatchObject({ changes: [{ source }, { source }] });
    // What may not change is about to be put back.
    expect(JSON.stringify(said.slice(1))).not.toContain('protected');
  });

  test('a change after commands had ended is attributed to no one', () => {
    const lane = [turn({ calls: [command, other] }), ...started(command, other)];
    const late = { recorded: [], interrupted: ['other'], foreign: ['late'] };
    expect(settled([...lane, completed('command')], 'late')).toEqual(late);
    const noted = [...lane, recorded('x', 'run_command', 'command', 'other'), completed('command')];
    expect(settled(noted, 'late')).toEqual(late);
  });

  test('changes during verify commands are theirs, and changes during a request to the model are no one’s', () => {
    const { said } = settle(stateAfter([turn()], { verify: ['make'] }), 'x');
    expect(said).toMatchObject([{ type: 'change.recorded', changes: [{ source: { by: 'verify' } }] }]);
    expect(settled([], 'x')).toEqual({ recorded: [], interrupted: [], foreign: ['x'] });
  });
});
