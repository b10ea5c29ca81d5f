import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { resultIn } from '../../support/published.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { call, command, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const done = { text: 'All done.' };
const repositoryOf = () => makeRepository({ 'a.txt': 'old\n' });

/** stdout as the documents that stand on it, one a line. */
const lines = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('stdout has exactly the requested output', () => {
  test('json: the result, as in result.json', async () => {
    const run = await scriptedRun({
      repository: await repositoryOf(),
      turns: [edit, done],
      args: ['--output', 'json'],
    });
    expect(run.stdout).toBe(readFileSync(join(run.runDir, 'result.json'), 'utf8'));
  });

  test('jsonl: the journal, then the result', async () => {
    const run = await scriptedRun({
      repository: await repositoryOf(),
      turns: [edit, done],
      args: ['--output', 'jsonl'],
    });
    expect(lines(run.stdout)).toEqual([...run.events, { type: 'result', ...run.result }]);
  });

  test('patch and none: the patch as in the run directory and in --patch, and nothing', async () => {
    const target = join(temporaryFolder(), 'x.patch');
    const run = await scriptedRun({
      repository: await repositoryOf(),
      turns: [edit, done],
      args: ['--output', 'patch', '--patch', target],
    });
    expect([run.stdout, readFileSync(target, 'utf8')]).toEqual([run.patch, run.patch]);
    const none = await scriptedRun({
      repository: await repositoryOf(),
      turns: [edit, done],
      args: ['--output', 'none'],
    });
    expect(none.stdout).toBe('');
  });

  test.each(sampled(['json', 'jsonl'], () => 'output'))(
    '%s: also when the run stops before its first turn',
    async (output) => {
      const repository = await repositoryOf();
      const args = ['--output', output, '--principles', 'missing.md'];
      const run = await scriptedRun({ repository, turns: [], args });
      const { type: _, ...result } = JSON.parse(run.stdout);
      expect([run.exitCode, result]).toEqual([2, run.result]);
    },
  );

  test.each(sampled(['json', 'jsonl'], () => 'output', 1))(
    '%s: also when the flags are wrong',
    async (output) => {
      const cwd = temporaryFolder();
      const { exitCode, stdout } = await runCli(['run', '--output', output, '--efort', 'max'], { cwd });
      const { type: _, ...document } = JSON.parse(stdout);
      const result = resultIn(JSON.stringify(document));
      expect([exitCode, result]).toMatchObject([2, { outcome: 'usage_error', exitCode: 2 }]);
      expect(result.reason).toContain('--efort: there is no such flag');
    },
  );

  test('a run does not succeed if its document cannot be written', async () => {
    const repository = await repositoryOf();
    const recording = join(temporaryFolder(), 'recording.jsonl');
    writeFileSync(recording, '{"text": "Done."}');
    const runDir = join(temporaryFolder(), 'run');
    const args = ['-m', 'x', '--repo', repository.root, '--run-dir', runDir, '--output', 'json'];
    const run = await execa(
      'sh',
      [
        '-c',
        'exec "$0" "$@" > /dev/full',
        process.execPath,
        CLI,
        'run',
        ...args,
        '--provider',
        'replay',
        '--recording',
        recording,
      ],
      { reject: false, extendEnv: false, env: { PATH: process.env.PATH, HOME: process.env.HOME } },
    );
    const { outcome, exitCode, reason } = JSON.parse(readFileSync(join(runDir, 'result.json'), 'utf8'));
    expect(validEvents(readFileSync(join(runDir, 'events.jsonl'), 'utf8'))).not.toEqual([]);
    expect([outcome, exitCode, run.exitCode], run.stderr).toEqual(['internal_error', 1, 1]);
    expect(run.stderr.endsWith(`patchsmith: internal_error (exit 1) [ERR_OUTPUT_UNWRITTEN]: ${reason}`)).toBe(
      true,
    );
    expect(reason).toMatch(/^The --output json document cannot be written: .*ENOSPC/);
  });
});

describe('verbose', () => {
  test('prints the text of the model behind a mark, and quiet only the last line', async () => {
    const turns = [{ ...edit, text: 'I write it.' }, done];
    const verbose = await scriptedRun({ repository: await repositoryOf(), turns, args: ['--verbose'] });
    expect(verbose.stderr).toMatch(/^ {2}│ .*I write it\.\n/m);
    expect(verbose.stderr).toMatch(/^ {2}│ All done\.\n/m);
    const quiet = await scriptedRun({ repository: await repositoryOf(), turns, args: ['--quiet'] });
    expect(quiet.stderr).toBe(`${quiet.lastLine}\n`);
  });
});

describe('a turn of twenty-five commands', () => {
  test('is run and told, without a word of the runtime', async () => {
    const calls = Array.from({ length: 25 }, (_, index) => call('run_command', { command: `echo ${index}` }));
    const run = await scriptedRun({ repository: await repositoryOf(), turns: [{ calls }, done] });
    expect(run.exitCode, run.stderr).toBe(0);
    expect(run.stderr).not.toContain('Warning');
    expect(run.events.filter(({ type }) => type === 'tool.completed')).toHaveLength(25);
  });
});

describe('a machine that breaks', () => {
  const off = ['--sandbox', 'off', '--output', 'json'];

  testAtNight(
    'the shadow repository is gone: an internal error, with what is known in the result',
    async () => {
      const runDir = join(temporaryFolder(), 'run');
      const turns = [edit, command(`rm -rf '${runDir}/shadow.git'; echo > b`)];
      const run = await scriptedRun({ repository: await repositoryOf(), runDir, turns, args: off });
      expect(run.exitCode, run.stderr).toBe(1);
      expect(run.result).toMatchObject({
        outcome: 'internal_error',
        status: 'finished',
        iterations: 2,
        patch: null,
      });
      expect(run.lastLine).toBe(`patchsmith: internal_error (exit 1) [ERR_BUG]: ${run.result.reason}`);
      expect(run.stdout).toBe(readFileSync(join(runDir, 'result.json'), 'utf8'));
    },
  );

  test('the run directory is gone: the last line still tells', async () => {
    const runDir = join(temporaryFolder(), 'run');
    const moved = `${runDir}.moved`;
    const turns = [edit, command(`mv '${runDir}' '${moved}'`), done];
    const run = scriptedRun({ repository: await repositoryOf(), runDir, turns, args: off });
    await expect(run).rejects.toThrow(
      /^patchsmith: internal_error \(exit 1\) \[ERR_RUN_DIRECTORY_GONE\]: The run directory .* is gone\./m,
    );
  });
});

test('the key and other secrets of the environment are kept out of every file and stream, and settings are none', async () => {
  const repository = await repositoryOf();
  const secret = 'correct-horse-battery';
  const echo = command(`printf %s%s correct-horse -battery; echo; echo ${KEY}`);
  const run = await scriptedRun({
    repository,
    turns: [{ ...echo, text: `It is ${secret}.` }, { text: `Now ${secret}.` }],
    args: ['--output', 'jsonl', '--verbose'],
    env: { NPM_TOKEN: secret, PATCHSMITH_MAX_TOTAL_TOKENS: '100000000' },
  });
  expect(run.exitCode, run.stderr).toBe(0);
  const files = ['events.jsonl', 'result.json'].map((name) => readFileSync(join(run.runDir, name), 'utf8'));
  for (const written of [...files, run.stdout, run.stderr]) {
    expect(written).not.toContain(secret);
    expect(written).not.toContain(KEY);
  }
  expect(run.result.summary).toBe('Now ***.');
  expect(run.events[0]).toMatchObject({ limits: { maxTotalTokens: 100_000_000 } });
  expect(JSON.stringify(run.server.requests.at(-1)?.body)).toContain('***');
});
