import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { historyOf } from '../../src/domain/changes/history.ts';
import { ChangeLedger } from '../../src/domain/changes/ledger.ts';
import type { ToolOutcome } from '../../src/domain/conversation/tool.ts';
import type { RunAction } from '../../src/domain/run/events.ts';
import { actionsOf, openRealParts, SECRET } from '../support/files/real-parts.ts';
import { removeFolders } from '../support/files/repository.ts';
import { call } from '../support/runs/events.ts';
import { until } from '../support/waiting/until.ts';

afterAll(removeFolders);

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

  test('twenty-five of them are all answered, in their order', async () => {
    const parts = await openRealParts({ 'a.txt': 'a\n' });
    const ids = Array.from({ length: 25 }, (_, index) => `c${index}`);
    const actions = await actionsOf(
      parts,
      ids.map((id) => call(id, 'read_file', { path: 'a.txt' })),
    );
    // Reads may find images, which are held until their lane has ended.
    const lanes = [ids.slice(0, 16), ids.slice(16)];
    expect(story(actions)).toEqual(
      lanes.flatMap((lane) => [...lane.map((id) => `start ${id}`), ...lane.map((id) => `end ${id} ok`)]),
    );
  });

  test('a turn that was cut off gets an answer, and none of its calls runs', async () => {
    const parts = await openRealParts({});
    const calls = [call('w', 'write_file', { path: 'a', content: 'x' })];
    expect(story(await actionsOf(parts, calls, { cutOff: true }))).toEqual(['end w cut_off']);
    expect(await parts.workspace.capture('all')).toEqual([]);
  });

  test('at a cap only finish is carried out', async () => {
    const parts = await openRealParts({});
    const finish = call('f', 'finish', { status: 'done', summary: '' });
    const calls = [
      call('w', 'write_file', { path: 'a', content: 'x' }),
      finish,
      call('n', 'no_such_tool', {}),
    ];
    expect(story(await actionsOf(parts, calls, { finishOnly: true }))).toEqual([
      'end w budget',
      'end n budget',
      'start f',
      'end f finished',
    ]);
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

describe('a call that cannot run', () => {
  test.each([
    [
      'an unknown tool',
      call('x', 'rm_rf', {}),
      'unknown_tool',
      'Unknown tool "rm_rf". Available tools: read_file,',
    ],
    ['an unknown field', call('x', 'read_file', { path: 'a', root: '/' }), 'invalid_input', 'root'],
    ['input that is no object', call('x', 'read_file', ['a']), 'invalid_input', 'input: '],
    [
      'input that was no JSON',
      { ...call('x', 'read_file', null), malformed: 'not JSON' },
      'invalid_input',
      'Invalid input for read_file: not JSON',
    ],
    ['a path that leaves', call('x', 'write_file', { path: '../a', content: '' }), 'path_refused', '..'],
    ['a protected path', call('x', 'write_file', { path: 'LICENSE', content: '' }), 'policy', '"LICENSE"'],
    [
      'the same, spelled otherwise',
      call('x', 'write_file', { path: './/LICENSE', content: '' }),
      'policy',
      '',
    ],
  ])('%s is answered with the reason, and its neighbours run', async (_, bad, reason, text) => {
    const parts = await openRealParts({ a: 'a\n' }, (path) => path !== 'LICENSE');
    const actions = await actionsOf(parts, [bad, call('good', 'write_file', { path: 'b', content: 'b' })]);
    expect(outcomeOf(actions, 'x')).toMatchObject({ status: 'failed', reason });
    expect(outcomeOf(actions, 'x')?.text).toContain(text);
    expect(story(actions).slice(-2)).toEqual(['create b by good', 'end good ok']);
  });
});

describe('what the model is told', () => {
  test('is cut in the middle, with a notice and the literal next call', async () => {
    const long = Array.from({ length: 1_000 }, (_, index) => `line ${index + 1}\n`).join('');
    const parts = await openRealParts({ 'long.txt': long });
    const outcome = outcomeOf(await actionsOf(parts, [call('r', 'read_file', { path: 'long.txt' })]), 'r');
    expect(outcome?.text).toMatch(
      /\n\[OUTPUT TRUNCATED: Showing 2,000 of [\d,]+ characters from read_file\] To see the rest: read_file \{"path":"long.txt","offset":124,"limit":766\}\n/,
    );
    expect(outcome?.text.length).toBeLessThan(2_300);
  });

  test('a file that was shown in part is not overwritten whole', async () => {
    const parts = await openRealParts({ 'long.txt': 'x'.repeat(60).concat('\n').repeat(100) });
    const overwrite = call('w', 'write_file', { path: 'long.txt', content: 'short' });
    const actions = await actionsOf(parts, [call('r', 'read_file', { path: 'long.txt' }), overwrite]);
    expect(outcomeOf(actions, 'w')).toMatchObject({ status: 'failed', reason: 'conflict' });
    expect(readFileSync(join(parts.root, 'long.txt'), 'utf8')).toHaveLength(6_100);
  });

  test('never holds a secret, and is never empty', async () => {
    const parts = await openRealParts({ env: `KEY=${SECRET}\n` });
    const actions = await actionsOf(parts, [
      call('r', 'read_file', { path: 'env' }),
      call('c', 'run_command', { command: 'true' }),
      call('f', 'finish', { status: 'blocked', summary: `It is ${SECRET}.` }),
    ]);
    expect(outcomeOf(actions, 'r')?.text).toContain('KEY=***');
    expect(outcomeOf(actions, 'c')?.text).not.toBe('');
    expect(outcomeOf(actions, 'f')).toMatchObject({ verdict: 'blocked', summary: 'It is ***.' });
  });
});
