import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { checkoutOf, runCli } from '../../support/runs/cli.ts';
import { call, done, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const WRITE = { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] };

/** Each fails in a part that a plain shell passes over. */
const HALF_RED = [
  'false | cat',
  'sh check.sh | tail -20',
  'false; true',
  'false\ntrue',
  '(false; true); true',
  'false && true; true',
];

async function plan(frontMatter: Record<string, unknown>, args: readonly string[] = []) {
  const repository = await makeRepository({ 'a.txt': 'a\n', 'check.sh': 'echo checked; exit 3\n' });
  const file = join(temporaryFolder(), 'plan.md');
  writeFileSync(file, `---\n${JSON.stringify(frontMatter)}\n---\nDo it.\n`);
  return scriptedRun({ repository, turns: [WRITE, done], plan: file, args });
}

describe.each(sampled(['worktree', 'checkout'] as const, () => 'place', 1))(
  'verify commands in the %s',
  (place) => {
    test('fail when any part of them fails, in a replay too', async () => {
      const flags = HALF_RED.slice(3).flatMap((command) => ['--verify', command]);
      const { result, exitCode, stderr, runDir } = await plan({ verify: HALF_RED.slice(0, 3) }, [
        ...flags,
        ...['--fix-rounds', '0', '--verify-all', '--verify-in', place],
      ]);
      expect([result.outcome, exitCode], stderr).toEqual(['verify_failed', 9]);
      expect([result.summary, stderr]).toEqual(['Done.', expect.stringMatching(/the model says\W+Done\./)]);
      expect(result.verify.map(({ command, end }) => [command, end.exitCode])).toEqual([
        ['false | cat', 1],
        ['sh check.sh | tail -20', 3],
        ['false; true', 1],
        ['false\ntrue', 1],
        ['(false; true); true', 1],
        ['false && true; true', 1],
      ]);
      const replayed = await runCli(['replay', runDir, '--repo', checkoutOf(runDir)], {
        cwd: temporaryFolder(),
      });
      expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
    });

    test('are as strict before the work', async () => {
      const { result } = await plan({ verify: ['false | cat'], verify_baseline: true }, [
        '--verify-in',
        place,
      ]);
      expect(result.verifyBaseline?.map(({ end }) => end.exitCode)).toEqual([1]);
    });
  },
);

test('a setup command that fails in part ends the run before a request to the model', async () => {
  const { result, server, lastLine } = await plan({ setup: ['sh check.sh | cat'] });
  expect([result.outcome, result.exitCode, server.requests]).toEqual(['usage_error', 2, []]);
  expect(lastLine).toContain('A setup command failed, exit code 3');
});

test.each([
  [
    { verify: ['cd .\nnpm test &'] },
    [],
    'The verify command "cd .\\nnpm test &" cannot fail: it ends with &',
  ],
  [{}, ['--verify', 'npm test & wait'], 'overlooks failures: wait without a process id always succeeds'],
  [{}, ['--verify', 'npm test & wait; true'], '" overlooks failures: wait without a process id'],
  [{ setup: ['npm ci &'] }, [], 'The setup command "npm ci &" cannot fail: it ends with &'],
])('a command that nothing waits for is a usage error: %j %j', async (frontMatter, args, why) => {
  const { result, server, lastLine } = await plan(frontMatter, args);
  expect([result.outcome, result.exitCode, server.requests]).toEqual(['usage_error', 2, []]);
  expect(lastLine).toContain(why);
});

test('commands of the model keep the shell that models are used to', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const run = { calls: [call('run_command', { command: 'false | cat; false; echo through' })] };
  const { server } = await scriptedRun({ repository, turns: [run, done] });
  expect(JSON.stringify(server.requests.at(-1))).toContain('through\\n[exit code 0]');
});
