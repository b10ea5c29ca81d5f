import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { historyOf } from '../../src/domain/changes/history.ts';
import { ChangeLedger } from '../../src/domain/changes/ledger.ts';
import type { ToolOutcome } from '../../src/domain/conversation/tool.ts';
import type { RunAction } from '../../src/domain/run/events.ts';
import { actionsOf, openRealParts } from '../support/files/real-parts.ts';
import { call } from '../support/runs/events.ts';
import { until } from '../support/waiting/until.ts';

/** `start a`, `end a ok`, `changed a.txt by write_file of a`: what happened, in its order. */
function story(actions: readonly RunAction[]): string[] {
  return actions.flatMap((action) => {
    if (action.type === 'tool.started') return [`start ${action.call.id}`];
    if (action.type === 'tool.completed') return [`end ${action.call} ${verdict(action.outcome)}`];
    if (action.type !== 'change.recorded') return [action.type];
    return action.changes.map(({ kind, path, source }) =>
      source.by === 'tool'
        ? `${kind} ${path} by ${source.calls.join('+')}`
        : `${kind} ${path} by ${source.by}`,
    );
  });
}

const verdict = (outcome: ToolOutcome) => (outcome.status === 'failed' ? outcome.reason : outcome.status);

function outcomeOf(actions: readonly RunAction[], id: string): ToolOutcome | undefined {
  for (const action of actions)
    if (action.type === 'tool.completed' && action.call === id) return action.outcome;
  return undefined;
}

describe('the calls of a turn', () => {
  test('run lane by lane: starts before the lane runs, its changes before its results', async () => {
    const parts = await openRealParts({ 'a.txt': 'a\n' });
    const actions = await actionsOf(parts, [
      call('r', 'read_file', { path: 'a.txt' }),
      call('w1', 'write_file', { path: 'a.txt', content: 'b\n' }),
      call('w2', 'write_file', { path: 'n/new.txt', content: '' }),
      call('c', 'run_command', { command: 'cat a.txt; rm n/new.txt' }),
      call('f', 'finish', { status: 'done', summary: 'ok' }),
    ]);
    expect(story(actions)).toEqual([
      'start r',
      'end r ok',
      'start w1',
      'start w2',
      'modify a.txt by w1',
      'create n/new.txt by w2',
      'end w1 ok',
      'end w2 ok',
      'start c',
      'delete n/new.txt by c',
      'end c ok',
      'start f',
      'end f finished',
    ]);
    expect(outcomeOf(actions, 'c')?.text).toContain('b\n');
  });

  test('every write of a file tool is a change: also to ignored paths, and of what was there', async () => {
    const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', '.gitignore': 'out\n' };
    const parts = await openRealParts(files);
    const script = 'echo c > c.txt; echo x > b.txt; printf "b\\n" > b.txt; cat a.txt';
    const actions = await actionsOf(parts, [
      call('w1', 'write_file', { path: 'a.txt', content: 'a\n' }),
      call('w2', 'write_file', { path: 'out', content: '1\n' }),
      call('w3', 'edit_file', { path: 'out', find: '1', replace: '2' }),
      call('c', 'run_command', { command: script }),
    ]);
    const changes = actions.flatMap((action) => (action.type === 'change.recorded' ? action.changes : []));
    const said = changes.map(({ path, kind, before, after, excluded, source }) => [
      ...[path, kind, excluded, source.by === 'tool' && source.calls.join()],
      ...[before?.blob === after?.blob, before?.size, after?.size],
    ]);
    expect(said).toEqual([
      ['a.txt', 'modify', 'identical', 'w1', true, 2, 2],
      ['out', 'create', 'ignored', 'w2', false, undefined, 2],
      ['out', 'modify', 'ignored', 'w3', false, 2, 2],
    ]);
    const ledger = new ChangeLedger();
    for (const change of changes) ledger.record(change);
    const parted = { changes: ledger.history, takesIn: () => true, sizes: new Map(), maxStateBytes: 0 };
    const { commits } = historyOf(parted);
    expect([ledger.net(), ledger.history.length, commits]).toEqual([[], 3, [{ origin: null, edits: [] }]]);
  });

  test('a file that is no longer ignored is put down to the call that changed the rules', async () => {
    const parts = await openRealParts({ '.gitignore': '*.log\n', 'a.txt': 'a\n' });
    await actionsOf(parts, [
      call('t', 'write_file', { path: 'tool.log', content: 't\n' }),
      call('c', 'run_command', { command: 'echo c > command.log' }),
    ]);
    const shown = [call('r', 'run_command', { command: ': > .gitignore; echo n > new.log' })];
    expect(story(await actionsOf(parts, shown))).toEqual([
      'start r',
      'modify .gitignore by r',
      'create command.log by r',
      'create new.log by r',
      'create tool.log by r',
      'end r ok',
    ]);
  });

  test('a folder that is moved out of what the rules hid is the work of the call that moves it', async () => {
    const files = { '.gitignore': 'build/\n', 'lib/a.txt': 'a\n' };
    const parts = await openRealParts(files);
    await actionsOf(parts, [call('w', 'write_file', { path: 'lib/new.txt', content: 'n\n' })]);
    await sleep(20);
    const command = 'mv lib build; : > .gitignore';
    expect(story(await actionsOf(parts, [call('m', 'run_command', { command })]))).toEqual([
      'start m',
      'rename build/a.txt by m',
      'rename build/new.txt by m',
      'modify .gitignore by m',
      'end m ok',
    ]);
  });

  test('a turn that was cut off gets an answer, and none of its calls runs', async () => {
    const parts = await openRealParts({});
    const calls = [call('w', 'write_file', { path: 'a', content: 'x' })];
    expect(story(await actionsOf(parts, calls, { cutOff: true }))).toEqual(['end w cut_off']);
    expect(await parts.workspace.capture('all')).toEqual([]);
  });

  test('the lanes after an interruption do not begin', async () => {
    const parts = await openRealParts({});
    const controller = new AbortController();
    const kept = until('the command has begun', () => existsSync(join(parts.root, 'kept')));
    void kept.then(() => controller.abort({ cause: 'signal', signal: 'SIGINT' }));
    const actions = await actionsOf(
      parts,
      [
        call('c', 'run_command', { command: 'echo kept > kept; sleep 600' }),
        call('w', 'write_file', { path: 'a', content: 'x' }),
      ],
      { signal: controller.signal },
    );
    expect(story(actions)).toEqual(['start c', 'create kept by c', 'end c interrupted']);
  });
});
