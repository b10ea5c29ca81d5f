/** Whether the tests of a patch fail without the rest of it: `--prove-tests`. */

import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
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
  const verify = args.includes('--verify') ? [] : ['--verify', 'node --test'];
  return scriptedRun({ repository, turns, args: [...verify, ...args] });
}

test.each(['worktree', 'checkout'])(
  'tests that fail without the rest of the patch prove it (%s)',
  async (place) => {
    const files = { 'sum.js': NEW, 'sum.test.js': testOf(1, 2) };
    const { exitCode, result, runDir, stderr } = await patched(files, ['--verify-in', place]);
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
    const said = 'proven: Without the rest of the patch, node --test fails';
    expect(stderr).toContain(`tests ${said}`);
    expect((await runCli(['show', runDir], { cwd: runDir })).stdout).toContain(
      `tests of the patch:\n  ${said}`,
    );
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
    ['--verify', 'node --test; test -e built', '--setup', 'false || true', '--verify-in', 'worktree'],
    { '.gitignore': 'built\n' },
    'In a fresh checkout, the verify commands fail with the whole patch too',
  ],
  [
    'a test that only waits for the rest of the patch',
    {
      'sum.js': NEW,
      'sum.test.js': "while (!require('node:fs').readFileSync('sum.js', 'utf8').includes('+'));\n",
    },
    ['--verify-timeout', '3s'],
    {},
    'There, a verify command took too long: node --test.',
  ],
  [
    'a failure that the whole patch hides behind an exit code of 0',
    { done: '', 'sum.test.js': testOf(1, 2) },
    ['--verify', 'node --test || test -e done'],
    {},
    'succeed with the whole patch, but their output names the same failure: sum: -1 == 3',
  ],
  [
    'what a test reads',
    {
      'sum.js': `// A comment\n${NEW}`,
      'test/sum.test.js': `${head}test('data', () => assert.equal(require('./data.json').sum, 3));\n`,
      'test/data.json': '{"sum":3}\n',
    },
    [],
    { 'sum.js': NEW, 'test/data.json': '{"sum":2}\n' },
    'pass on the base with only its tests',
  ],
])('%s: nothing is proven', async (_, files, args, more, why) => {
  const { exitCode, result, stderr } = await patched(files, [...args, '--verify-all'], more);
  const { status } = result.testProof ?? {};
  expect([exitCode, result.testProof?.why], stderr).toEqual([0, expect.stringContaining(why)]);
  const failing = await patched(files, [...args, '--verify-all', '--if-not-proven', 'error'], more);
  expect(failing.exitCode, failing.stderr).toBe(status === 'not_proven' ? 9 : 0);
  expect(status).toBe(/nothing but tests|fails in the same way/.test(why) ? 'not_applicable' : 'not_proven');
});

test('a test under a new name is none that proves something', async () => {
  const repository = await makeRepository({
    'sum.js': NEW,
    'sum.test.js': `${testOf(1, 2)}require('./only');\n`,
    'only.js':
      "if (require('node:fs').readdirSync('.').filter((name) => name.endsWith('.test.js')).length > 1) throw new Error('twice');\n",
  });
  const command = 'mv sum.test.js total.test.js; echo "// More." >> sum.js';
  const turns = [{ calls: [call('run_command', { command })] }, { text: 'Done.' }];
  const { result } = await scriptedRun({ repository, turns, args: ['--verify', 'node --test'] });
  expect(result.testProof?.status).toBe('not_proven');
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
