/** Whether the tests of a patch fail without the rest of it: `--prove-tests`. */

import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const OLD = 'exports.sum = (a, b) => a - b;\n';
const NEW = 'exports.sum = (a, b) => a + b;\n';
/** Runs every test of the checkout in one process, which takes a fraction of what Node.js' own runner does. */
const TESTS = 'cat $(find . -name "*.test.js") | node';
const testOf = (a: number, b: number, got = `require('./sum.js').sum(${a}, ${b})`) =>
  `if (${got} !== ${a + b}) { console.log('not ok 1 - sum: ' + ${got} + ' == ${a + b}'); process.exitCode = 1; }\n`;

type Files = Readonly<Record<string, string>>;

/** A run that writes these files and is verified by its tests. */
async function patched(files: Files, args: readonly string[] = [], more: Files = {}): Promise<FinishedRun> {
  const repository = await makeRepository({ 'sum.js': OLD, ...more });
  const calls = Object.entries(files).map(([path, content]) => call('write_file', { path, content }));
  const turns = [{ calls }, { text: 'Done.' }];
  const verify = args.includes('--verify') ? [] : ['--verify', TESTS];
  return scriptedRun({ repository, turns, args: [...verify, ...args] });
}

test.each(
  sampled(
    [
      [
        'worktree',
        'node --test',
        "require('node:test')('sum', () => require('node:assert').equal(require('./sum.js').sum(1, 2), 3));\n",
        'sum: -1 == 3, expected: 3, actual: -1',
      ],
      ['checkout', TESTS, testOf(1, 2), 'sum: -1 == 3'],
    ] as const,
    () => 'place',
    1,
  ),
)('tests that fail without the rest of the patch prove it (%s)', async (place, command, text, failure) => {
  const files = { 'sum.js': NEW, 'sum.test.js': text };
  const asked = ['--verify-in', place, '--verify', command];
  const { exitCode, result, runDir, stderr } = await patched(files, asked);
  const why = `Without the rest of the patch, ${command} fails (exit code 1): ${failure}.`;
  expect([exitCode, result.testProof], stderr).toEqual([
    0,
    { status: 'proven', why, tests: ['sum.test.js'], reports: [expect.objectContaining({ command })] },
  ]);
  expect(stderr).toContain(`tests proven: ${why}`);
  const shown = await runCli(['show', runDir], { cwd: runDir });
  expect(shown.stdout).toContain(
    `tests of the patch:\n  proven: Without the rest of the patch, ${command} fails`,
  );
});

const UNPROVEN: [string, Files, string[], Files, string][] = [
  [
    'tests that pass anyway',
    { 'sum.js': NEW, 'sum.test.js': testOf(0, 0) },
    [],
    {},
    'The verify commands pass on the base with only its tests',
  ],
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
    ['--verify', `${TESTS}; test -e built`, '--setup', 'false || true', '--verify-in', 'worktree'],
    { '.gitignore': 'built\n' },
    'In a fresh checkout, the verify commands fail with the whole patch too',
  ],
  [
    'a test that only waits for the rest of the patch',
    {
      'sum.js': NEW,
      'sum.test.js':
        "require('node:child_process').execSync('until grep -q + sum.js; do sleep 0.1; done');\n",
    },
    ['--verify-timeout', '2s'],
    {},
    `There, a verify command took too long: ${TESTS}.`,
  ],
  [
    'a failure that the whole patch hides behind an exit code of 0',
    { done: '', 'sum.test.js': testOf(1, 2) },
    ['--verify', `${TESTS} || test -e done`],
    {},
    'succeed with the whole patch, but their output names the same failure: sum: -1 == 3',
  ],
  [
    'what a test reads',
    {
      'sum.js': `// A comment\n${NEW}`,
      'test/sum.test.js': testOf(1, 2, "require('./test/data.json').sum"),
      'test/data.json': '{"sum":3}\n',
    },
    [],
    { 'sum.js': NEW, 'test/data.json': '{"sum":2}\n' },
    'pass on the base with only its tests',
  ],
];

/** By day one of each: what passes anyway, what fails anyway, and what does not apply. */
const endOf = (why: string) => /pass on|fail|nothing but/.exec(why)?.[0] ?? 'fail';

test.each(sampled(UNPROVEN, ([, , , , why]) => endOf(why)))(
  '%s: nothing is proven',
  async (_, files, args, more, why) => {
    const asked = [...args, '--verify-all', '--if-not-proven', 'error'];
    const { exitCode, result, stderr } = await patched(files, asked, more);
    expect(result.testProof?.why, stderr).toContain(why);
    const isInapplicable = /nothing but tests|fails in the same way/.test(why);
    expect([exitCode, result.testProof?.status]).toEqual(
      isInapplicable ? [0, 'not_applicable'] : [9, 'not_proven'],
    );
    expect(stderr.includes('[ERR_TESTS_NOT_PROVEN]')).toBe(!isInapplicable);
  },
);

test('a test under a new name is none that proves something', async () => {
  const repository = await makeRepository({
    'sum.js': NEW,
    'sum.test.js': `${testOf(1, 2)}require('./only');\n`,
    'only.js':
      "if (require('node:fs').readdirSync('.').filter((name) => name.endsWith('.test.js')).length > 1) throw new Error('twice');\n",
  });
  const command = 'mv sum.test.js total.test.js; echo "// More." >> sum.js';
  const turns = [{ calls: [call('run_command', { command })] }, { text: 'Done.' }];
  const { result } = await scriptedRun({ repository, turns, args: ['--verify', TESTS] });
  expect([result.outcome, result.testProof?.status]).toEqual(['done', 'not_proven']);
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
