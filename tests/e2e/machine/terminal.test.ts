import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { Screen } from '../../support/machine/screen.ts';
import { call, type ScriptedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

/** A command line that carries out what is added to it on a terminal, whose output goes on to `reader`. */
function onTerminal(columns: number, reader = 'cat'): string[] {
  const quote = `q=; for word; do q="$q '$word'"; done`;
  const script = `script -qefc "stty cols ${columns} rows 30; exec $q" /dev/null`;
  return ['bash', '-o', 'pipefail', '-c', `${quote}; ${script} | ${reader}`, 'bash'];
}

/** Takes long enough to be seen. */
const slow = [
  { text: 'I look first.', calls: [call('run_command', { command: 'sleep 2; echo done' })] },
  { text: 'Then I write.', gapMs: 300, calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
  { calls: [call('finish', { status: 'done', summary: 'Written.' })] },
];

const quick = slow.slice(1).map(({ text, calls }) => ({ ...(text === undefined ? {} : { text }), calls }));

async function run(given: Partial<ScriptedRun>) {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  return scriptedRun({ repository, turns: quick, built: true, env: { TERM: 'xterm-256color' }, ...given });
}

test.each([80, 160])(
  'on a terminal of %i columns current activity is shown, and at the end only what has happened',
  async (columns) => {
    const finished = await run({ turns: slow, wrap: onTerminal(columns) });
    expect(finished.exitCode, finished.stdout).toBe(0);
    expect(finished.stdout).toMatch(/\[1 of 25\] 0:\d\d of 30:00 · \$0\.\d\d · run_comm.* · 1 s of 60 s/);
    expect(finished.stdout).toMatch(/ · waiting for the model · \d s/);
    expect(finished.stdout).not.toContain('[0 of 25]');
    const screen = new Screen(columns, 30);
    await screen.show(finished.stdout);
    const lines = screen.lines();
    expect(lines.slice(3)).toEqual([
      expect.stringMatching(/^base: /),
      expect.stringMatching(/^\[1\] run_command sleep 2; echo done → exit code 0 after 2\.\d s$/),
      '[2] write_file a.txt',
      '[3] finish done',
      '  M a.txt +1 −1',
      expect.stringMatching(/^3 turns · /),
      'the model says:',
      '    | Written.',
      expect.stringMatching(/^patch: /),
      expect.stringMatching(/^result: /),
      expect.stringMatching(/^report: /),
      'patchsmith: done (exit 0): 1 file changed, nothing to verify.',
    ]);
  },
);

test.each([
  ['in CI', { CI: 'true' }, []],
  ['on a simple terminal', { TERM: 'dumb' }, []],
  ['with --quiet', {}, ['--quiet']],
])('%s a terminal gets lines alone', async (_where, env, args) => {
  const finished = await run({ wrap: onTerminal(80), args, env: { TERM: 'xterm', NO_COLOR: '1', ...env } });
  expect(finished.exitCode, finished.stdout).toBe(0);
  expect(finished.stdout).not.toContain('\u001b');
  expect(finished.stdout).toContain('patchsmith: done (exit 0)');
});

test('a document on stdout is whole, also where stdout is the same terminal', async () => {
  const finished = await run({ wrap: onTerminal(80), args: ['--output', 'json'] });
  const screen = new Screen(80, 30);
  await screen.show(finished.stdout);
  const text = screen.lines().join('\n');
  const document = JSON.parse(text.slice(text.indexOf('\n{\n'), text.indexOf('\n}\n') + 2));
  expect(document).toEqual(JSON.parse(readFileSync(join(finished.runDir, 'result.json'), 'utf8')));
});

test('a terminal that takes nothing, as after Ctrl-S, does not hold up the run', async () => {
  const read = join(temporaryFolder(), 'read');
  const text = 'I think aloud.\n'.repeat(20_000);
  const finished = await run({
    turns: [{ text, calls: slow[1]?.calls ?? [] }, { calls: slow[2]?.calls ?? [] }],
    args: ['--verbose'],
    wrap: onTerminal(80, `{ while [ ! -e ${read} ]; do sleep 0.1; done; cat; }`),
    during: async ({ runDir }) => {
      const result = () => readFileSync(join(runDir, 'result.json'), 'utf8');
      await until('the run has a result', () => {
        try {
          return JSON.parse(result()).status === 'finished';
        } catch {
          return false;
        }
      });
      writeFileSync(read, '');
    },
  });
  expect(finished.result.outcome).toBe('done');
});

test('no one reads stderr: the run continues to its end', async () => {
  const finished = await run({ wrap: ['bash', '-c', '"$@" 2> >(exit) ', 'bash'] });
  expect(finished.exitCode).toBe(0);
  expect(finished.result.outcome).toBe('done');
});
