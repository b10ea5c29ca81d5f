import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const write = (path: string, content: string) => call('write_file', { path, content });

test('the patch follows the rules that the run leaves, and names what they hide and show', async () => {
  const repository = await makeRepository({
    '.gitignore': '*.js\n.env\nout/\nbuild/\n',
    'a.txt': 'a\n',
    'lib/b.txt': 'b\n',
  });
  writeFileSync(join(repository.root, '.env'), 'TOKEN=1\n');
  writeFileSync(join(repository.root, 'theirs.js'), 'x\n');
  const run = await scriptedRun({
    repository,
    turns: [
      {
        calls: [
          call('run_command', {
            command: 'echo 1 > early.js; echo x > late.tmp; mkdir out; echo x > out/x; mv lib build',
          }),
        ],
      },
      { calls: [write('.gitignore', 'out/\n*.tmp\n'), write('keep.js', 'x\n')] },
      { calls: [call('list_files', { path: '.' })] },
      { text: 'Done.' },
    ],
  });
  expect(run.lastLine).toBe('patchsmith: done (exit 0): 4 files changed, nothing to verify.');
  const { changedFiles, hiddenFiles, exposedFiles, warnings } = run.result;
  expect(changedFiles.map(({ path }) => path)).toEqual(['.gitignore', 'build/b.txt', 'early.js', 'keep.js']);
  expect([hiddenFiles, exposedFiles]).toEqual([['late.tmp'], ['.env', 'theirs.js']]);
  expect(warnings.join('\n')).toContain(
    '[WARN_HIDDEN_SINCE] Made by the run, and since hidden by ignore rules: late.tmp.',
  );
  expect(warnings.join('\n')).toContain(
    '[WARN_NO_LONGER_IGNORED] No longer ignored, and not in the patch, because the run did not change them: .env, theirs.js.',
  );
  const listed = run.events.flatMap((event) =>
    event.type === 'tool.completed' && event.outcome.text.includes('a.txt') ? [event.outcome.text] : [],
  );
  expect(listed).toEqual([expect.stringMatching(/^(?![\s\S]*late\.tmp)[\s\S]*early\.js/)]);
  // The call that brought a file into view is named: nothing says which command wrote it.
  const early = run.result.provenance?.files.find(({ path }) => path === 'early.js');
  expect(early?.sources).toMatchObject([{ by: 'tool', tool: 'write_file', iteration: 2 }]);

  const undone = await runCli(['undo', run.runDir], { cwd: repository.root });
  expect(undone.exitCode, undone.stderr).toBe(0);
  expect((await execa('git', ['status', '--porcelain'], { cwd: repository.root })).stdout).toBe('');
  expect(readFileSync(join(repository.root, '.env'), 'utf8')).toBe('TOKEN=1\n');
});
