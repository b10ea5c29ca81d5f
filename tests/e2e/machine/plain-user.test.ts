/** What holds for whoever runs the tests holds for a user without privileges, when they are run by root. */

import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { IS_FULL, sampled } from '../../support/setup/sample.ts';

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

const CHECKOUTS: [string, (root: string) => string, string][] = [
  ['a plain checkout', (root) => root, 'true'],
  ['a linked worktree', (root) => `${root}/side`, 'git worktree add -q side'],
];

const AMBIENT = ['--inh-caps', '+net_admin,+chown', '--ambient-caps', '+net_admin,+chown'];

test
  .runIf(process.getuid?.() === 0)
  .each([
    ...sampled(CHECKOUTS, () => 'checkout', 1).map((row) => [...row, []] as const),
    ['a container that gives capabilities', (root: string) => root, 'true', AMBIENT] as const,
  ])(
  'a user without privileges gets the whole sandbox in %s',
  async (_name, rootOf, script, capabilities) => {
    const { cli, home } = await placesOfNobody();
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    await execa('sh', ['-c', script], { cwd: root });
    await execa('chown', ['-R', NOBODY, root]);
    const { exitCode, result, stderr, events } = await scriptedRun({
      repository: { root: rootOf(root) },
      cli,
      runDir: join(home, 'run'),
      wrap: [...AS_NOBODY, ...capabilities],
      args: ['--sandbox', 'required'],
      env: { PATH, HOME: home },
      turns: [
        { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] },
        {
          calls: [
            call('run_command', {
              command:
                'grep ^CapEff /proc/self/status; id -u; git log --format=%s; echo c > c.txt; node --version; touch /etc/x || cat /etc/shadow',
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
    expect(said).toMatch(
      new RegExp(`^CapEff:\\t0+\\n${NOBODY}\\nStart\\n${process.version}\\n(touch: .*\\n)(cat: .*\\n)`),
    );
  },
);

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
      // Before it stands where the run keeps what it has.
      return stderr.split('\n').at(-1);
    };
    const patch = join(readable, 'x.patch');
    expect([await refusal('--repo', closed), await refusal('--repo', root, '--patch', patch)]).toEqual([
      `patchsmith: usage_error (exit 2) [ERR_NO_CHECKOUT]: ${closed} may not be entered. Name a checkout with --repo.`,
      `patchsmith: usage_error (exit 2) [ERR_UNWRITABLE]: The patch cannot be written to ${patch}: the folder ${readable} is not writable.`,
    ]);
  },
);

test.runIf(process.getuid?.() === 0)(
  'runs of a user without a home are kept in TMPDIR, unless somebody else has a folder of that name there',
  async () => {
    const { cli, home } = await placesOfNobody();
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const recording = join(home, 'turns.yml');
    writeFileSync(
      recording,
      '- calls: [{ name: write_file, input: { path: b.txt, content: b } }]\n- text: Done.\n',
    );
    await execa('chown', ['-R', NOBODY, root]);
    const patchsmith = async (...args: string[]) => {
      const [program = '', ...line] = [...AS_NOBODY, process.execPath, cli, ...args];
      const env = { PATH, HOME: '/nonexistent', TMPDIR: home };
      return (await execa(program, line, { cwd: root, env, extendEnv: false, reject: false })).stderr;
    };
    const run = ['run', '-m', 'x', '--provider', 'replay', '--recording', recording, '--sandbox', 'off'];
    expect(await patchsmith(...run)).toContain(`result: ${home}/patchsmith/`);
    expect(await patchsmith('undo')).toContain('done (exit 0): 1 file restored');
    await execa('chown', ['-R', '12345', join(home, 'patchsmith')]);
    expect(await patchsmith(...run)).toMatch(/\[ERR_RUN_DIRECTORY\].* \/nonexistent\/.*XDG_STATE_HOME\.$/);
  },
);

/** Commands after which the git folder of `vendor/sub` might be open, to the last of them or to the next. */
const OPENERS: readonly (readonly string[])[] = [
  ['chmod 000 vendor', 'chmod 755 vendor'],
  ['chmod 000 vendor/sub', 'chmod 755 vendor/sub'],
  ['chmod 000 vendor/sub vendor', 'chmod 755 vendor vendor/sub'],
  ['mv vendor away; mkdir -p vendor', 'rm -rf vendor; mv away vendor'],
  ['mv vendor/sub vendor/away', 'mv vendor/away vendor/sub'],
  ['mv vendor away; ln -s away vendor', 'true'],
  ['rm -rf vendor; mkdir -p vendor/sub/.git; cp -r /tmp/. vendor/sub/.git', 'true'],
];

test.runIf(IS_FULL && process.getuid?.() === 0)(
  'the git folder of a nested repository stays covered, whatever commands did to the folders around it',
  async () => {
    const { cli, home } = await placesOfNobody();
    const { root, git } = await makeRepository({ 'a.txt': 'a\n', 'vendor/b.txt': 'b\n' });
    await execa('git', ['init', '-q', join(root, 'vendor/sub')]);
    await execa(
      'git',
      ['-c', 'user.name=T', '-c', 'user.email=t@t', 'commit', '-q', '--allow-empty', '-m', 'x'],
      {
        cwd: join(root, 'vendor/sub'),
      },
    );
    await git('-c', 'advice.addEmbeddedRepo=false', 'add', 'vendor/sub');
    await git('commit', '-q', '-m', 'sub');
    await execa('chown', ['-R', NOBODY, root]);
    const config = join(root, 'vendor/sub/.git/config');
    const before = readFileSync(config, 'utf8');
    const mark = join(home, 'mark');
    const trap = `#!/bin/sh\\n: > ${mark}\\n`;
    const plant = `printf '${trap}' > trap.sh; chmod 755 trap.sh; for g in $(find . -path ./.git -prune -o -name config -print); do git config --file $g core.fsmonitor ${root}/trap.sh; done; true`;
    const { stderr } = await scriptedRun({
      repository: { root },
      cli,
      runDir: join(home, 'run'),
      wrap: AS_NOBODY,
      args: ['--sandbox', 'required'],
      env: { PATH, HOME: home },
      turns: [
        ...OPENERS.flatMap((commands) => [...commands.map((one) => `${one}; ${plant}`), plant]).map(
          (command) => ({
            calls: [call('run_command', { command })],
          }),
        ),
        { text: 'Done.' },
      ],
    });
    expect(readFileSync(config, 'utf8'), stderr).toBe(before);
    const [program = '', ...line] = [...AS_NOBODY, 'git', 'status'];
    await execa(program, line, { cwd: root, env: { PATH, HOME: home }, extendEnv: false });
    expect(existsSync(mark)).toBe(false);
  },
);
