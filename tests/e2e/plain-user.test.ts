/** What holds for whoever runs the tests holds for a user without privileges, when they are run by root. */

import { chmodSync, cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { CLI } from '../support/cli.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../support/repository.ts';
import { call, scriptedRun } from '../support/scripted-run.ts';

afterAll(removeFolders);

const NOBODY = '65534';
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** The built command where anybody may read it, and a home. */
async function placesOfNobody() {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  cpSync(dirname(CLI), join(folder, 'dist'), { recursive: true });
  const home = temporaryFolder();
  await execa('chown', [NOBODY, home]);
  return { cli: join(folder, 'dist/cli.js'), home };
}

const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;

test.runIf(process.getuid?.() === 0).each([
  ['a plain checkout', (root: string) => root, 'true'],
  ['a linked worktree', (root: string) => `${root}/side`, 'git worktree add -q side'],
])('a user without privileges gets the whole sandbox in %s', async (_name, rootOf, script) => {
  const { cli, home } = await placesOfNobody();
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  await execa('sh', ['-c', script], { cwd: root });
  await execa('chown', ['-R', NOBODY, root]);
  const { exitCode, result, stderr, events } = await scriptedRun({
    repository: { root: rootOf(root) },
    cli,
    runDir: join(home, 'run'),
    wrap: AS_NOBODY,
    args: ['--sandbox', 'required'],
    env: { PATH, HOME: home },
    turns: [
      { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] },
      {
        calls: [
          call('run_command', {
            command:
              'id -u; git log --format=%s; echo c > c.txt; node --version; touch /etc/x || cat /etc/shadow',
          }),
        ],
      },
      { text: 'Done.' },
    ],
  });
  expect([exitCode, result.outcome, result.sandbox], stderr).toEqual([0, 'done', 'namespaces+seccomp']);
  expect(result.changedFiles.map(({ path }) => path)).toEqual(['b.txt', 'c.txt']);
  const said = events
    .flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []))
    .at(-1);
  expect(said).toMatch(new RegExp(`^${NOBODY}\\nStart\\n${process.version}\\n(touch: .*\\n)(cat: .*\\n)`));
});

test.runIf(process.getuid?.() === 0)('doctor finds the tools of a user without privileges', async () => {
  const { cli, home } = await placesOfNobody();
  const [program = '', ...line] = [...AS_NOBODY, process.execPath, cli, 'doctor', '--repo', home];
  const { exitCode, stdout } = await execa(program, [...line, '--sandbox', 'required', '--output', 'json'], {
    cwd: '/',
    env: { PATH, HOME: home },
    extendEnv: false,
    reject: false,
  });
  const { level, tools } = JSON.parse(stdout);
  const states = Object.fromEntries(
    tools.map((tool: { name: string; status: string }) => [tool.name, tool.status]),
  );
  expect([exitCode, level, states.node, states.git]).toEqual([0, 'namespaces+seccomp', 'works', 'works']);
});

test.runIf(process.getuid?.() === 0)(
  'a folder that may not be entered or written to is told by name, before anything is spent',
  async () => {
    const { cli, home } = await placesOfNobody();
    const closed = temporaryFolder();
    const readable = temporaryFolder();
    chmodSync(readable, 0o755);
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    await execa('chown', ['-R', NOBODY, root]);
    const refusal = async (...args: string[]) => {
      const [program = '', ...line] = [...AS_NOBODY, process.execPath, cli, 'run', '-m', 'x', ...args];
      const { stderr } = await execa(program, line, {
        cwd: home,
        env: { PATH, HOME: home, ANTHROPIC_API_KEY: 'sk-ant-none' },
        extendEnv: false,
        reject: false,
      });
      return stderr;
    };
    const patch = join(readable, 'x.patch');
    expect([await refusal('--repo', closed), await refusal('--repo', root, '--patch', patch)]).toEqual([
      `patchsmith: usage_error (exit 2): ${closed} may not be entered. Name a checkout with --repo.`,
      `patchsmith: usage_error (exit 2): The patch cannot be written to ${patch}: the folder ${readable} may not be written to.`,
    ]);
  },
);
