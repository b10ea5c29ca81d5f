import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';
import { liveLines } from '../../support/text/live-lines.ts';

/** Everything that a terminal or a CI runner would obey, at every place of a line. */
const EVIL = [
  '::set-output name=x::y',
  '  ::add-mask::a',
  'x\r::error::b',
  'x ##[error]c',
  '##vso[task.setvariable variable=x]d',
  '##teamcity[buildStop]',
  '\u001b[2J\u001b]0;title\u0007\u001b[31m',
  '\u009b31m\u0085::warning::e',
  '\u2028::warning::f',
  '\u202etxt.exe\u2066\u061c\u200b\u{e0041}',
  '\b\b\b\u007f',
].join('\n');

/** The same as the name of a file. */
const NAME = EVIL.replaceAll('/', '').slice(0, 120);

const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const CI = { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'push', CI: 'true' };

test('the lines of this test are live', () => {
  expect(EVIL.split('\n').filter((line) => liveLines(line).length === 0)).toEqual([]);
});

describe.each(
  sampled(
    [
      ['on a terminal', {}],
      ['in GitHub Actions', CI],
    ] as const,
    () => 'place',
    1,
  ),
)('nothing that is printed for people %s is live:', (_where, env) => {
  test('not in a run whose plan, files, model and commands are hostile, nor in what is told of it later', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n', [`keep/${NAME}`]: 'x\n', 'AGENTS.md': EVIL });
    const plan = join(temporaryFolder(), 'plan.md');
    const print = `printf %s ${shell(EVIL)}`;
    const front = {
      title: EVIL.slice(0, 300),
      setup: [`${print}; true`],
      verify: [`${print}; exit 1`],
      protect: ['keep'],
    };
    writeFileSync(plan, `---\n${JSON.stringify(front)}\n---\n${EVIL}\n`);
    const turns = [
      {
        text: EVIL,
        calls: [
          call('run_command', { command: `${print}; echo ${shell(EVIL)} > ${shell(NAME)}; rm -r keep` }),
          call('read_file', { path: `missing ${EVIL}` }),
          call('search', { pattern: `(${EVIL}` }),
          call(`no_such_tool`, { [EVIL]: EVIL }),
        ],
      },
      { calls: [call('write_file', { path: 'b.txt', content: EVIL })] },
      { calls: [call('finish', { status: 'done', summary: EVIL })] },
      { calls: [call('finish', { status: 'blocked', summary: EVIL })] },
    ];
    const options = { repository, plan, turns, env };
    const run = await scriptedRun({ ...options, args: ['--verbose', '--output', 'json'] });
    expect(run.result.outcome, run.stderr).toBe('blocked');
    expect(run.result.changedFiles).toHaveLength(2);
    expect(liveLines(run.stderr)).toEqual([]);
    expect(liveLines(run.stdout)).toEqual([]);
    expect(JSON.parse(run.stdout).reason).toContain('::set-output');

    for (const words of [['blame'], ['undo', '--repo', '/nowhere'], ['undo'], ['replay'], ['resume']]) {
      const [command = '', ...args] = words;
      const end = await runCli([command, run.runDir, ...args], {
        cwd: repository.root,
        env: { ...env, XDG_STATE_HOME: temporaryFolder() },
      });
      expect([command, liveLines(end.stderr), liveLines(end.stdout)]).toEqual([command, [], []]);
      expect(end.lastLine).toMatch(/^patchsmith: \w+ \(exit \d+\)(?: \[ERR_\w+\])?: /);
    }
  });

  test('not when the settings, the arguments or the environment are', async () => {
    const repository = await makeRepository({
      '.patchsmith.yml': JSON.stringify({ [EVIL]: EVIL, model: [EVIL] }),
    });
    mkdirSync(join(repository.root, 'sub'));
    const given = { cwd: repository.root, env: { ...env, PATCHSMITH_MAX_TOTAL_TOKENS: EVIL } };
    for (const words of [
      ['run', `--${EVIL}`],
      ['run', '-m', 'x', '--repo', EVIL],
      [EVIL],
      ['blame', EVIL],
      ['run', '--plan', EVIL],
    ]) {
      const end = await runCli(words, given);
      expect([end.exitCode, liveLines(end.stderr), liveLines(end.stdout)], end.stderr).toEqual([2, [], []]);
    }
  });

  test('not when the API is', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const fault = { kind: 'http', status: 400, type: EVIL, message: EVIL } as const;
    const run = await scriptedRun({ repository, env, turns: [{ fault }] });
    expect([run.result.outcome, liveLines(run.stderr)], run.stderr).toEqual(['provider_error', []]);
  });
});

test('a secret is not shown in half where a long line is cut', async () => {
  const secret = 'correct-horse-battery-staple';
  const repository = await makeRepository({});
  const turns = Array.from({ length: 12 }, (_, at) => ({
    calls: [call('run_command', { command: `: ${'x'.repeat(120 + 2 * at)} ${secret}` })],
  }));
  const run = await scriptedRun({
    repository,
    turns: [...turns, { text: 'Done.' }],
    env: { NPM_TOKEN: secret },
  });
  expect(run.stderr).not.toMatch(/corr/);
});
