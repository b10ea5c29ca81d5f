import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import { type CutRun, cutRun, cutsOf, type RunEnd } from '../../support/runs/recorded-run.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';

const FILES = {
  'a.txt': 'one\ntwo\n',
  'b.txt': 'b\n',
  'old.txt': 'moved\n',
  'gone.txt': 'x\n',
  'crlf.txt': 'one\r\ntwo\r\n',
  '.gitignore': 'ignored/\n',
};

/** All seven tools, calls of one turn that run together, a failed verification, and a mended one. */
const TURNS = [
  {
    calls: [
      call('read_file', { path: 'a.txt' }),
      call('list_files', { path: '.' }),
      call('search', { pattern: 'two', path: '.' }),
    ],
  },
  {
    calls: [
      call('edit_file', { path: 'a.txt', find: 'two', replace: 'zwei' }),
      call('write_file', { path: 'deep/new.txt', content: 'new\n' }),
      call('edit_file', { path: 'crlf.txt', find: 'two', replace: 'zwei' }),
      call('run_command', {
        command: 'mv old.txt new.txt; rm -f gone.txt; chmod +x b.txt; ln -sfn a.txt link',
      }),
      call('read_file', { path: 'deep/new.txt' }),
    ],
  },
  { text: 'Done, I think.' },
  {
    calls: [
      // The last two are recorded, and nothing of the patch.
      call('run_command', {
        command: 'echo green > state.txt; mkdir -p ignored; echo x > ignored/x; echo b > b.txt',
      }),
      call('run_command', { command: 'echo other > other.txt' }),
    ],
  },
  { calls: [call('finish', { status: 'done', summary: 'All done.' })] },
];
const VERIFY = [
  ...['--verify', 'grep -q green state.txt'],
  ...['--verify', 'echo cache > cache.tmp; test -e cache.tmp'],
];

function ended(end: RunEnd | string): RunEnd {
  if (typeof end === 'string') throw new Error(end);
  return end;
}

describe('a run that was killed', () => {
  test(
    'after any event is carried on to the same patch',
    async () => {
      const run = await cutRun(FILES, TURNS, VERIFY);
      expect([run.result.outcome, run.events.length], run.stderr).toEqual(['done', run.events.length]);
      const kinds = new Set(run.events.map(({ type }) => type));
      expect([...kinds].sort()).toEqual([
        'change.recorded',
        'message.added',
        'network.used',
        'request.sent',
        'run.started',
        'run.stopped',
        'tool.completed',
        'tool.started',
        'turn.completed',
        'verify.completed',
      ]);
      const cuts = cutsOf(run.events);
      const ends: unknown[] = [];
      for (const { seq, type } of cuts) {
        run.goBackTo(seq);
        const { result, patch, stderr } = ended(await run.resume());
        ends.push([seq, type, result.outcome, patch, patch === run.patch ? '' : stderr]);
      }
      expect(ends).toEqual(cuts.map(({ seq, type }) => [seq, type, 'done', run.patch, '']));
    },
    MATRIX_MS,
  );
});

const edit = { calls: [call('edit_file', { path: 'a.txt', find: 'two', replace: 'zwei' })] };
const write = { calls: [call('write_file', { path: 'new.txt', content: 'new\n' })] };

const endings: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(endings.map((end) => end())));

/** Recorded when it is first asked for, and taken back by every test to where that needs it. */
function once(turns: readonly ScriptedTurn[]): () => Promise<CutRun> {
  let run: Promise<CutRun> | undefined;
  return () => {
    run ??= cutRun(FILES, turns, [], undefined, { whenOver: (end) => endings.push(end) });
    return run;
  };
}
const editRun = once([edit]);
const writeRun = once([write]);
const bothRun = once([edit, write]);

/** The number of the first event of this type, counted from `after`. */
function seqOf(run: RunEnd, type: string, after = 0): number {
  return run.events.find((event) => event.type === type && event.seq > after)?.seq ?? Number.NaN;
}

/** What the model was told about the calls of the last run. */
function outcomesOf({ events }: RunEnd) {
  return events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
}

test('what is protected today stays, whatever the journal says', async () => {
  const run = await editRun();
  run.goBackTo(1);
  const end = ended(await run.resume({ today: ['--protect', 'a.txt'] }));
  expect([run.patch === '', end.patch, end.result.changedFiles]).toEqual([false, '', []]);
});

test('a run whose shadow repository is gone is not continued', async () => {
  const run = await editRun();
  run.goBackTo(1);
  rmSync(join(run.runDir, 'shadow.git'), { recursive: true });
  expect(await run.resume()).toMatch(/^\[ERR_NO_SNAPSHOT\] The shadow repository .* is gone/);
});

describe('a run that was killed in the middle of a write', () => {
  test.each([
    ['before its first byte', () => {}],
    [
      'with a part of the temporary file on the disk',
      (root: string) => writeFileSync(join(root, '.patchsmith-0123456789abcdef.tmp'), 'ne'),
    ],
    ['after the rename', (root: string) => writeFileSync(join(root, 'new.txt'), 'new\n')],
  ])('%s ends with the same patch and without a trace', async (_when, leave) => {
    const run = await writeRun();
    run.goBackTo(seqOf(run, 'tool.started'));
    leave(run.root);
    const end = ended(await run.resume());
    expect([end.result.outcome, end.patch, end.result.unexplained]).toEqual(['done', run.patch, []]);
    expect(readdirSync(run.root).filter((name) => name.includes('patchsmith'))).toEqual([]);
  });
});

describe('a run that was killed in the middle of a command', () => {
  test('what the command had changed is attributed to it, and the model gets interrupted', async () => {
    const run = await cutRun(FILES, [
      { calls: [call('run_command', { command: 'echo x > x; echo y > y' })] },
    ]);
    run.goBackTo(seqOf(run, 'tool.started'));
    writeFileSync(join(run.root, 'x'), 'x\n');
    const end = ended(await run.resume());
    expect(outcomesOf(end)[0]).toMatchObject({
      status: 'failed',
      reason: 'interrupted',
      text: expect.stringContaining('Files recorded as changed: "x".'),
    });
    expect(end.patch).toBe(run.patch);
    expect(end.result.unexplained).toEqual([]);
  });
});

describe('the journal', () => {
  test('loses a torn last line, and the run ends the same', async () => {
    const run = await bothRun();
    for (const torn of ['{"type":"tool.comp', '\0\0\0\n']) {
      run.goBackTo(seqOf(run, 'change.recorded'));
      appendFileSync(join(run.runDir, 'events.jsonl'), torn);
      const end = ended(await run.resume());
      expect([end.result.outcome, end.patch]).toEqual(['done', run.patch]);
      expect(end.events.map(({ seq }) => seq)).toEqual(end.events.map((_, index) => index + 1));
    }
  });

  test('damaged in the middle is refused with the place', async () => {
    const run = await editRun();
    run.goBackTo(4);
    const journal = join(run.runDir, 'events.jsonl');
    const lines = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(journal, lines.with(1, '{').join('\n'));
    expect(await run.resume()).toContain(`${journal}, line 2: no JSON`);
  });
});

describe('a change that the run did not make', () => {
  test('is named and refused, and nothing is touched', async () => {
    const run = await bothRun();
    run.goBackTo(seqOf(run, 'tool.completed'));
    writeFileSync(join(run.root, 'b.txt'), 'theirs\n');
    writeFileSync(join(run.root, 'a.txt'), 'theirs\n');
    const journal = readFileSync(join(run.runDir, 'events.jsonl'), 'utf8');
    const refusal = await run.resume();
    expect(refusal).toMatch(/^\[ERR_CHANGED_BY_OTHERS\] /);
    expect(refusal).toContain('is not as the run left it: a.txt (changed), b.txt (changed).');
    expect(refusal).toContain('--accept-changes');
    expect(readFileSync(join(run.runDir, 'events.jsonl'), 'utf8')).toBe(journal);
    // What its result says is that its process is gone.
    const result = JSON.parse(readFileSync(join(run.runDir, 'result.json'), 'utf8'));
    expect([result.status, result.outcome]).toEqual(['finished', 'internal_error']);
  });

  test('is taken into the baseline when that is accepted; what the model has made stays in the patch', async () => {
    const run = await bothRun();
    run.goBackTo(seqOf(run, 'tool.completed'));
    writeFileSync(join(run.root, 'b.txt'), 'theirs\n');
    writeFileSync(join(run.root, 'a.txt'), 'theirs\n');
    const end = ended(await run.resume({ today: ['--accept-changes'] }));
    expect([end.result.outcome, end.patch]).toEqual(['done', run.patch]);
    expect(end.result.baseTree).not.toBe(run.result.baseTree);
    expect(end.result.unexplained).toEqual([{ path: 'a.txt', by: 'outside' }]);
    expect(end.result.warnings.join()).toContain(
      '[WARN_CHANGES_ACCEPTED] Accepted into the baseline: a.txt (changed), b.txt (changed).',
    );
    expect(readFileSync(join(run.root, 'b.txt'), 'utf8')).toBe('theirs\n');
  });

  test('with another fallback model continues without it, with a warning', async () => {
    const run = await editRun();
    run.goBackTo(seqOf(run, 'tool.completed'));
    const end = ended(await run.resume({ today: ['--fallback-model', 'claude-haiku-5-5'] }));
    expect(end.result.warnings).toContainEqual(expect.stringMatching(/^\[WARN_FALLBACK_NOT_ADDED\] /));
  });
});

describe('limits', () => {
  test('count on: turns, tokens, money and time from before, but not the time the run was dead', async () => {
    const run = await cutRun(FILES, [edit, write, { text: 'Done.' }], ['--max-iterations', '2']);
    expect(run.result.outcome).toBe('limit_reached');
    run.goBackTo(seqOf(run, 'tool.completed'));
    await sleep(50);
    const end = ended(await run.resume());
    expect([end.result.outcome, end.result.reason]).toEqual([run.result.outcome, run.result.reason]);
    expect(end.result.iterations).toBe(2);
    expect(end.result.tokens.output).toBe(run.result.tokens.output);

    const [start] = run.events;
    const journal = join(run.runDir, 'events.jsonl');
    run.goBackTo(seqOf(run, 'tool.completed'));
    const used =
      (run.events.find(({ seq }) => seq === seqOf(run, 'tool.completed'))?.at ?? 0) - (start?.at ?? 0);
    const tight = readFileSync(journal, 'utf8').replace('"deadlineMs":1800000', `"deadlineMs":${used}`);
    writeFileSync(journal, tight);
    expect(ended(await run.resume()).result).toMatchObject({ outcome: 'deadline', iterations: 1 });
  });
});

describe('a run directory', () => {
  test('of a run that has ended, or that is at work, is refused', async () => {
    const run = await editRun();
    expect(await run.resume()).toContain(
      'has ended: done (exit 0). Only a run that was killed, or that a signal, a limit, the provider or a machine failure ended, can be resumed.',
    );
    run.goBackTo(2);
    const both = await Promise.all([run.resume(), run.resume()]);
    expect(both.filter((end) => typeof end === 'string')).toEqual([
      `[ERR_RUN_BUSY] Another patchsmith is running in ${run.runDir}. Wait for it, or stop it.`,
    ]);
  });

  test('that was moved continues in another checkout of the same base', async () => {
    const run = await cutRun(FILES, TURNS, VERIFY, undefined, { each: 'turn.completed' });
    const finish = run.events.findLast(({ type }) => type === 'turn.completed')?.seq ?? 0;
    run.goBackTo(finish);
    const moved = `${run.runDir}.moved`;
    const other = `${run.runDir}.checkout`;
    renameSync(run.runDir, moved);
    renameSync(run.root, `${run.runDir}.gone`);
    cpSync(`${run.runDir}.gone/.git`, join(other, '.git'), { recursive: true });
    execFileSync('git', ['checkout', '--quiet', '--force', 'HEAD', '--', '.'], { cwd: other });
    expect(await run.resume({ runDir: moved })).toContain('--repo names another place');
    const end = ended(await run.resume({ runDir: moved, today: ['--repo', other] }));
    expect([end.result.outcome, end.patch]).toEqual(['done', run.patch]);
    expect(readFileSync(join(other, 'new.txt'), 'utf8')).toBe('moved\n');
    expect(existsSync(join(other, 'old.txt'))).toBe(false);
  });

  testAtNight(
    'that was moved sets the other checkout up again, and keeps what setup commands had changed',
    async () => {
      const plan = join(temporaryFolder(), 'plan.md');
      const setup = '[mkdir -p ignored; echo tool > ignored/tool; echo generated > gen.txt]';
      writeFileSync(
        plan,
        `---\nsetup: ${setup}\nverify: [test -e ignored/tool]\nprotect: [b.txt]\n---\nDo it.\n`,
      );
      const forbidden = { calls: [call('write_file', { path: 'b.txt', content: 'x' })] };
      const run = await cutRun(FILES, [edit, forbidden, write], ['--plan', plan]);
      run.goBackTo(seqOf(run, 'tool.completed'));
      const other = join(temporaryFolder(), 'checkout');
      execFileSync('git', ['clone', '--quiet', run.root, other]);
      const end = ended(await run.resume({ today: ['--repo', other] }));
      expect([end.result.outcome, end.patch], end.stderr).toEqual(['done', run.patch]);
      expect(outcomesOf(end)[1]).toMatchObject({ reason: 'policy' });
      expect(readFileSync(join(other, 'gen.txt'), 'utf8')).toBe('generated\n');
    },
  );

  testAtNight('another checkout where something is in the way of a change is refused', async () => {
    const makes = { calls: [call('write_file', { path: 'build', content: 'new\n' })] };
    const run = await cutRun({ ...FILES, '.gitignore': 'build/\n' }, [makes, edit]);
    run.goBackTo(seqOf(run, 'tool.completed'));
    const other = `${run.runDir}.checkout`;
    execFileSync('git', ['clone', '--quiet', run.root, other]);
    mkdirSync(join(other, 'build'));
    writeFileSync(join(other, 'build/mine'), '');
    expect(await run.resume({ today: ['--repo', other] })).toMatch(
      /^\[ERR_CHANGES_NOT_TRANSFERRED\] .*"build"/,
    );
  });

  testAtNight('does not continue in a work tree that its directory was moved into', async () => {
    const run = await bothRun();
    run.goBackTo(seqOf(run, 'tool.completed'));
    const moved = join(run.root, 'run');
    renameSync(run.runDir, moved);
    expect(await run.resume({ runDir: moved })).toMatch(/^\[ERR_RUN_DIRECTORY_IN_TREE\] .* Move it out\.$/);
  });

  testAtNight('that was begun without a sandbox is not told now that there is one', async () => {
    const run = await bothRun();
    run.goBackTo(seqOf(run, 'tool.completed'));
    expect(await run.resume({ today: ['--sandbox', 'required'] })).toMatch(
      /^\[ERR_SANDBOX_WEAKER\] The run began without a sandbox/,
    );
  });

  test('another checkout with another base is refused with what differs', async () => {
    const run = await bothRun();
    run.goBackTo(seqOf(run, 'tool.completed'));
    const other = `${run.runDir}.checkout`;
    cpSync(run.root, other, { recursive: true });
    writeFileSync(join(other, 'b.txt'), 'another\n');
    expect(await run.resume({ today: ['--repo', other] })).toContain(
      'is not as the run left it: b.txt (changed)',
    );
  });
});
