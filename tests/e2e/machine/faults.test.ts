/**
 * Broken machines. The disk that is full of a long answer is in `resume/process.test.ts`, the shadow repository that is gone
 * in `run/endings.test.ts`, a model that never answers in `run/outcomes.test.ts`; garbage of providers is in `tests/adapters/providers/`.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { readIfThere } from '../../support/machine/processes.ts';
import { runOnSmallDisk } from '../../support/runs/broken-machine.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, command, done, type FinishedRun, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const big = { calls: [call('write_file', { path: 'big.txt', content: 'a line of text\n'.repeat(100_000) })] };
const repositoryOf = () => makeRepository({ 'a.txt': 'old\n' });
const off = ['--sandbox', 'off'];

/** Fills the disk of a folder but for some KiB. */
const fill = (folder: string, leftKiB = 0) =>
  `dd if=/dev/zero of='${folder}/filler' bs=64k 2> /dev/null; truncate -s -${leftKiB}K '${folder}/filler'`;
const empty = 'rm "$DISK/filler"';

describe('a full disk under the run directory', () => {
  test('before the run begins: named, with nothing left that could be resumed', async () => {
    const repository = await repositoryOf();
    const { first, resumed } = await runOnSmallDisk({
      repository,
      before: fill('$DISK').replaceAll("'", '"'),
      turns: () => [],
      mend: empty,
    });
    expect([first.exitCode, first.lastLine]).toEqual([
      1,
      'patchsmith: internal_error (exit 1) [ERR_MACHINE]: No space is left on the disk (ENOSPC: no space left on device, write). Fix that, then run it again.',
    ]);
    expect([resumed.exitCode, resumed.lastLine]).toEqual([2, expect.stringContaining('There is no run')]);
  });

  test('while a command runs: named, and resumed to the whole patch', async () => {
    const repository = await repositoryOf();
    const { first, resumed } = await runOnSmallDisk({
      repository,
      turns: (disk) =>
        patient([
          edit,
          command(`echo b > b.txt; [ -e c.txt ] || ${fill(disk)}; seq 9000; echo c > c.txt`),
          done,
        ]),
      mend: empty,
    });
    expect([first.exitCode, first.lastLine]).toEqual([
      1,
      expect.stringMatching(
        /^patchsmith: internal_error \(exit 1\) \[ERR_MACHINE\]: No space is left on the disk \(ENOSPC.*\)\. Fix that, then continue with: patchsmith resume /,
      ),
    ]);
    expect(first.stderr).not.toContain('bug');
    expect([resumed.exitCode, resumed.result?.outcome], resumed.stderr).toEqual([0, 'done']);
    expect(resumed.result?.changedFiles.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c.txt']);
  });

  test('while the patch is written: publish_failed, the patch asked for elsewhere is there, and resumed', async () => {
    const repository = await repositoryOf();
    const target = join(temporaryFolder(), 'x.patch');
    const { first, resumed } = await runOnSmallDisk({
      repository,
      turns: (disk) => patient([big, command(fill(disk, 300)), done]),
      mend: empty,
      args: ['--patch', target],
    });
    expect([first.exitCode, first.result?.outcome, first.result?.patch], first.stderr).toEqual([
      11,
      'publish_failed',
      null,
    ]);
    expect(first.lastLine).toMatch(
      /The patch cannot be written.*ENOSPC.*Fix that, then continue with: patchsmith resume \//,
    );
    expect(first.stderr).not.toMatch(/^patch: /m);
    expect(existsSync(target)).toBe(true);
    expect([resumed.exitCode, resumed.result?.outcome], resumed.stderr).toEqual([0, 'done']);
    expect(resumed.patch).toContain('+++ b/big.txt');
    expect(readFileSync(target, 'utf8')).toBe(resumed.patch);
  });
});

describe('a read-only run directory', () => {
  test('from the start is refused before a token is spent', async () => {
    const repository = await repositoryOf();
    const folder = temporaryFolder();
    const wrap = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', folder, folder];
    const runDir = join(folder, 'run');
    const end = await execa(
      'bwrap',
      [
        ...wrap.slice(1),
        process.execPath,
        CLI,
        'run',
        '-m',
        'x',
        '--repo',
        repository.root,
        '--run-dir',
        runDir,
      ],
      { env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY }, extendEnv: false, reject: false },
    );
    expect([end.exitCode, end.stderr]).toEqual([
      2,
      expect.stringMatching(
        /usage_error \(exit 2\) \[ERR_RUN_DIRECTORY\]: The run directory .* cannot be created: EROFS.*XDG_STATE_HOME\.$/,
      ),
    ]);
  });

  test('from the middle of the run: named, and resumed when it can be written again', async () => {
    const repository = await repositoryOf();
    const { first, resumed } = await runOnSmallDisk({
      repository,
      turns: (disk) =>
        patient([
          edit,
          // The model calls it again in the resumed run.
          command(
            `cd '${disk}'; [ -e once ] && exit; touch once; mount --bind run run && mount -o remount,bind,ro run`,
          ),
          done,
        ]),
      mend: 'umount "$DISK/run"',
    });
    expect([first.exitCode, first.lastLine, first.result?.status], first.stderr).toEqual([
      1,
      expect.stringMatching(/The file system is read-only \(EROFS.*continue with: patchsmith resume /),
      'running',
    ]);
    expect([resumed.exitCode, resumed.patch], resumed.stderr).toEqual([0, expect.stringContaining('+new')]);
  });
});

test('a run directory that is removed is reported, with the work in the work tree', async () => {
  const { root } = await repositoryOf();
  const runDir = join(temporaryFolder(), 'run');
  const turns = [edit, command(`rm -r '${runDir}'`), done];
  await expect(scriptedRun({ repository: { root }, runDir, turns, args: off })).rejects.toThrow(
    `patchsmith: internal_error (exit 1) [ERR_RUN_DIRECTORY_GONE]: The run directory ${runDir} is gone. The changes are in the work tree.`,
  );
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n');
});

test('a full disk under the repository: the write fails, the model learns it, and no partial file is left', async () => {
  const { root } = await repositoryOf();
  const disk = temporaryFolder();
  const runDir = join(temporaryFolder(), 'run');
  const server = await startClaudeServer({ turns: [big, edit, done], apiKey: KEY });
  const line = ['--dev-bind', '/', '/', '--size', String(1024 * 1024), '--tmpfs', disk];
  const script =
    'cp -R "$ROOT" "$DISK/repo"; "$NODE" "$CLI" run -m x --repo "$DISK/repo" --run-dir "$RUN" --sandbox off; echo $?; ls -A "$DISK/repo"';
  try {
    const { stdout, stderr } = await execa('bwrap', [...line, 'sh', '-c', script], {
      env: {
        PATH: process.env.PATH,
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: server.url,
        ...{ ROOT: root, DISK: disk, NODE: process.execPath, CLI, RUN: runDir },
      },
      extendEnv: false,
    });
    expect(stdout.split('\n'), stderr).toEqual(['0', '.git', 'a.txt']);
    expect(stderr).toContain('1 file changed');
    expect(JSON.stringify(server.requests[1]?.body)).toContain('no space is left on the disk (ENOSPC)');
    expect(readFileSync(join(runDir, 'changes.patch'), 'utf8')).toContain('+new');
    expect(validEvents(readFileSync(join(runDir, 'events.jsonl'), 'utf8'))).not.toEqual([]);
  } finally {
    await server.close();
  }
});

/** Debian's and Ubuntu's package libfaketime; null where it is not installed. */
const FAKETIME =
  readdirSync('/usr/lib')
    .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
    .find(existsSync) ?? null;

describe.skipIf(FAKETIME === null)('the machine’s clock (skipped without the package libfaketime)', () => {
  test.each(sampled(['+2h', '-2h'], () => 'jump', 1))(
    'set by %s during a run changes neither its end nor how long it took',
    async (jump) => {
      const file = join(temporaryFolder(), 'time');
      writeFileSync(file, '+0\n');
      const run = await scriptedRun({
        repository: await repositoryOf(),
        turns: [edit, command(`echo '${jump}' > '${file}'`), command('echo b > b.txt'), done],
        args: [...off, '--verify', 'test -e b.txt', '--deadline', '1h'],
        env: {
          LD_PRELOAD: FAKETIME ?? '',
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          NO_FAKE_STAT: '1',
        },
      });
      expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
      const { totalMs, modelMs } = run.result.durations;
      const times = run.events.map(({ at }) => at);
      for (const ms of [totalMs, modelMs, (times.at(-1) ?? 0) - (times[0] ?? 0)]) {
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThan(3_600_000);
      }
      expect(times).toEqual([...times].sort((a, b) => a - b));
    },
  );
});

describe('a limit of open files', () => {
  const limited = (count: number) => ['sh', '-c', `ulimit -n ${count}; exec "$@"`, 'sh'];

  // With fewer than about 90, Node cannot open the modules of the command itself.
  test.each(sampled([100, 255], () => 'too few'))(
    'of %d is refused by name, in the document too',
    async (count) => {
      const { root } = await repositoryOf();
      const line = [process.execPath, CLI, 'run', '-m', 'x', '--repo', root, '--output', 'json'];
      const [program = '', ...args] = [...limited(count), ...line];
      const end = await execa(program, args, {
        env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY },
        extendEnv: false,
        reject: false,
      });
      const reason = `A process may have only ${count} files open here, and 256 are needed. Raise the limit with ulimit -n.`;
      expect([end.exitCode, end.stderr]).toEqual([
        1,
        `patchsmith: internal_error (exit 1) [ERR_FEW_DESCRIPTORS]: ${reason}`,
      ]);
      expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'internal_error', exitCode: 1, reason });
    },
  );

  test.each(sampled(['off', 'auto'], () => 'enough', 1))(
    'of 256 is enough for a turn of forty commands, sandbox %s',
    async (sandbox) => {
      const calls = Array.from({ length: 40 }, (_, n) =>
        call('run_command', { command: `echo ${n} > ${n}.txt` }),
      );
      const run = await scriptedRun({
        repository: await repositoryOf(),
        turns: [{ calls }, done],
        wrap: limited(256),
        args: ['--sandbox', sandbox],
      });
      expect([run.exitCode, run.result.changedFiles.length], run.stderr).toEqual([0, 40]);
    },
  );
});

test('an answer that would exceed memory is refused', async () => {
  const run = await scriptedRun({
    repository: await repositoryOf(),
    turns: [command('echo b > b.txt'), { ...edit, text: 'x'.repeat(24_000_000) }, done],
    env: { NODE_OPTIONS: '--max-old-space-size=48' },
    built: true,
    args: off,
  });
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([4, 'provider_error']);
  expect(run.result.reason).toContain('exceeds the limit of 4,194,304 bytes');
  expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
});

/** Puts a program in front of another, which kills itself the first time that it gets this argument. */
function killedAt(program: string, argument: string): string[] {
  const folder = temporaryFolder();
  const [front, real, once] = [join(folder, 'front'), join(folder, 'real'), join(folder, 'once')];
  writeFileSync(real, '');
  const kill = `[ -e '${once}' ] || { : > '${once}'; kill -KILL $$; }`;
  writeFileSync(front, `#!/bin/sh\ncase "$*" in *${argument}*) ${kill} ;; esac\nexec '${real}' "$@"\n`, {
    mode: 0o755,
  });
  return ['bwrap', '--dev-bind', '/', '/', '--ro-bind', program, real, '--ro-bind', front, program];
}

function outcomesOf({ events }: FinishedRun) {
  return events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
}

describe('a child that is killed', () => {
  const killed: [string, number, string, string][] = [
    ['read-tree', 11, 'publish_failed', 'The patch cannot be made: Something killed git'],
    ['diff-tree', 11, 'publish_failed', 'The patch cannot be made: Something killed git'],
    ['apply', 11, 'publish_failed', 'The patch cannot be made: Something killed git'],
    ['config', 1, 'internal_error', 'Something killed git'],
  ];

  test.each(sampled(killed, ([, , outcome]) => outcome, 1))(
    'git %s: exit %d %s, with the work kept',
    async (subcommand, exitCode, outcome, what) => {
      const repository = await repositoryOf();
      const run = await scriptedRun({
        repository,
        turns: [edit, done],
        wrap: killedAt('/usr/bin/git', subcommand),
        args: off,
      });
      expect([run.exitCode, run.result.outcome], run.stderr).toEqual([exitCode, outcome]);
      expect(run.lastLine).toContain(`${outcome} (exit ${exitCode})`);
      expect(run.lastLine).toContain(`: ${what} (git `);
      // Killed before the journal began, a run has done nothing.
      if (run.events.length === 0) return;
      const env = { ANTHROPIC_API_KEY: KEY };
      const resumed = await runCli(['resume', run.runDir, ...off], { cwd: repository.root, env });
      expect(resumed.lastLine).toContain('done (exit 0): 1 file changed');
      expect(readFileSync(join(run.runDir, 'changes.patch'), 'utf8')).toContain('+new');
    },
  );

  test('ripgrep: the model learns it, and the run continues', async () => {
    const run = await scriptedRun({
      repository: await repositoryOf(),
      turns: [edit, { calls: [call('search', { pattern: 'new', path: '.' })] }, done],
      wrap: killedAt(rgPath, '--regexp'),
      args: off,
    });
    expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
    expect(outcomesOf(run)[1]).toMatchObject({
      status: 'failed',
      reason: 'crashed',
      text: expect.stringContaining('killed with SIGKILL'),
    });
  });

  test.each([
    ['the sandbox', null, { exitCode: null, signal: 'SIGKILL' }],
    ['the init inside the sandbox', 'inside', { exitCode: 137, signal: null }],
  ] as const)(
    '%s: the command has failed, what it had changed is recorded, and the run continues',
    async (_what, where, end) => {
      const repository = await repositoryOf();
      const run = await scriptedRun({
        repository,
        turns: [command('echo b > b.txt; sleep 41'), edit, done],
        args: ['--sandbox', 'required'],
        during: async ({ pid }) => {
          const sandbox = await childWith(pid, 'sleep 41', join(repository.root, 'b.txt'));
          process.kill(where === null ? sandbox : (childrenOf(sandbox)[0] ?? sandbox), 'SIGKILL');
        },
      });
      expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
      expect(outcomesOf(run)[0]).toMatchObject({ status: 'failed', reason: 'exit_code', command: end });
      expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    },
  );
});

/** Waits for a child of a process below which these words run, and for a file that it makes. */
async function childWith(parent: number, words: string, file: string): Promise<number> {
  const found = () => childrenOf(parent).find((pid) => runs(pid, words));
  await until(`a child runs ${words}`, () => found() !== undefined && existsSync(file));
  return found() ?? 0;
}

/** The sandbox may have been there before its command: it is known by what runs in it. */
function runs(pid: number, words: string): boolean {
  const commandLine = readIfThere(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return commandLine.includes(words) || childrenOf(pid).some((child) => runs(child, words));
}

function childrenOf(pid: number): number[] {
  return (readIfThere(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []).map(Number);
}
