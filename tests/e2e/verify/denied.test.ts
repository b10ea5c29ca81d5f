import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

const DONE = { text: 'Done.' };
const write = (path: string) => call('write_file', { path, content: 'b\n' });

async function denied(args: readonly string[] = []) {
  const repository = await makeRepository({ 'a.txt': 'a\n', 'kept.txt': 'kept\n' });
  const commands = [
    call('run_command', { command: 'nmp test 2>&1 | tail -3' }),
    call('run_command', { command: 'echo x > kept.txt; touch /usr/x' }),
  ];
  const turns = [{ calls: [write('kept.txt'), write('b.txt')] }, { calls: commands }, DONE];
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
    'The run could not have what it asked for (--if-denied error): kept.txt (policy), nmp (not found), /usr/x (sandbox or file system).',
  ]);
  expect(patch).toContain('b.txt');
});

/** In a checkout that is mounted read-only, or has a folder that is. */
async function readOnly(args: readonly string[], { folder = '', paths = ['b.txt'] } = {}) {
  const { root } = await makeRepository({ 'a.txt': 'a\n', 'sub/c.txt': 'c\n' });
  const place = join(root, folder);
  const script = `mount --bind "${place}" "${place}" && mount -o remount,bind,ro "${place}" && exec "$@"`;
  const run = await scriptedRun({
    repository: { root },
    turns: [{ calls: paths.map(write) }, DONE],
    args,
    wrap: ['unshare', '--map-root-user', '--mount', 'bash', '-c', script, 'bash'],
  });
  return { root, run };
}

test('a work tree that takes nothing is seen before the model is asked', async () => {
  const { root, run } = await readOnly([]);
  expect([run.exitCode, run.server.requests], run.stderr).toEqual([2, []]);
  expect(run.result.reason).toBe(
    `Nothing can be written to the work tree ${root}: it is on a read-only file system. Make it writable, or name another checkout with --repo.`,
  );
});

test('a work tree that takes nothing is no run without changes', async () => {
  const { result, exitCode, stderr } = (await readOnly(['--preflight', 'off'])).run;
  expect([result.outcome, exitCode], stderr).toEqual(['internal_error', 1]);
  expect(result.reason).toMatch(/^No file could be written: .*\(EROFS\)\. Make the work tree writable/);
  expect(result.denied).toMatchObject([{ kind: 'sandbox', what: 'b.txt' }]);
});

test('nor is one whose every write is to a folder that takes nothing', async () => {
  const folder = 'sub';
  const { run } = await readOnly([], { folder, paths: ['sub/b.txt', 'sub/c.txt'] });
  expect([run.result.outcome, run.exitCode], run.stderr).toEqual(['internal_error', 1]);
  expect(run.result.errorCode).toBe('ERR_NO_FILE_WRITTEN');
  expect(run.result.reason).toMatch(/^No file could be written: .*sub\/b\.txt.*\(EROFS\)\. Make/);
  const other = (await readOnly([], { folder, paths: ['sub/b.txt', 'b.txt'] })).run;
  expect([other.result.outcome, other.exitCode], other.stderr).toEqual(['done', 0]);
});
