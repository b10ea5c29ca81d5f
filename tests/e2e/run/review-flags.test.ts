import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { call, done, scriptedRun } from '../../support/runs/scripted-run.ts';

test('what deserves a second look is in the patch, and named in the result and on stderr', async () => {
  const repository = await makeRepository({
    'AGENTS.md': 'Be brief.\n',
    'package.json': '{"scripts":{"test":"vitest"}}\n',
    'old.test.js': 'test("old", () => assert.ok(1));\n',
    'run.sh': 'echo\n',
    'moved.test.js': 'expect(1).toBe(1);\nexpect(2).toBe(2);\nexpect(3).toBe(3);\nexpect(4).toBe(4);\n',
    'fine.js': 'x\n',
  });
  const script = [
    'rm old.test.js; chmod +x run.sh; ln -s ../outside link; mkdir -p .github/workflows; echo x > .github/workflows/a.yml',
    'echo brief > AGENTS.md; sed -i s/vitest/true/ package.json; echo y > fine.js; echo x > .gitattributes',
    'mkdir -p web; mv moved.test.js web/moved.test.js; sed -i 2d web/moved.test.js',
  ].join('; ');
  const turns = [{ calls: [call('run_command', { command: script })] }, done];
  const run = await scriptedRun({ repository, turns, args: ['--quiet'] });
  expect(run.result.outcome, run.stderr).toBe('done');
  expect(run.result.flags).toEqual([
    { path: '.gitattributes', flag: 'git_attributes', detail: '' },
    { path: '.github/workflows/a.yml', flag: 'workflow', detail: '' },
    { path: 'AGENTS.md', flag: 'principles', detail: '' },
    { path: 'link', flag: 'link_outside', detail: '../outside' },
    { path: 'old.test.js', flag: 'tests_deleted', detail: '' },
    { path: 'package.json', flag: 'package_scripts', detail: 'test' },
    { path: 'run.sh', flag: 'executable_added', detail: '' },
    { path: 'web/moved.test.js', flag: 'tests_weakened', detail: 'assertions: 1 gone' },
  ]);
  expect(run.result.changedFiles).toHaveLength(9);
  expect(run.stderr).toContain(
    'warning: [WARN_SECOND_LOOK] second look: package.json (test): runs when packages are installed',
  );
});
