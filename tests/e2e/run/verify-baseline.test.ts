import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { checkoutOf, runCli } from '../../support/runs/cli.ts';
import { command, done, scriptedRun } from '../../support/runs/scripted-run.ts';

describe('verify commands that run before the work', () => {
  const checks = '#!/bin/sh\ncat failures.txt; [ ! -s failures.txt ]\n';

  async function verified(
    turns: Parameters<typeof scriptedRun>[0]['turns'],
    plan = '---\nverify: ["sh check.sh", "test -f a.txt"]\nverify_baseline: true\n---\nDo it.\n',
    args: readonly string[] = [],
  ) {
    const repository = await makeRepository({
      'a.txt': 'a\n',
      'check.sh': checks,
      'failures.txt': 'FAIL old (3 ms)\n',
    });
    const file = join(temporaryFolder(), 'plan.md');
    writeFileSync(file, plan);
    return scriptedRun({ repository, turns, plan: file, args: ['--sandbox', 'off', ...args] });
  }

  test('a command that fails as before is reported as such, also to the model, and does not fail the run', async () => {
    const { result, server, stderr, exitCode, runDir } = await verified([
      command("sed -i 's/3 ms/7 ms/' failures.txt; echo b > b.txt"),
      done,
    ]);
    expect([result.outcome, exitCode], stderr).toEqual(['done', 0]);
    expect(result.reason).toBe('2 files changed, 1 verify command passed, 1 failed as before the run.');
    expect(result.verifyBaseline?.map(({ command: line, end }) => [line, end.exitCode])).toEqual([
      ['sh check.sh', 1],
      ['test -f a.txt', 0],
    ]);
    const replayed = await runCli(['replay', runDir, '--repo', checkoutOf(runDir), '--sandbox', 'off'], {
      cwd: temporaryFolder(),
    });
    expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
    expect(result.preexistingFailures).toEqual(['sh check.sh']);
    expect(result.verify.map(({ end }) => end.exitCode)).toEqual([1, 0]);
    expect(JSON.stringify(server.requests[0])).toContain(
      '- `sh check.sh` (already failed before your work: exit code 1;',
    );
    expect(JSON.stringify(server.requests[0])).toContain('- `test -f a.txt`"');
  });

  test('the model has to fix a new failure in a command that failed before', async () => {
    const { result, server } = await verified([
      command('echo "FAIL new" >> failures.txt'),
      done,
      command("sed -i '/new/d' failures.txt"),
      done,
    ]);
    expect(server.requests).toHaveLength(4);
    expect([result.outcome, result.preexistingFailures]).toEqual(['no_change', ['sh check.sh']]);
  });

  test('a command that fails and then passes on the same files is flaky, and costs no fix round', async () => {
    const flaky = 'test -e ignored || { : > ignored; echo FAIL once; exit 1; }';
    const plan = `---\nverify: ["${flaky}", "test -f a.txt"]\n---\nDo it.\n`;
    const { result, server } = await verified([command('echo b > b.txt'), done], plan);
    expect([server.requests.length, result.flaky]).toEqual([2, [flaky]]);
    expect(result.reason).toContain(`2 verify commands passed (flaky: ${flaky})`);
    expect(result.verifyRounds).toMatchObject([{ tree: result.treeSha, reports: result.verify }]);
    expect(result.verify[0]?.earlier).toMatchObject([{ end: { exitCode: 1 }, output: 'FAIL once\n' }]);
    const strict = await verified([command('echo b > b.txt'), done], plan, [
      ...['--flaky-reruns', '0', '--fix-rounds', '0'],
    ]);
    expect([strict.result.outcome, strict.result.verify.length]).toEqual(['verify_failed', 1]);
    const second = await verified([command('echo b > b.txt'), done, done], plan, ['--flaky-reruns', '0']);
    expect([second.result.outcome, second.result.verifyRounds.length]).toEqual(['done', 2]);
    expect(second.result.flaky).toEqual([flaky]);
  });

  test('a regression ends as verify_failed, and names only what is new', async () => {
    const { result } = await verified([command('rm a.txt'), done], undefined, ['--fix-rounds', '0']);
    expect([result.outcome, result.exitCode]).toEqual(['verify_failed', 9]);
    expect(result.reason).toContain('Failed: test -f a.txt;');
    expect(result.preexistingFailures).toEqual(['sh check.sh']);
  });

  test('without it nothing runs before, and every failure counts; the flag enables it, too', async () => {
    const plan = '---\nverify: ["sh check.sh"]\n---\nDo it.\n';
    const plain = await verified([command('echo b > b.txt'), done], plan, ['--fix-rounds', '0']);
    expect([plain.result.outcome, plain.result.verifyBaseline]).toEqual(['verify_failed', null]);
    const flagged = await verified([command('echo b > b.txt'), done], plan, ['--verify-baseline']);
    expect([flagged.result.outcome, flagged.result.preexistingFailures]).toEqual(['done', ['sh check.sh']]);
  });

  test('what they write stays out of the patch and is reported', async () => {
    const plan =
      '---\nverify: ["echo x > made-by-verify.txt; true && test -f a.txt"]\nverify_baseline: true\n---\nDo it.\n';
    const { result } = await verified([command('echo b > b.txt'), done], plan);
    expect(result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
    expect(result.warnings.join()).toContain('commands before the work changed them: made-by-verify.txt');
  });
});
