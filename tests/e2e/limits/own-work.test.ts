import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { IS_FULL } from '../../support/setup/sample.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';
import { until } from '../../support/waiting/until.ts';

/** As docs/security.md says. */
const MAX_CALLS_IN_A_TURN = 128;

/** Plays turns that are written down, since a real model's window would be full of them. */
async function played(
  files: Record<string, string>,
  turns: readonly object[],
  args: readonly string[] = [],
): Promise<FinishedRun & { root: string }> {
  const recording = join(temporaryFolder(), 'turns.jsonl');
  writeFileSync(recording, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const repository = await makeRepository(files);
  const played = ['--provider', 'replay', '--recording', recording];
  const run = await scriptedRun({ repository, turns: [], args: [...played, ...args] });
  return { ...run, root: repository.root };
}

testAtNight(
  'a turn of 5,000 calls: the first are run, the others answered, and the run continues',
  async () => {
    const calls = Array.from({ length: 5_000 }, () => call('read_file', { path: 'a.txt' }));
    const next = { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] };
    const run = await played({ 'a.txt': 'a\n' }, [{ calls }, next, { text: 'Done.' }]);
    expect(run.lastLine).toBe('patchsmith: done (exit 0): 1 file changed, nothing to verify.');
    const answers = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event] : []));
    const ends = answers.slice(0, calls.length).map(({ outcome }) => outcome.status);
    expect(ends).toEqual(calls.map((_, at) => (at < MAX_CALLS_IN_A_TURN ? 'ok' : 'failed')));
    expect(answers[MAX_CALLS_IN_A_TURN]?.outcome).toMatchObject({
      reason: 'too_many_calls',
      text: expect.stringContaining(`a turn may have at most ${MAX_CALLS_IN_A_TURN} calls`),
    });
    expect(run.events.filter(({ type }) => type === 'tool.started')).toHaveLength(MAX_CALLS_IN_A_TURN + 1);
    expect(run.stderr).toContain('[1] 5,000 calls in one turn: only the first 128 are run\n');
  },
);

describe('time that is over', () => {
  /** Takes git hours to compare with a path of that many folders. */
  const endless = { '.gitignore': `${'**/a/'.repeat(12)}x\n`, 'b.txt': 'b\n' };
  const deepest = `${'a/'.repeat(120)}f`;
  const deep = `mkdir -p $(dirname ${deepest}); echo > ${deepest}`;
  const command = (script: string) => ({ calls: [call('run_command', { command: script })] });

  test('the deadline ends the look at the work tree that the run begins with, and git with it', async () => {
    const repository = await makeRepository(endless);
    await execa('bash', ['-c', deep], { cwd: repository.root });
    const run = await scriptedRun({ repository, turns: [], args: ['--deadline', '2s'] });
    expect(run.lastLine).toBe(
      'patchsmith: deadline (exit 124) [ERR_DEADLINE]: The deadline of 2 s passed while waiting for the preparation of the run; no file was changed. Raise it with --deadline.',
    );
    await gitEnds(run.runDir);
  });

  testAtNight(
    'a signal ends the look after a command, and git with it; what was recorded before is the patch',
    async () => {
      const edit = { calls: [call('write_file', { path: 'b.txt', content: 'new\n' })] };
      const run = await withEnoughTime(
        async () => {
          const repository = await makeRepository(endless);
          return scriptedRun({
            repository,
            turns: [edit, command(deep)],
            async during({ pid, runDir }) {
              await until(
                'git looks at the folders',
                () => existsSync(join(repository.root, deepest)) && gitIn(runDir).length > 0,
              );
              process.kill(pid, 'SIGTERM');
            },
          });
        },
        // The seconds that are left after a signal are too few where the machine is busy with other things.
        ({ lastLine }) => !lastLine.includes('not enough time to make the patch'),
      );
      expect(run.lastLine).toBe(
        'patchsmith: interrupted (exit 143) [ERR_INTERRUPTED]: Stopped by SIGTERM; the patch so far has 1 file.',
      );
      expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
      expect(run.result.warnings.join()).toContain(
        '[WARN_LOOK_CUT_SHORT] There was not enough time to scan the whole work tree',
      );
      expect(run.events.slice(-2).map(({ type }) => type)).toEqual(['run.interrupted', 'run.stopped']);
      await gitEnds(run.runDir);
    },
  );
});

describe('changes over a limit', () => {
  const files = { 'a.txt': 'a\n' };
  const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
  const never = { calls: [call('write_file', { path: 'never.txt', content: '' })] };

  const LIMITS: [string, string, string[], string, string[]][] = [
    [
      'one file: a sparse one is not read',
      'truncate -s 900M sparse; echo > small',
      ['--max-changed-file-size', '100m'],
      'A changed file holds 943,718,400 bytes of 104,857,600 (--max-changed-file-size)',
      ['a.txt', 'small'],
    ],
    [
      'all of them',
      'for i in 1 2 3 4; do head -c 40000 /dev/zero > $i; done',
      ['--max-changed-size', '100000'],
      'Changed files hold 160,004 bytes of 100,000 (--max-changed-size)',
      ['1', '2', 'a.txt'],
    ],
    [
      'their number: what was there before comes first',
      'for i in $(seq 50); do echo $i > 0$i; done; echo newer > a.txt',
      ['--max-changed-files', '3'],
      'Changed 51 files of 3 (--max-changed-files)',
      ['01', '010', 'a.txt'],
    ],
  ];

  // By day, an attack tries a sparse file.
  test.each(LIMITS.slice(IS_FULL ? 0 : 1))('%s', async (_what, script, args, reason, kept) => {
    const commands = { calls: [call('run_command', { command: script }), ...never.calls] };
    const run = await played(files, [edit, commands, never], args);
    const has = kept.length === 1 ? '1 file' : `${kept.length} files`;
    expect(run.exitCode, run.stderr).toBe(7);
    expect(run.result.reason.replace(`; the patch so far has ${has}.`, '')).toBe(reason);
    expect(run.result.changedFiles.map(({ path }) => path)).toEqual(kept);
    expect(run.result.warnings.join()).toContain(
      '[WARN_OVER_LIMIT] Changed, but not in the patch because it is over the limit: ',
    );
    expect(run.events.at(-1)).toMatchObject({ stop: { why: 'limit' } });
    expect(existsSync(join(run.root, 'never.txt'))).toBe(false);
  });

  test('what verify commands create counts, too: such a run does not succeed', async () => {
    const args = ['--verify', 'truncate -s 200M large', '--max-changed-file-size', '100m'];
    const run = await played(files, [edit, { text: 'Done.' }], args);
    expect(run.lastLine).toContain(
      'limit_reached (exit 7) [ERR_LIMIT_CHANGES]: A changed file holds 209,715,200 bytes',
    );
  });
});

/** A git that was killed dies when it is next scheduled, which may be after the runner; one that was not would run for hours. */
async function gitEnds(runDir: string): Promise<void> {
  await until('git has ended', () => gitIn(runDir).length === 0);
}

/** Processes of git that work with a run's folders. */
function gitIn(runDir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return /^\S*\/git /.test(line) && `${line}${environment}`.includes(runDir) ? [line] : [];
      } catch {
        return [];
      }
    });
}
