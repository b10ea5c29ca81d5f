/** Whether the tests of a patch fail without the rest of it: `--prove-tests`. */

import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

const OLD = 'exports.sum = (a, b) => a - b;\n';
const NEW = 'exports.sum = (a, b) => a + b;\n';
const head = "const test = require('node:test');\nconst assert = require('node:assert');\n";
const testOf = (a: number, b: number) =>
  `${head}test('sum', () => assert.equal(require('./sum.js').sum(${a}, ${b}), ${a + b}));\n`;

/** A run that writes these files and is verified by node's own test runner. */
async function patched(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<FinishedRun> {
  const repository = await makeRepository({ 'sum.js': OLD, ...more });
  const calls = Object.entries(files).map(([path, content]) => call('write_file', { path, content }));
  const turns = [{ calls }, { text: 'Done.' }];
  return scriptedRun({ repository, turns, args: ['--verify', 'node --test', ...args], built: true });
}

test.each(['worktree', 'checkout'])(
  'tests that fail without the rest of the patch prove it (%s)',
  async (place) => {
    const files = { 'sum.js': NEW, 'sum.test.js': testOf(1, 2) };
    const { exitCode, result, stderr } = await patched(files, ['--verify-in', place]);
    expect([exitCode, result.testProof], stderr).toEqual([
      0,
      {
        status: 'proven',
        why: expect.stringMatching(
          /^Without the rest of the patch, node --test fails \(exit code 1\): sum: -1 == 3/,
        ),
        tests: ['sum.test.js'],
        reports: [expect.objectContaining({ command: 'node --test' })],
      },
    ]);
    expect(stderr).toContain('tests proven: Without the rest of the patch, node --test fails');
  },
);

test('tests that pass anyway do not, and fail the run on request', async () => {
  // 0 - 0 is 0 too.
  const files = { 'sum.js': NEW, 'sum.test.js': testOf(0, 0) };
  const { exitCode, result, lastLine } = await patched(files, ['--if-not-proven', 'error']);
  expect([exitCode, result.testProof?.status]).toEqual([9, 'not_proven']);
  expect(lastLine).toContain('[ERR_TESTS_NOT_PROVEN]: The verify commands pass on the base with only');
});

test.each([
  ['tests alone', { 'sum.test.js': testOf(0, 0) }, [], 'The patch has nothing but tests'],
  [
    'what a fresh checkout cannot run',
    { 'sum.js': NEW, 'sum.test.js': testOf(1, 2) },
    ['--verify', 'test -e built', '--setup', 'false || true', '--verify-in', 'worktree'],
    'In a fresh checkout, the verify commands fail with the whole patch too',
  ],
])('%s prove nothing', async (_, files, args, why) => {
  const ignored = { '.gitignore': 'built\n' };
  const repository = args.length > 0 ? ignored : {};
  const withBuilt = args.length > 0 ? { ...files, built: 'by hand\n' } : files;
  const { exitCode, result, stderr } = await patched(withBuilt, args, repository);
  expect([exitCode, result.testProof?.status], stderr).toEqual([0, 'not_applicable']);
  expect(result.testProof?.why).toContain(why);
});

test('what counts as a test can be named, and the proof be left out', async () => {
  const files = { 'sum.js': NEW, 'checks/sum.js': testOf(1, 2).replace('./sum', '../sum') };
  const verify = ['--verify', 'node checks/sum.js || test ! -e checks'];
  const named = await patched(files, [...verify, '--test-paths', 'checks/**']);
  expect(named.result.testProof).toMatchObject({ status: 'proven', tests: ['checks/sum.js'] });
  const [unnamed, off] = await Promise.all([
    patched(files, verify),
    patched({ 'sum.js': NEW, 'sum.test.js': testOf(1, 2) }, ['--prove-tests', 'off']),
  ]);
  expect([unnamed.result.testProof, off.result.testProof]).toEqual([null, null]);
});
