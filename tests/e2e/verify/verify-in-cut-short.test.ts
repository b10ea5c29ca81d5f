/** A verification in a fresh checkout that does not come to its end: nothing of it runs on, and nothing of it stays. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { isRunning, killIfThere, oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { resultOf } from '../../support/published.ts';
import { isRoot, runAsNobody } from '../../support/runs/as-nobody.ts';
import { CLI } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';
import { until } from '../../support/waiting/until.ts';

const TURNS = [{ calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] }, { text: 'Done.' }];
const FILES = { 'a.txt': 'old\n', '.gitignore': 'made/\n' };

/** What may pass after the deadline until a run is over. A machine that is busy with other things is tried again. */
const MOST_OVER_MS = 5_000;

/** A verify command that first leaves a file behind, and then a program that does not listen. */
const stuck = (seconds: string) =>
  `mkdir made; echo x > made/by-verify; trap '' TERM; (setsid sleep ${seconds} &); sleep ${seconds}`;

const inCheckout = (sandbox: string, seconds: string) => [
  ...['--sandbox', sandbox, '--verify-in', 'checkout'],
  ...['--verify', 'grep -q new a.txt', '--verify', stuck(seconds)],
];

/** What a verification could leave. */
function leftOf(runDir: string, root: string, seconds: string) {
  return {
    scratch: readdirSync(runDir).filter((name) => name === 'scratch'),
    processes: processesWith(seconds).length,
    made: existsSync(join(root, 'made')),
    file: readFileSync(join(root, 'a.txt'), 'utf8'),
  };
}

const NOTHING = { scratch: [], processes: 0, made: false, file: 'new\n' };

test.each(['required', 'off'])('SIGTERM during it ends the run, --sandbox %s', async (sandbox) => {
  const seconds = oddSeconds();
  const repository = await makeRepository(FILES);
  const ended = await scriptedRun({
    repository,
    turns: TURNS,
    args: inCheckout(sandbox, seconds),
    during: async ({ pid }) => {
      await until('the verify command runs', () => isRunning(seconds));
      process.kill(pid, 'SIGTERM');
    },
  });
  expect([ended.exitCode, ended.result.outcome], ended.stderr).toEqual([143, 'interrupted']);
  expect(leftOf(ended.runDir, repository.root, seconds)).toEqual(NOTHING);
  expect(ended.patch).toContain('+new');
});

test.each(['required', 'off'])(
  'a run that was killed in it verifies again in a new one, --sandbox %s',
  async (sandbox) => {
    const seconds = oddSeconds();
    const { root } = await makeRepository(FILES);
    const runDir = join(temporaryFolder(), 'run');
    const server = await startClaudeServer({ turns: patient(TURNS), apiKey: KEY });
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
    const start = (...args: string[]) =>
      execa(process.execPath, [CLI, ...args, '--sandbox', sandbox], {
        ...{ env, extendEnv: false, cwd: root, reject: false, stdin: 'ignore' },
      });
    try {
      const verify = `test ! -e made && mkdir made && { sleep ${seconds} || grep -q new a.txt; }`;
      const where = ['--repo', root, '--run-dir', runDir, '--verify-in', 'checkout'];
      const first = start('run', '-m', 'Do it', ...where, '--verify', verify);
      await until('the verify command runs', () => isRunning(seconds));
      first.kill('SIGKILL');
      await first;
      const left = processesWith(`\0${seconds}\0`);
      const second = start('resume', runDir);
      const isNew = (pid: number) => !left.includes(pid);
      const running = () => processesWith(`\0${seconds}\0`).filter(isNew);
      await until('it runs again', () => running().length > 0);
      // One of a runner that is gone would still hold its fresh checkout.
      await until('what the first runner has left is gone', () =>
        processesWith(`\0${seconds}\0`).every(isNew),
      );
      for (const pid of running()) killIfThere(pid);
      const { exitCode, stderr } = await second;
      const result = resultOf(runDir);
      expect([exitCode, result.outcome, result.verify.length], stderr).toEqual([0, 'done', 1]);
      expect(validEvents(readFileSync(join(runDir, 'events.jsonl'), 'utf8'))).not.toEqual([]);
      expect(leftOf(runDir, root, seconds)).toEqual(NOTHING);
    } finally {
      await server.close();
    }
  },
);

/** Closes folders around files, also such as are tracked, in the fresh checkout. */
const CLOSE = 'mkdir -p made/deep; echo x > made/deep/file; chmod 000 made/deep made; chmod 500 src';

describe.each(['required', 'off'])('folders that verify commands close, --sandbox %s', (sandbox) => {
  const files = { ...FILES, 'src/b.txt': 'b\n' };

  test.runIf(isRoot)('are removed with the checkout of a plain user, who owns its files', async () => {
    const repository = await makeRepository(files);
    const ended = await runAsNobody(repository, {
      turns: TURNS,
      args: [
        ...['--sandbox', sandbox, '--verify-in', 'checkout'],
        ...['--verify', 'test -O a.txt && test -O src/b.txt && test -O . && grep -q new a.txt'],
        ...['--verify', CLOSE],
      ],
    });
    expect([ended.exitCode, ended.result.verify.length], ended.stderr).toEqual([0, 2]);
    expect(readdirSync(ended.runDir)).not.toContain('scratch');
    expect(existsSync(join(repository.root, 'made'))).toBe(false);
  });

  test.runIf(isRoot)('go with it at the deadline as well, within five seconds', async () => {
    const { ended, root, seconds, overMs } = await withEnoughTime(
      async (limitMs) => {
        const seconds = oddSeconds();
        const repository = await makeRepository(files);
        let begun = false;
        const ended = await runAsNobody(repository, {
          turns: TURNS,
          args: [
            ...['--sandbox', sandbox, '--verify-in', 'checkout', '--deadline', `${limitMs / 1000}s`],
            ...['--verify', `${CLOSE}; trap '' TERM; (setsid sleep ${seconds} &); sleep ${seconds}`],
          ],
          during: ({ pid }) =>
            until('the verify command runs, or the run is over', () => {
              begun ||= isRunning(seconds);
              return begun || !existsSync(`/proc/${pid}`);
            }),
        });
        const overMs = ended.result.durations.totalMs - limitMs;
        return { ended, root: repository.root, seconds, begun, overMs };
      },
      ({ begun, overMs }) => begun && overMs < MOST_OVER_MS,
    );
    expect([ended.exitCode, ended.result.outcome], ended.stderr).toEqual([124, 'deadline']);
    expect(leftOf(ended.runDir, root, seconds)).toEqual(NOTHING);
    expect(overMs).toBeLessThan(MOST_OVER_MS);
  });
});

test('a deadline at any point leaves no checkout behind', async () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`many/${i}`, `${i}\n`]));
  const seconds = oddSeconds();
  const { ended, overMs } = await withEnoughTime(
    async (limitMs) => {
      const ended = await scriptedRun({
        repository: await makeRepository({ ...FILES, ...many }),
        turns: TURNS,
        args: [...inCheckout('required', seconds), '--deadline', `${limitMs / 1000}s`],
      });
      return { ended, overMs: ended.result.durations.totalMs - limitMs };
    },
    ({ overMs }) => overMs < MOST_OVER_MS,
  );
  expect([ended.exitCode, ended.result.outcome], ended.stderr).toEqual([124, 'deadline']);
  expect(overMs).toBeLessThan(MOST_OVER_MS);
  expect(readdirSync(ended.runDir)).not.toContain('scratch');
  expect(processesWith(seconds)).toEqual([]);
});
