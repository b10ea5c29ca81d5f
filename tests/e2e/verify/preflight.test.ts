import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, done, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const WRITE = { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] };

async function plan(frontMatter: Record<string, unknown>, args: readonly string[] = []) {
  const repository = await makeRepository({
    'check.sh': '#!/bin/sh\neslint .\n',
    'sub/data': 'x\n',
    'sub/check': '#!/bin/sh\ntest -f ../b.txt\n',
  });
  chmodSync(join(repository.root, 'sub/check'), 0o755);
  const file = join(temporaryFolder(), 'plan.md');
  writeFileSync(file, `---\n${JSON.stringify(frontMatter)}\n---\nDo it.\n`);
  return scriptedRun({ repository, turns: [WRITE, done], plan: file, args });
}

describe.each(sampled(['required', 'off'], () => 'sandbox'))('--sandbox %s', (sandbox) => {
  test.each([
    [['nmp run lint | tail'], 'verify command "nmp run lint | tail" cannot succeed: "nmp" is not found'],
    [['cd sub && ./data'], 'cannot succeed: "./data" is not found in the sandbox, or is not executable.'],
    [
      ['cd sub && ./chekc'],
      '"./chekc" is not found in the sandbox, or is not executable. For a script that the run',
    ],
    [['npm test', 'test -f a && ('], 'The shell cannot parse the verify command "test -f a && (": '],
  ])('what cannot be run is a usage error before the model is asked: %j', async (verify, why) => {
    const { result, server, lastLine } = await plan({ verify }, ['--sandbox', sandbox]);
    expect([result.outcome, result.exitCode, server.requests]).toEqual(['usage_error', 2, []]);
    expect(lastLine).toContain(why);
  });
});

test('a program missing inside a script is noticed before the work, and is not a failure from before', async () => {
  const { result, server, lastLine } = await plan({ verify: ['sh check.sh'], verify_baseline: true });
  expect([result.outcome, result.exitCode, server.requests]).toEqual(['usage_error', 2, []]);
  expect(lastLine).toContain(
    '"sh check.sh" ended with exit code 127 before the work, so a program that it needs',
  );
  expect(lastLine).toContain('eslint: not found');
});

test('so does what cannot be executed', async () => {
  const { result, server, lastLine } = await plan({ verify: ['bash -c ./sub/data'], verify_baseline: true });
  expect([result.outcome, result.exitCode, server.requests], lastLine).toEqual(['usage_error', 2, []]);
  expect(lastLine).toContain('ended with exit code 126 before the work');
});

test.each([
  ['npm run nope', 'package.json has no script "nope".'],
  [
    'npm test',
    'package.json names packages such as left-pad, and none is installed. There is no node_modules.',
  ],
  ['cd sub && python3 -m not_there', 'python3 has no module not_there in the sandbox.'],
])('what the project lacks for %j is named before the model is asked', async (verify, why) => {
  const repository = await makeRepository({
    'package.json': '{"scripts":{"test":"node --test"},"dependencies":{"left-pad":"1"}}',
    'package-lock.json': '{}',
    'sub/a.py': '',
  });
  const { result, server, lastLine } = await scriptedRun({
    repository,
    turns: [],
    args: ['--verify', verify],
  });
  expect([result.outcome, result.exitCode, server.requests]).toEqual(['usage_error', 2, []]);
  expect(lastLine).toContain(why);
});

test('what setup commands make is looked up after them', async () => {
  const setup = [
    'mkdir tools; cp sub/check tools/check; sed -i s/../test/ tools/check; cp sub/check tools/other',
  ];
  const made = await plan({
    setup,
    verify: [
      'cd tools && ./other',
      'tools/other || true; cd sub && ./check',
      'shopt -s extglob\nls !(nothing)',
    ],
  });
  expect([made.result.outcome, made.result.exitCode], made.stderr).toEqual(['done', 0]);
  const missing = await plan({ setup, verify: ['tools/none'] });
  expect([missing.result.outcome, missing.server.requests]).toEqual(['usage_error', []]);
});

test("setup commands of the project file run before the plan's, and each of them once", async () => {
  const repository = await makeRepository({
    '.gitignore': 'log\n',
    '.patchsmith.yml': 'setup: echo project >>log\n',
  });
  const file = join(temporaryFolder(), 'plan.md');
  writeFileSync(file, '---\nsetup: |\n  echo plan >>log\n  echo project >>log\n---\nDo it.\n');
  const check = 'test "$(tr "\\n" - <log)" = project-plan-';
  const run = await scriptedRun({ repository, turns: [WRITE, done], plan: file, args: ['--verify', check] });
  expect([run.result.outcome, run.result.exitCode], run.stderr).toEqual(['done', 0]);
});

test('a resumed run looks again before it asks the model', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'tools/\n' });
  const lint = join(repository.root, 'tools/lint');
  mkdirSync(join(repository.root, 'tools'));
  writeFileSync(lint, '#!/bin/sh\n', { mode: 0o755 });
  const args = ['--verify', 'tools/lint', '--max-iterations', '1'];
  const { runDir } = await scriptedRun({ repository, turns: [WRITE], args });
  rmSync(lint);
  const server = await startClaudeServer({ turns: [done], apiKey: KEY });
  onTestFinished(() => server.close());
  const env = { PATH: process.env.PATH, HOME: temporaryFolder(), ANTHROPIC_BASE_URL: server.url };
  const resume = () =>
    cliHere(['resume', runDir, '--max-iterations', '5'], {
      cwd: repository.root,
      env: { ...env, ANTHROPIC_API_KEY: KEY },
    });
  const refused = await resume();
  expect([refused.exitCode, server.requests]).toEqual([2, []]);
  expect(refused.stderr).toContain('"tools/lint" is not found in the sandbox, or');
  writeFileSync(lint, '#!/bin/sh\n', { mode: 0o755 });
  const resumed = await resume();
  expect(resumed.exitCode, resumed.stderr).toBe(0);
});

test('what failed before the work in a long output is compared with all of it, not with what is shown', async () => {
  const many = (more: string) =>
    `for i in $(seq 3000); do echo "not ok $i - case $((i % 7)) took $((RANDOM * RANDOM % 10 ** (1 + RANDOM % 8))) ms"; [ $i != 1500 ] || ${more}; done; exit 1`;
  const asBefore = await plan({ verify: [many('true')], verify_baseline: true });
  expect([asBefore.result.outcome, asBefore.result.verify[0]?.end.exitCode]).toEqual(['done', 1]);
  expect(asBefore.result.verify[0]?.output).toContain('characters left out');
  const another = await plan(
    { verify: [many('{ [ ! -e b.txt ] || echo "not ok: another"; }')], verify_baseline: true },
    ['--fix-rounds', '0'],
  );
  expect(another.result.outcome).toBe('verify_failed');
});
