/** Runs that a limit, the provider, the deadline or a signal has stopped, and that are carried on. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { isRunning, oddSeconds } from '../../support/machine/processes.ts';
import { resultOf } from '../../support/published.ts';
import { CLI, checkoutOf, runCli } from '../../support/runs/cli.ts';
import { cutRun, cutsOf, patient, type RunEnd } from '../../support/runs/recorded-run.ts';
import { call, done, KEY } from '../../support/runs/scripted-run.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const FILES = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' };
const edit = { calls: [call('edit_file', { path: 'a.txt', find: 'two', replace: 'zwei' })] };
const write = { calls: [call('write_file', { path: 'new.txt', content: 'new\n' })] };
const command = { calls: [call('run_command', { command: 'echo c > c.txt; rm -f b.txt' })] };

function ended(end: RunEnd | string): RunEnd {
  if (typeof end === 'string') throw new Error(end);
  return end;
}

/** The last line of a replay. */
async function replay(runDir: string): Promise<string> {
  const { lastLine } = await runCli(['replay', runDir, '--repo', checkoutOf(runDir), '--sandbox', 'off'], {
    cwd: temporaryFolder(),
  });
  return lastLine;
}

describe('a run that has reached a limit', () => {
  test('continues with a higher one to the patch of an unbroken run, and says what it supersedes', async () => {
    const unbroken = await cutRun(FILES, [edit, write, command, done]);
    const run = await cutRun(FILES, [edit, write, command, done], ['--max-iterations', '2']);
    expect(run.result).toMatchObject({ outcome: 'limit_reached', exitCode: 7, superseded: [] });
    expect(run.stderr).toContain(
      `continue: patchsmith resume ${run.runDir} --repo ${run.root} --sandbox off --max-iterations 4\n`,
    );
    const end = ended(await run.resume({ today: ['--max-iterations', '10'] }));
    expect([end.result.outcome, end.patch], end.stderr).toEqual(['done', unbroken.patch]);
    const { outcome, exitCode, reason } = run.result;
    expect(end.result.superseded).toEqual([{ outcome, exitCode, reason }]);
    expect([end.result.iterations, end.result.tokens.output]).toEqual([4, unbroken.result.tokens.output]);
    const said = end.events.flatMap((event): unknown[] =>
      event.type === 'run.stopped'
        ? [event.stop.why]
        : event.type === 'run.resumed'
          ? [event.supersedes?.outcome, event.limits?.maxIterations]
          : [],
    );
    expect(said).toEqual(['limit', 'limit_reached', 10, 'completed']);
    expect(end.events.slice(0, run.events.length)).toEqual(run.events);
    expect(await replay(run.runDir)).toMatch(/done \(exit 0\): \d+ events replayed to the same patch/);
  });

  test('and is resumed with the same one is refused with the flag that it takes', async () => {
    const run = await cutRun(FILES, [edit, write, done], ['--max-iterations', '1']);
    const before = readFileSync(join(run.runDir, 'result.json'), 'utf8');
    const more = `To continue, it needs more: patchsmith resume ${run.runDir} --sandbox off --max-iterations 2`;
    expect(await run.resume()).toContain(more);
    expect(await run.resume({ today: ['--max-iterations', '1'] })).toContain(more);
    expect(readFileSync(join(run.runDir, 'result.json'), 'utf8')).toBe(before);
  });

  test('and whose run directory cannot be written is refused before anything else happens', async () => {
    const run = await cutRun(FILES, [edit, write, done], ['--max-iterations', '1']);
    const readOnly = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
    const resume = [process.execPath, CLI, 'resume', run.runDir, '--max-iterations', '9', '--sandbox', 'off'];
    const { PATH = '' } = process.env;
    const { exitCode, stderr } = await execa(
      'unshare',
      ['--map-root-user', '--mount', 'sh', '-c', readOnly, run.runDir, ...resume],
      { cwd: run.root, extendEnv: false, env: { PATH, ANTHROPIC_API_KEY: KEY }, reject: false },
    );
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining(
        `[ERR_RUN_DIRECTORY]: The run directory ${run.runDir} is not writable. Resume a copy of it.`,
      ),
    ]);
  });

  test('and is stopped again before it continues says nothing of what it has changed, and can be resumed', async () => {
    const run = await cutRun(FILES, [edit, write, done], ['--max-iterations', '2']);
    const today = ['--max-iterations', '9'];
    const interrupt = AbortSignal.abort({ cause: 'signal', signal: 'SIGTERM' });
    const end = ended(await run.resume({ today, interrupt }));
    expect(end.stderr).toContain('Stopped by SIGTERM');
    expect(end.result).toEqual(run.result);
    expect(ended(await run.resume({ today })).result.outcome).toBe('done');
  });

  test('may reach the next one, and count on from there', async () => {
    const run = await cutRun(FILES, [edit, write, command, done], ['--max-iterations', '1']);
    const second = ended(await run.resume({ today: ['--max-iterations', '2'] }));
    expect([second.result.outcome, second.result.iterations]).toEqual(['limit_reached', 2]);
    expect(await run.resume({ today: ['--max-iterations', '2'] })).toContain('--max-iterations 4');
    const third = ended(await run.resume({ today: ['--max-iterations', '9'] }));
    expect([third.result.outcome, third.result.superseded.length]).toEqual(['done', 2]);
  });

  test(
    'continues to the same patch when it is killed again after any event',
    async () => {
      const run = await cutRun(FILES, [edit, write, command, done], ['--max-iterations', '2']);
      const more = ['--max-iterations', '10'];
      const whole = ended(await run.resume({ today: more, keep: true }));
      const cuts = cutsOf(whole.events.slice(run.events.length));
      expect(cuts.map(({ type }) => type)).toContain('run.resumed');
      for (const { seq, type } of cuts) {
        run.goBackTo(seq);
        const { result, patch, stderr } = ended(await run.resume({ today: more }));
        const ends = result.superseded.map(({ outcome }) => outcome);
        expect([type, result.outcome, patch, ends], stderr).toEqual([
          type,
          'done',
          whole.patch,
          ['limit_reached', 'internal_error'],
        ]);
      }
    },
    MATRIX_MS,
  );

  test('has no patch of its earlier end left when it is killed', async () => {
    const run = await cutRun(FILES, [edit, write, done], ['--max-iterations', '1']);
    expect(existsSync(join(run.runDir, 'changes.patch'))).toBe(true);
    ended(await run.resume({ today: ['--max-iterations', '5'], keep: true }));
    run.goBackTo(run.events.length + 1);
    const result = resultOf(run.runDir);
    expect([result.status, result.patch, result.superseded.length]).toEqual(['running', null, 1]);
    expect(existsSync(join(run.runDir, 'changes.patch'))).toBe(false);
  });
});

test.each([
  ['refused', 401],
  ['had too many requests for', 429],
  ['could not serve', 529],
])('a run that the provider %s continues as soon as it answers', async (_, status) => {
  const turns: ScriptedTurn[] = [edit, { fault: { kind: 'http', status } }, done];
  const run = await cutRun(FILES, turns, ['--rate-limit-wait', '1s', '--outage-wait', '1s']);
  expect([
    run.result.outcome,
    run.stderr.includes(`continue: patchsmith resume ${run.runDir} --repo ${run.root} `),
  ]).toEqual(['provider_error', true]);
  turns[1] = write;
  const end = ended(await run.resume());
  expect([end.result.outcome, end.result.changedFiles.map(({ path }) => path)]).toEqual([
    'done',
    ['a.txt', 'new.txt'],
  ]);
  expect(await replay(run.runDir)).toMatch(/done \(exit 0\): \d+ events replayed to the same patch/);
});

test('a run that reached its deadline continues with a later one, counted from its start', async () => {
  const run = await cutRun(FILES, [edit, write, done]);
  const cut = run.events.find(({ type }) => type === 'tool.completed');
  run.goBackTo(cut?.seq ?? 0);
  const spent = (cut?.at ?? 0) - (run.events[0]?.at ?? 0);
  const journal = join(run.runDir, 'events.jsonl');
  writeFileSync(
    journal,
    readFileSync(journal, 'utf8').replace('"deadlineMs":1800000', `"deadlineMs":${spent}`),
  );
  expect(ended(await run.resume()).result.outcome).toBe('deadline');
  expect(await run.resume()).toContain(`--deadline ${(2 * spent) / 1_000}s`);
  const end = ended(await run.resume({ today: ['--deadline', `${Math.ceil(spent / 1_000) + 600}s`] }));
  expect([end.result.outcome, end.patch]).toEqual(['done', run.patch]);
});

test('a run with failed verification continues with more fix rounds', async () => {
  const given = ['--verify', 'test -e new.txt', '--fix-rounds', '0'];
  const run = await cutRun(FILES, [edit, done, write, done], given);
  expect([run.result.outcome, await run.resume()]).toEqual([
    'verify_failed',
    expect.stringContaining('--fix-rounds 3'),
  ]);
  expect(ended(await run.resume({ today: ['--fix-rounds', '1'] })).result.outcome).toBe('done');
});

test('a run that has come to its own end is refused, whatever is raised', async () => {
  for (const turn of [done, { calls: [call('finish', { status: 'blocked', summary: 'No.' })] }]) {
    const run = await cutRun(FILES, [turn]);
    expect(await run.resume({ today: ['--max-iterations', '99'] })).toContain('Only a run that was killed');
    expect(run.stderr).not.toContain('continue:');
  }
});

test('a run that Ctrl-C has stopped in a command says how to continue, and does; undo and blame know it', async () => {
  const { root, git } = await makeRepository(FILES);
  const runDir = join(temporaryFolder(), 'run');
  const marker = oddSeconds();
  const sleeping = { calls: [call('run_command', { command: `echo c > c.txt; sleep ${marker}` })] };
  const turns: ScriptedTurn[] = [edit, sleeping, write, done];
  const server = await startClaudeServer({ turns: patient(turns), apiKey: KEY });
  try {
    const cli = (...args: string[]) =>
      execa(process.execPath, [CLI, ...args], {
        extendEnv: false,
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          ANTHROPIC_API_KEY: KEY,
          ANTHROPIC_BASE_URL: server.url,
        },
        cwd: root,
        reject: false,
        stdin: 'ignore',
      });
    const first = cli('run', '-m', 'Do it', '--run-dir', runDir);
    await until('the command runs', () => isRunning(marker));
    first.kill('SIGINT');
    const { exitCode, stderr } = await first;
    expect([exitCode, stderr]).toEqual([
      130,
      expect.stringContaining(`continue: patchsmith resume ${runDir}\n`),
    ]);
    expect(stderr.split('\n')[0]).toMatch(/^run \d{8}-\d{6}-[0-9a-f]{6} in \//);
    turns[1] = command;
    const second = await cli('resume', runDir);
    expect(second.exitCode, second.stderr).toBe(0);
    const result = resultOf(runDir);
    expect(validEvents(readFileSync(join(runDir, 'events.jsonl'), 'utf8'))).not.toEqual([]);
    expect(result.superseded.map(({ outcome }) => outcome)).toEqual(['interrupted']);
    expect(result.changedFiles.map(({ path }) => path)).toEqual(['a.txt', 'c.txt', 'new.txt']);
    const blamed = await cli('blame', runDir);
    expect([blamed.exitCode, blamed.stdout]).toEqual([0, expect.stringContaining('new.txt')]);
    expect((await cli('replay', runDir)).stderr).toContain('was resumed after a signal or its deadline');
    expect((await cli('undo', runDir)).exitCode).toBe(0);
    expect(await git('status', '--porcelain')).toBe('');
  } finally {
    await server.close();
  }
});
