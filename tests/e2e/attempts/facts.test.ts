/** What several attempts are worth: a check that a copy's ignored files decide, and a copy that lacks files. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conversations } from '../../support/claude-server/conversations.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

test('ignored files next to which the chosen one was verified are reported, and stay behind', async () => {
  const repository = await makeRepository({ 'a.txt': 'one\n', '.gitignore': 'made/\n' });
  mkdirSync(join(repository.root, 'made'));
  writeFileSync(join(repository.root, 'made/check'), 'grep -q ONE a.txt\n');
  const faking = [
    call('run_command', { command: 'echo true > made/check' }),
    call('write_file', { path: 'b.txt', content: 'b\n' }),
  ];
  const { result, stderr } = await scriptedRun({
    repository,
    turns: conversations(
      [{ calls: faking }, { text: 'Done.' }],
      [{ calls: [call('write_file', { path: 'a.txt', content: 'ONE\n' })] }, { text: 'Done.' }],
    ),
    args: ['--attempts', '2', '--verify', 'sh made/check'],
  });
  expect(result).toMatchObject({ outcome: 'done', attempts: { chosen: 1 } });
  const said =
    '[WARN_VERIFIED_IN_COPY] The verify commands ran in the copy of attempt 1, next to changed ignored files, which stayed behind: made/check.';
  expect(result.warnings).toEqual([expect.stringContaining(said)]);
  expect(stderr).toContain(said);
});

test('there is no request if a copy would lack files of the repository', async () => {
  const repository = await makeRepository({ 'lib/a.txt': 'one\n' });
  mkdirSync(join(repository.root, 'lib/.git'));
  const { lastLine, runDir, server } = await scriptedRun({
    repository,
    turns: [],
    args: ['--attempts', '2'],
  });
  expect(lastLine).toContain('[ERR_ATTEMPT_COPY]');
  expect(lastLine).toContain('lib/a.txt. Move their .git away.');
  expect([server.requests.length, existsSync(join(runDir, 'scratch'))]).toEqual([0, false]);
});
