import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { treeOf } from '../../support/files/tree.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { scriptedRun } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

async function withSetup(setup: readonly string[], frontMatter: Record<string, unknown> = {}) {
  const repository = await makeRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(plan, `---\n${JSON.stringify({ setup, ...frontMatter })}\n---\n# Tidy up\n\nDo it.\n`);
  return { repository, run: await scriptedRun({ repository, turns: [{ text: 'Done.' }], plan }) };
}

test('setup is seen: what the run is comes first, then each command as it starts and ends', async () => {
  const { run } = await withSetup(['echo one', 'echo two'], {
    verify: ['test -f a.txt'],
    verify_baseline: true,
  });
  expect(
    run.stderr
      .replace(/after [\d.]+ s/g, 'after N s')
      .split('\n')
      .slice(0, 10),
  ).toEqual([
    expect.stringMatching(/^run \S+ in /),
    expect.stringMatching(/^patchsmith \S+ · claude-\S+ · sandbox /),
    'plan: Tidy up',
    expect.stringMatching(/^base: main @ /),
    'setup echo one …',
    'setup echo one → exit code 0 after N s',
    'setup echo two …',
    'setup echo two → exit code 0 after N s',
    'before the work: test -f a.txt …',
    'before the work: test -f a.txt → exit code 0 after N s',
  ]);
});

test('a setup command that fails shows the end of its output and where the rest is, and what it changed is undone', async () => {
  const { repository, run } = await withSetup([
    'echo changed > a.txt; rm b.txt; echo new > c.txt; seq 100; exit 3',
  ]);
  expect([run.exitCode, run.server.requests]).toEqual([2, []]);
  expect(run.lastLine).toContain(`A setup command failed, exit code 3 after`);
  expect(run.lastLine).toContain(`Its output is in ${run.runDir}/result.json.`);
  expect(run.stderr).toContain('    | 81\n');
  expect(run.stderr).not.toContain('    | 80\n');
  expect(run.stderr).toContain('because commands before the work changed them: a.txt, b.txt, c.txt.');
  expect(run.stderr).toContain(`result: ${run.runDir}/result.json`);
  const { plan, model, baseSha, baseTree, setup, outcome, changedFiles } = run.result;
  expect([plan?.title, model, outcome, changedFiles]).toEqual([
    'Tidy up',
    'claude-sonnet-5-5',
    'usage_error',
    [],
  ]);
  expect([baseSha, baseTree]).toEqual([expect.stringMatching(/^\w{40}$/), expect.stringMatching(/^\w{40}$/)]);
  expect(setup[0]?.output).toContain('\n50\n');
  expect(run.events.map(({ type }) => type)).toEqual(['run.started', 'run.stopped']);

  const again = await commandOver('resume', run.runDir);
  expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('has ended: usage_error')]);
  const undone = await commandOver('undo', run.runDir, '--repo', repository.root);
  expect([undone.exitCode, undone.stderr], undone.stderr).toEqual([
    0,
    expect.stringContaining('3 files restored'),
  ]);
  expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('a\n');
  expect([existsSync(join(repository.root, 'b.txt')), existsSync(join(repository.root, 'c.txt'))]).toEqual([
    true,
    false,
  ]);
});

async function stoppedInSetup(args: readonly string[]) {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const setup = 'echo changed >> a.txt; sleep 600';
  const changed = async ({ pid }: { pid: number }) => {
    await until(
      'setup has changed a file',
      () => readFileSync(join(repository.root, 'a.txt'), 'utf8') !== 'a\n',
    );
    if (args.length === 0) process.kill(pid, 'SIGINT');
  };
  const run = await scriptedRun({
    repository,
    turns: [{ text: 'Done.' }],
    args: ['--setup', setup, ...args],
    during: changed,
  });
  expect(run.result.reason).toContain('commands before the work changed 1 file, the model none.');
  expect(run.stderr).toContain('commands before the work changed them: a.txt.');
  const undone = await commandOver('undo', run.runDir, '--repo', repository.root);
  expect(undone.stderr).toContain('1 file restored');
  expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('a\n');
  return run;
}

test('what setup changed until a signal came is reported, and can be undone', async () => {
  const { exitCode, server } = await stoppedInSetup([]);
  expect([exitCode, server.requests]).toEqual([130, []]);
});

/** Kills it once `.env` is gone. */
async function killedInSetup(repository: Repository, runDir: string, args: string[]): Promise<void> {
  const during = async ({ pid }: { pid: number }) => {
    await until('setup has removed .env', () => !existsSync(join(repository.root, '.env')));
    process.kill(pid, 'SIGKILL');
  };
  await scriptedRun({ repository, turns: [], runDir, args, during });
}

test('what setup had overwritten when the runner was killed is recorded by resume, and undone after that', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': '.env\n' });
  for (const name of ['mine.txt', '.env', 'a.txt']) repository.write(name, `${name}: uncommitted\n`);
  const before = treeOf(repository.root);
  const runDir = join(temporaryFolder(), 'run');
  await killedInSetup(repository, runDir, [
    '--setup',
    'echo x > mine.txt; echo x > a.txt; echo > new.txt; rm .env; sleep 600',
  ]);
  const over = () => commandOver('undo', runDir, '--repo', repository.root);
  expect(await over()).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(
      /a\.txt, mine\.txt, new\.txt\. Nothing was restored.* patchsmith resume records the rest/,
    ),
  });
  expect((await commandOver('resume', runDir, '--repo', repository.root)).stderr).toContain(
    'The run died before its first request.',
  );
  expect((await over()).stderr).toContain('4 files restored');
  expect(treeOf(repository.root)).toEqual(before);
});

test('a runner that is killed in setup loses no file: undo brings back what is missing, and names what is new', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': '.env\n' });
  for (const name of ['mine.txt', '.env']) repository.write(name, `${name}\n`);
  const before = treeOf(repository.root);
  const runDir = join(temporaryFolder(), 'run');
  const args = ['--setup', 'rm mine.txt a.txt .env; sleep 600'];
  await killedInSetup(repository, runDir, args);
  repository.write('new.txt', 'new\n');
  const over = (...more: string[]) => commandOver('undo', runDir, '--repo', repository.root, ...more);
  expect(await over()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('new.txt') });
  expect((await over('--force')).stderr).toContain('3 files restored');
  expect(treeOf(repository.root)).toEqual({ ...before, 'new.txt': '644 new\n' });
});

test('no setup command runs after a failed one, nor in a fresh checkout', async () => {
  const { run } = await withSetup(['exit 3', 'echo later']);
  expect(run.result.setup.map(({ command }) => command)).toEqual(['exit 3']);
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'here\n' });
  writeFileSync(join(repository.root, 'here'), '');
  const args = ['test -f here', 'echo later'].flatMap((command) => ['--setup', command]);
  const { result } = await scriptedRun({
    repository,
    turns: [{ text: 'Done.' }],
    args: [...args, '--verify', 'test -f a.txt', '--verify-baseline', '--verify-in', 'checkout'],
  });
  expect(result.setup).toHaveLength(2);
  expect(result.verifyBaseline?.map(({ command }) => command)).toEqual(['test -f here']);
});

test('a setup command that fails and changes nothing leaves a result with the plan, the model and the base', async () => {
  const { run } = await withSetup(['echo oops >&2; false']);
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain('    | oops\n');
  const { plan, model, baseBranch, sandbox } = run.result;
  expect([plan?.title, model, baseBranch, sandbox]).toEqual([
    'Tidy up',
    'claude-sonnet-5-5',
    'main',
    expect.anything(),
  ]);
});

function commandOver(command: string, ...args: readonly string[]) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ANTHROPIC_API_KEY: 'sk-ant-test-0123456789abcdef' };
  return cliHere([command, ...args], { cwd: temporaryFolder(), env });
}
