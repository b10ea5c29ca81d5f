/** What verify commands see in the work tree and git cannot store. */

import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

test('empty folders and pipes of the run, which the patch cannot have, are named', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', 'kept/b.txt': 'b\n' });
  const run = await scriptedRun({
    repository,
    args: ['--verify', 'test -d logs && test -p kept/pipe'],
    turns: [
      { calls: [call('run_command', { command: 'mkdir logs; mkfifo kept/pipe; echo b > a.txt' })] },
      { text: 'Done.' },
    ],
  });
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
  expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
  expect([...run.result.ignoredFiles].sort()).toEqual(['kept/pipe', 'logs/']);
  expect(run.stderr).toContain('[WARN_IGNORED_CHANGES] Not in the patch, because ignore rules or git leave');
});
