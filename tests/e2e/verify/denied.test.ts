import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunResult } from '../../../src/library.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { resultIn } from '../../support/published.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, done, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const write = (path: string) => call('write_file', { path, content: 'b\n' });

async function denied(args: readonly string[] = []) {
  const repository = await makeRepository({ 'a.txt': 'a\n', 'kept.txt': 'kept\n' });
  const commands = [
    call('run_command', { command: 'nmp test 2>&1 | tail -3' }),
    call('run_command', { command: 'echo x > kept.txt; touch /usr/x' }),
  ];
  const turns = [{ calls: [write('kept.txt'), write('b.txt')] }, { calls: commands }, done];
  return scriptedRun({
    repository,
    turns,
    args: ['--protect', 'kept.txt', '--sandbox', 'required', ...args],
  });
}

test('what was denied is in the result, by call, and in the last line', async () => {
  const { result, exitCode, lastLine, stderr } = await denied();
  expect([result.outcome, exitCode], stderr).toEqual(['done', 0]);
  expect(result.denied.map(({ kind, what, calls }) => [kind, what, calls])).toEqual([
    ['policy', 'kept.txt', ['toolu_0_0']],
    ['policy', 'kept.txt', ['toolu_1_0', 'toolu_1_1']],
    ['missing_tool', 'nmp', ['toolu_1_0']],
    ['sandbox', '/usr/x', ['toolu_1_1']],
  ]);
  expect(result.deniedCount).toBe(4);
  expect(lastLine).toContain(
    'nothing to verify; denied: kept.txt (policy), nmp (not found), /usr/x (sandbox or file system).',
  );
});

test('with --if-denied error the run ends with exit 8, and its patch is there', async () => {
  const { result, exitCode, patch } = await denied(['--if-denied', 'error']);
  expect([result.outcome, exitCode, result.reason]).toEqual([
    'policy_violation',
    8,
    'The run was denied what it asked for (--if-denied error): kept.txt (policy), nmp (not found), /usr/x (sandbox or file system).',
  ]);
  expect(patch).toContain('b.txt');
});

test('what setup and verify commands are denied names the command', async () => {
  const setup = '! curl -sSf https://setup.example';
  const verify = 'test -f b.txt && ! curl -sSf https://verify.example; echo x > kept.txt';
  const repository = await makeRepository({ 'a.txt': 'a\n', 'kept.txt': 'kept\n' });
  const args = ['--setup', setup, '--verify', verify, '--protect', 'kept.txt', '--sandbox', 'required'];
  const { result, stderr } = await scriptedRun({
    ...{ repository, args },
    turns: [{ calls: [write('b.txt')] }, done],
  });
  const named = ({ denied }: RunResult) =>
    denied.map(({ what, calls, commands }) => [what, [...calls, ...(commands ?? [])]]);
  expect(named(result), stderr).toEqual([
    ['setup.example', [setup]],
    ['verify.example', [verify]],
    ['kept.txt', [verify]],
  ]);
  const fails = ['--setup', 'curl -sSf https://setup.example', '--sandbox', 'required'];
  const stopped = await scriptedRun({ repository, turns: [done], args: fails });
  expect([stopped.result.outcome, named(stopped.result), stopped.result.deniedCount]).toEqual([
    'usage_error',
    [['setup.example', ['curl -sSf https://setup.example']]],
    1,
  ]);
});

/** Asks the proxy for a host and hides that it is refused. */
const ASK = call('run_command', { command: 'curl -sS https://example.org | head -3; true' });
const asking = [{ calls: [write('b.txt')] }, { calls: [ASK] }, done];
const hostsIn = ({ denied, network }: RunResult) => [
  denied.map(({ kind, what, calls }) => [kind, what, calls]),
  network?.hosts.filter(({ outcome }) => outcome === 'refused').map(({ host, times }) => [host, times]),
];

test('a host that was refused to a run before it was continued stays denied', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const strict = ['--sandbox', 'required', '--if-denied', 'error'];
  const one = await scriptedRun({
    repository: { root },
    turns: asking,
    args: [...strict, '--max-iterations', '2'],
  });
  const expected = [[['network', 'example.org', ['toolu_1_0']]], [['example.org', 1]]];
  expect([one.result.outcome, hostsIn(one.result)], one.stderr).toEqual(['limit_reached', expected]);
  expect(one.events).toContainEqual(expect.objectContaining({ type: 'network.used' }));
  const server = await startClaudeServer({ turns: [done], apiKey: KEY });
  onTestFinished(() => server.close());
  const env = {
    ...{ PATH: process.env.PATH, HOME: temporaryFolder(), XDG_STATE_HOME: temporaryFolder() },
    ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
  };
  const args = ['resume', one.runDir, '--max-iterations', '9', '--output', 'json'];
  const again = await cliHere(args, { cwd: root, env });
  const result = resultIn(again.stdout);
  expect([again.exitCode, result.outcome, hostsIn(result)], again.stderr).toEqual([
    8,
    'policy_violation',
    expected,
  ]);
  const replayed = await cliHere(['replay', one.runDir], { cwd: root, env });
  expect(replayed.exitCode, replayed.stderr).toBe(0);
});

test('a write outside of the repository is denied, by an absolute path and through a link', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  symlinkSync('/tmp', join(root, 'out'));
  const mistake = join(root, 'b.txt');
  const { result, exitCode, stderr } = await scriptedRun({
    repository: { root },
    turns: [{ calls: ['/etc/hosts2', 'out/x', mistake, 'b.txt'].map(write) }, done],
    args: ['--if-denied', 'error'],
  });
  expect([exitCode, result.denied.map(({ kind, what }) => [kind, what])], stderr).toEqual([
    8,
    [
      ['policy', '/etc/hosts2'],
      ['policy', 'out/x'],
    ],
  ]);
});

/** In a checkout that is mounted read-only, or has a folder that is. */
async function readOnly(
  args: readonly string[],
  { folder = '', paths = ['b.txt'], commands = [] as readonly string[] } = {},
) {
  const { root } = await makeRepository({ 'a.txt': 'a\n', 'sub/c.txt': 'c\n' });
  const place = join(root, folder);
  const script = `mount --bind "${place}" "${place}" && mount -o remount,bind,ro "${place}" && exec "$@"`;
  const run = await scriptedRun({
    repository: { root },
    turns: [
      { calls: [...paths.map(write), ...commands.map((command) => call('run_command', { command }))] },
      done,
    ],
    args,
    wrap: ['unshare', '--map-root-user', '--mount', 'bash', '-c', script, 'bash'],
  });
  return { root, run };
}

test('a read-only work tree is noticed before a request to the model', async () => {
  const { root, run } = await readOnly([]);
  expect([run.exitCode, run.server.requests], run.stderr).toEqual([2, []]);
  expect(run.result.reason).toBe(
    `Nothing can be written to the work tree ${root}: it is on a read-only file system. Make it writable, or name another checkout with --repo.`,
  );
});

test('a run in a read-only work tree does not end as no_change', async () => {
  const { result, exitCode, stderr } = (await readOnly(['--preflight', 'off'])).run;
  expect([result.outcome, exitCode], stderr).toEqual(['internal_error', 1]);
  expect(result.reason).toMatch(/^No file could be written: .*\(EROFS\)\. Make the work tree writable/);
  expect(result.denied).toMatchObject([{ kind: 'sandbox', what: 'b.txt' }]);
});

testAtNight('nor does one whose writes all go to a read-only folder', async () => {
  const folder = 'sub';
  const { run } = await readOnly([], { folder, paths: ['sub/b.txt', 'sub/c.txt'] });
  expect([run.result.outcome, run.exitCode], run.stderr).toEqual(['internal_error', 1]);
  expect(run.result.errorCode).toBe('ERR_NO_FILE_WRITTEN');
  expect(run.result.reason).toMatch(/^No file could be written: .*sub\/b\.txt.*\(EROFS\)\. Make/);
  const other = (await readOnly([], { folder, paths: ['sub/b.txt', 'b.txt'] })).run;
  expect([other.result.outcome, other.exitCode], other.stderr).toEqual(['done', 0]);
});

testAtNight('nor does one whose commands hide that they failed', async () => {
  const commands = ['cp a.txt sub/b.txt 2>&1 | tail -3'];
  const { run } = await readOnly([], { folder: 'sub', paths: [], commands });
  expect([run.exitCode, run.result.errorCode, run.result.denied], run.stderr).toEqual([
    1,
    'ERR_NO_FILE_WRITTEN',
    [],
  ]);
});

testAtNight('nor does one where only commands would write there', async () => {
  const commands = ['echo x > sub/b.txt', 'sed -i s/c/d/ sub/c.txt; true'];
  const { run } = await readOnly([], { folder: 'sub', paths: [], commands });
  expect([run.result.outcome, run.exitCode, run.result.errorCode], run.stderr).toEqual([
    'internal_error',
    1,
    'ERR_NO_FILE_WRITTEN',
  ]);
  expect(run.result.denied).toContainEqual(expect.objectContaining({ kind: 'sandbox', what: 'sub/b.txt' }));
});
