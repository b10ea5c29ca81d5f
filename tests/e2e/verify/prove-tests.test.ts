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

type Files = Readonly<Record<string, string>>;

/** A run that writes these files and is verified by node's own test runner. */
async function patched(files: Files, args: readonly string[] = [], more: Files = {}): Promise<FinishedRun> {
  const repository = await makeRepository({ 'sum.js': OLD, ...more });
  const calls = Object.entries(files).map(([path, content]) => call('write_file', { path, content }));
  const turns = [{ calls }, { text: 'Done.' }];
  return scriptedRun({ repository, turns, args: ['--verify', 'node --test', ...args] });
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
  const files = { 'sum.js': NEW, 'sum.test.js': testOf(0, 0) };
  const { exitCode, result, lastLine } = await patched(files, ['--if-not-proven', 'error']);
  expect([exitCode, result.testProof?.status]).toEqual([9, 'not_proven']);
  expect(lastLine).toContain('[ERR_TESTS_NOT_PROVEN]: The verify commands pass on the base with only');
});

test.each<[string, Files, string[], Files, string]>([
  ['tests alone', { 'sum.test.js': testOf(0, 0) }, [], {}, 'The patch has nothing but tests'],
  [
    'a failure that the base has without them',
    { 'sum.js': NEW, 'more.test.js': testOf(0, 0) },
    [],
    { 'sum.test.js': testOf(1, 2) },
    'The base fails in the same way without the tests',
  ],
  [
    'what a fresh checkout cannot run',
    { 'sum.js': NEW, 'sum.test.js': testOf(1, 2), built: 'by hand\n' },
    ['--verify', 'test -e built', '--setup', 'false || true', '--verify-in', 'worktree'],
    { '.gitignore': 'built\n' },
    'In a fresh checkout, the verify commands fail with the whole patch too',
  ],
])('%s: nothing is proven', async (_, files, args, more, why) => {
  const { exitCode, result, stderr } = await patched(files, args, more);
  expect([exitCode, result.testProof?.status], stderr).toEqual([0, 'not_applicable']);
  expect(result.testProof?.why).toContain(why);
});

test('what counts as a test can be named, and the proof be left out', async () => {
  const files = { 'sum.js': NEW, 'checks/sum.js': testOf(1, 2).replace('./sum', '../sum') };
  const verify = ['--verify', 'node checks/sum.js || test ! -e checks'];
  const named = await patched(files, [...verify, '--test-paths', 'checks/**']);
  expect(named.result.testProof).toMatchObject({ status: 'proven', tests: ['checks/sum.js'] });
  const unnamed = await patched(files, [...verify, '--prove-tests', 'auto']);
  const off = await patched(files, [...verify, '--test-paths', 'checks/**', '--prove-tests', 'off']);
  expect([unnamed.result.testProof, off.result.testProof]).toEqual([null, null]);
});
