/** A repository of the user's that a command moves is still the user's: the run removes no git dir that it found at its start. */

import { execFileSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { command, type FinishedRun, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { holdingEvents } from '../../support/runs/valid-events.ts';
import { until } from '../../support/waiting/until.ts';

/** With a nested repository, one in an ignored folder, a linked worktree and bare repositories, each with a commit of its own. */
async function withOthers(): Promise<Repository> {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'ignored/\n' });
  const script = `
    identity="-c user.name=T -c user.email=t@example.invalid"
    for place in lib deep/in/lib ignored/lib; do
      mkdir -p $place; git init -q $place; git -C $place $identity commit -q --allow-empty -m precious
    done
    git worktree add -q side; git -C side $identity commit -q --allow-empty -m precious
    git clone -q --bare lib bare.git; git clone -q --bare lib ignored/bare.git`;
  execFileSync('sh', ['-ec', script], { cwd: repository.root, stdio: 'ignore' });
  return repository;
}

/** The last commit's subject of the repository at the place; null where there is none. */
function subjectAt(root: string, place: string): string | null {
  const args = ['-c', 'safe.bareRepository=all', 'log', '-1', '--format=%s'];
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: join(root, place, '..') };
  try {
    return execFileSync('git', args, { cwd: join(root, place), env, stdio: 'pipe' })
      .toString()
      .trim();
  } catch {
    return null;
  }
}

const run = (repository: Repository, commands: readonly string[], sandbox: string): Promise<FinishedRun> =>
  scriptedRun({
    repository,
    turns: [...commands.map(command), { text: 'Done.' }],
    args: ['--sandbox', sandbox],
  });

const MOVES: readonly [what: string, to: string, ...commands: string[]][] = [
  ['a nested repository', 'gone', 'mv lib gone'],
  ['one by two commands', 'away', 'mv lib gone', 'mv gone away'],
  ['one into an ignored folder', 'ignored/gone', 'mv lib ignored/gone'],
  ['one out of an ignored folder', 'gone', 'mv ignored/lib gone'],
  ['the folder around it', 'gone/in/lib', 'mv deep gone'],
  ['one by a copy', 'gone', 'cp -a lib gone; rm -rf lib'],
  ['one beside a new one', 'gone', 'mv lib gone; git init -q lib'],
  ['only the git folder', 'gone', 'mkdir gone; mv lib/.git gone'],
  ['a linked worktree', 'gone', 'mv side gone'],
  ['a linked worktree by a copy', 'gone', 'cp -a side gone; rm -rf side'],
  ['one into a new git folder', 'made/.git/lib', 'mkdir -p made/.git; mv lib made/.git'],
];

describe('without a sandbox, a command moves', () => {
  test.each(MOVES)('%s', async (_what, to, ...commands) => {
    const repository = await withOthers();
    const { root } = repository;
    const { runDir, stderr } = await run(repository, commands, 'off');
    expect(subjectAt(root, to), stderr).toBe('precious');
    const undone = await runCli(['undo', runDir, '--repo', root, '--force'], { cwd: root, env: {} });
    expect(subjectAt(root, to), undone.stderr).toBe('precious');
  });

  test.each([
    ['undo', ['--force']],
    ['resume', ['--sandbox', 'off']],
  ] as const)('some and is killed: %s keeps and names them', async (verb, flags) => {
    const repository = await withOthers();
    const { root } = repository;
    const moving =
      '[ -e gone ] && exit; mv lib gone; mv deep/in deep/out; mv side aside; touch ready; sleep 60';
    const ready = join(root, 'ready');
    await runKilledWhen(ready, {
      root,
      turns: [command(moving), { text: 'Done.' }],
      afterwards: async (runDir, env) => {
        const place = verb === 'undo' ? ['--repo', root] : [];
        const { stderr } = await runCli([verb, runDir, ...place, ...flags], { cwd: root, env });
        const places = ['gone', 'deep/out/lib', 'aside'];
        for (const to of places) {
          expect(subjectAt(root, to), stderr).toBe('precious');
          expect(stderr).toContain(`${to}/.git`);
        }
      },
    });
  });
});

test('one that a killed command makes is named by undo, also where the checkout has moved since', async () => {
  const { root } = await withOthers();
  await runKilledWhen(join(root, 'new/.git/HEAD'), {
    root,
    turns: [command('rm a.txt; env -i git init -q new; sleep 60'), { text: 'Done.' }],
    afterwards: async (runDir) => {
      const moved = `${root}-moved`;
      renameSync(root, moved);
      for (const flags of [[], [], ['--force']]) {
        const { lastLine } = await runCli(['undo', runDir, '--repo', moved, ...flags], { cwd: moved });
        expect(lastLine).toContain('new/.git');
      }
    },
  });
});

test('a bare repository that a command moves can be had again by undo', async () => {
  const repository = await withOthers();
  const { root } = repository;
  const { runDir, stderr } = await run(repository, ['mv bare.git gone.git'], 'required');
  expect(existsSync(join(root, 'gone.git/HEAD')), stderr).toBe(false);
  const undone = await runCli(['undo', runDir, '--repo', root], { cwd: root });
  expect(subjectAt(root, 'bare.git'), undone.stderr).toBe('precious');
});

test.each([
  ['a bare repository of which nothing is kept', 'mv ignored/bare.git gone.git', 'gone.git'],
  ['a git folder that is given another name', 'mv lib/.git lib/gone', 'lib/gone'],
])('%s stays where a command has moved it, and the run says so', async (_what, text, to) => {
  const repository = await withOthers();
  const { exitCode, stderr } = await run(repository, [text], 'off');
  expect([exitCode, subjectAt(repository.root, to)], stderr).toEqual([8, 'precious']);
  expect(stderr).toContain(
    `[WARN_NOT_PUT_BACK] ${to}/HEAD must not change and cannot be reverted: it is older than the run`,
  );
});

test('in the sandbox, no command moves one', async () => {
  const repository = await withOthers();
  const commands = MOVES.filter(([what]) => !what.startsWith('one by a copy')).flatMap(([, , ...all]) => all);
  await run(repository, commands, 'required');
  const at = ['lib', 'deep/in/lib', 'ignored/lib', 'side'].map((to) => subjectAt(repository.root, to));
  expect(at).toEqual(['precious', 'precious', 'precious', 'precious']);
});

// Folders around a covered repository are mounts of their own, so that `mv` out of one copies.
test.each<[what: string, to: string, subject: string, ...commands: string[]]>([
  ['under another name', 'gone.git', 'precious', 'mv ignored/bare.git gone.git'],
  ['by two commands', 'away.git', 'precious', 'mv ignored/bare.git gone.git', 'mv gone.git away.git'],
  [
    'as the git folder of another folder',
    'gone/.git',
    'precious',
    'mkdir gone; mv ignored/bare.git gone/.git',
  ],
  [
    'and another is made in its place',
    'gone.git',
    'precious',
    'mv ignored/bare.git gone.git; git init -q --bare ignored/bare.git',
  ],
])(
  'in the sandbox, a bare repository that is copied %s and removed is left',
  async (_what, to, subject, ...commands) => {
    const repository = await withOthers();
    const { root } = repository;
    const { exitCode, stderr, runDir } = await run(repository, commands, 'required');
    expect([exitCode, subjectAt(root, to)], stderr).toEqual([8, subject]);
    expect(stderr).toContain('"ignored/bare.git", which was there when the run began');
    const undone = await runCli(['undo', runDir, '--repo', root], { cwd: root });
    expect(subjectAt(root, to), undone.stderr).toBe(subject);
  },
);

test('what a command plants is removed where it moves a repository to another place at the same time', async () => {
  const repository = await withOthers();
  const { exitCode, stderr } = await run(
    repository,
    ['mv ignored/bare.git ignored/gone.git; git init -q new'],
    'required',
  );
  expect([exitCode, subjectAt(repository.root, 'ignored/gone.git')], stderr).toEqual([0, 'precious']);
  expect(existsSync(join(repository.root, 'new/.git'))).toBe(false);
});

/** Kills a run without a sandbox when `file` is there; `afterwards` has the model's server still. */
async function runKilledWhen(
  file: string,
  {
    root,
    turns,
    afterwards,
  }: {
    root: string;
    turns: Parameters<typeof patient>[0];
    afterwards: (runDir: string, env: Record<string, string>) => Promise<void>;
  },
): Promise<void> {
  const runDir = join(temporaryFolder(), 'run');
  const server = await startClaudeServer({ turns: patient(turns), apiKey: KEY });
  const env = { PATH: process.env.PATH ?? '', ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
  try {
    const line = [CLI, 'run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--sandbox', 'off'];
    await holdingEvents({ args: line, cwd: root, env }, async () => {
      const child = execa(process.execPath, line, { env, extendEnv: false, reject: false, stdin: 'ignore' });
      await until(`${file} is there`, () => existsSync(file));
      child.kill('SIGKILL');
      await child;
    });
    await afterwards(runDir, env);
  } finally {
    await server.close();
  }
}
