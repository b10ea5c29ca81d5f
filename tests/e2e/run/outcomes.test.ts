import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import {
  call,
  type FinishedRun,
  KEY,
  type ScriptedRun,
  scriptedRun,
} from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';

const isResult = new Ajv2020().compile(JSON.parse(readFileSync('docs/result.schema.json', 'utf8')));

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const done = { text: 'All done.' };

async function run(part: Omit<ScriptedRun, 'repository'>): Promise<FinishedRun> {
  const repository = await makeRepository({ 'a.txt': 'old\n', 'kept.txt': 'kept\n' });
  return scriptedRun({ repository, ...part });
}

/** Exit code, result.json and the last line say the same; the result follows its schema; the key is nowhere. */
function expectOutcome(finished: FinishedRun, outcome: string, exitCode: number): void {
  const { result, lastLine, runDir } = finished;
  expect(finished.exitCode, finished.stderr).toBe(exitCode);
  expect([result.outcome, result.exitCode, result.status]).toEqual([outcome, exitCode, 'finished']);
  const code = result.errorCode === null ? '' : ` [${result.errorCode}]`;
  expect(result.errorCode === null).toBe(exitCode === 0);
  expect(lastLine).toBe(`patchsmith: ${outcome} (exit ${exitCode})${code}: ${result.reason}`);
  expect(isResult(result), JSON.stringify(isResult.errors)).toBe(true);
  const everything = ['result.json', 'events.jsonl'].map((name) => textOf(join(runDir, name)));
  expect([...everything, finished.stderr, finished.stdout].join()).not.toContain(KEY);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe('every row of the outcome table', () => {
  test('0 done: changed and verified', async () => {
    const finished = await run({ turns: [edit, done], args: ['--verify', 'grep -q new a.txt'] });
    expectOutcome(finished, 'done', 0);
    expect(finished.result.verify.map(({ command, end }) => [command, end.exitCode])).toEqual([
      ['grep -q new a.txt', 0],
    ]);
    expect(finished.result.changedFiles).toEqual([
      { path: 'a.txt', kind: 'modify', additions: 1, deletions: 1 },
    ]);
    expect(finished.patch).toContain('-old\n+new\n');
    expect(finished.result.summary).toBe('All done.');
  });

  test('0 no_change: nothing to do writes an empty patch', async () => {
    const finished = await run({ turns: [done] });
    expectOutcome(finished, 'no_change', 0);
    expect(finished.patch).toBe('');
    expect(finished.result.patch?.bytes).toBe(0);
    expect(finished.result.treeSha).toBe(finished.result.baseTree);
    expect(finished.server.requests).toHaveLength(1);
  });

  test('2 usage_error: a missing plan', async () => {
    const repository = await makeRepository({});
    const finished = await scriptedRun({
      repository,
      turns: [],
      args: ['--working-directory', '../elsewhere'],
    });
    expectOutcome(finished, 'usage_error', 2);
    expect(finished.server.requests).toHaveLength(0);
  });

  test('3 no_change where that is an error', async () => {
    expectOutcome(await run({ turns: [done], args: ['--if-no-changes', 'error'] }), 'no_change', 3);
  });

  test('4 provider_error: a key that is refused, with the work so far kept', async () => {
    const refused = { fault: { kind: 'http', status: 401 } } as const;
    const finished = await run({ turns: [edit, refused] });
    expectOutcome(finished, 'provider_error', 4);
    expect(finished.server.requests).toHaveLength(2);
    expect(finished.patch).toContain('+new');
  });

  test('5 blocked: by the model, with its reason', async () => {
    const finish = { calls: [call('finish', { status: 'blocked', summary: 'The file is gone.' })] };
    const finished = await run({ turns: [finish], args: ['--verify', 'exit 1'] });
    expectOutcome(finished, 'blocked', 5);
    expect(finished.result.reason).toContain('The file is gone.');
    expect(finished.result.verify).toEqual([]);
  });

  test('5 blocked: a refusal is not asked again', async () => {
    const finished = await run({ turns: [{ text: 'No.', stop: 'refusal' }] });
    expectOutcome(finished, 'blocked', 5);
    expect(finished.server.requests).toHaveLength(1);
  });

  testAtNight('5 blocked: the same call five times is a stall', async () => {
    const again = { calls: [call('read_file', { path: 'a.txt' })] };
    const finished = await run({ turns: [again, again, again, again, again] });
    expectOutcome(finished, 'blocked', 5);
  });

  test('7 limit_reached: iterations, with the patch so far', async () => {
    const finished = await run({ turns: [edit], args: ['--max-iterations', '1'] });
    expectOutcome(finished, 'limit_reached', 7);
    expect(finished.result.reason).toBe(
      'Reached the limit of 1 iteration (--max-iterations); the patch so far has 1 file.',
    );
    expect(finished.patch).toContain('+new');
  });

  test('7 limit_reached: caps that not even the first request fits into cost nothing', async () => {
    const finished = await run({
      turns: [],
      args: ['--max-cost-usd', '0.01', '--max-total-tokens', '5000', '--verify', 'test -f a.txt'],
    });
    expectOutcome(finished, 'limit_reached', 7);
    expect([finished.server.requests, finished.result.costUsd]).toEqual([[], 0]);
  });

  test('8 policy_violation: a protected path that a command has changed and that cannot be reverted', async () => {
    const plan = join(
      (await makeRepository({ 'plan.md': '---\nprotect: [kept.txt]\n---\nDo it.\n' })).root,
      'plan.md',
    );
    // The repository has the pointer of such a file, and nobody else has its content.
    const repository = await makeRepository({ '.gitattributes': 'kept.txt filter=lfs\n', 'a.txt': 'old\n' });
    const sha256 = createHash('sha256').update('large\n').digest('hex');
    repository.write(
      'kept.txt',
      `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize 6\n`,
    );
    await repository.git('add', '--all');
    await repository.git('commit', '--quiet', '--message', 'Pointer');
    repository.write('kept.txt', 'large\n');
    const turns = [
      { calls: [call('write_file', { path: 'kept.txt', content: 'x' })] },
      { calls: [call('run_command', { command: 'echo x > kept.txt' })] },
      done,
    ];
    const finished = await scriptedRun({ repository, turns, plan });
    expectOutcome(finished, 'policy_violation', 8);
    const outcomes = finished.events.flatMap((event) =>
      event.type === 'tool.completed' ? [event.outcome] : [],
    );
    expect(outcomes[0]).toMatchObject({ status: 'failed', reason: 'policy' });
  });

  test('9 verify_failed: after the fix rounds, with commands and output', async () => {
    const finished = await run({
      turns: [edit, done, done],
      args: ['--verify', 'echo it is red; exit 3', '--fix-rounds', '1'],
    });
    expectOutcome(finished, 'verify_failed', 9);
    expect(finished.result.verify).toMatchObject([{ end: { exitCode: 3 }, output: 'it is red\n' }]);
    expect(finished.patch).toContain('+new');
  });

  test('2 usage_error: a patch file that has no folder is found before a token is spent', async () => {
    const finished = await run({ turns: [], args: ['--patch', '/nonexistent/folder/x.patch'] });
    expectOutcome(finished, 'usage_error', 2);
    expect(finished.server.requests).toHaveLength(0);
  });

  test('11 publish_failed: a patch file that can no longer be written', async () => {
    const folder = temporaryFolder();
    const finished = await run({
      turns: [edit, { calls: [call('run_command', { command: `rm -r ${folder}` })] }, done],
      args: ['--patch', join(folder, 'x.patch'), '--sandbox', 'off'],
    });
    expectOutcome(finished, 'publish_failed', 11);
    expect(finished.patch).toContain('+new');
  });

  test('124 deadline: a command that outlives it is killed', async () => {
    const finished = await withEnoughTime(
      (limitMs) =>
        run({
          turns: [edit, { calls: [call('run_command', { command: 'echo partial; sleep 600' })] }],
          args: ['--deadline', `${limitMs / 1000}s`],
        }),
      ({ events }) => events.filter(({ type }) => type === 'tool.started').length === 2,
    );
    expectOutcome(finished, 'deadline', 124);
    expect(finished.patch).toContain('+new');
    expect(finished.lastLine).toContain(' while waiting for the command echo partial; sleep 600; ');
  });

  test('124 deadline: a model that does not answer', async () => {
    const finished = await withEnoughTime(
      (limitMs) =>
        run({
          turns: [edit, { text: 'half', fault: { kind: 'stall', afterEvents: 3 } }],
          args: ['--deadline', `${limitMs / 1000}s`],
        }),
      ({ result }) => result.estimated,
    );
    expectOutcome(finished, 'deadline', 124);
    expect(finished.lastLine).toContain(" while waiting for the model's answer; ");
    // The prompt of the answer that was cut off is billed as it was reported.
    const { tokens, costUsd } = finished.result;
    const { usage, usd } = finished.server.bill();
    expect({ ...tokens, output: usage.output }).toEqual(usage);
    expect(tokens.output).toBeGreaterThanOrEqual(usage.output);
    expect(costUsd).toBeGreaterThanOrEqual(usd ?? Number.NaN);
    expect(finished.stderr).toMatch(/ · \$\d\.\d{4} \(estimated\) · /);
  });
});

describe('a failed verification', () => {
  test('is reported to the model, which fixes it in the same conversation', async () => {
    const finished = await run({
      turns: [
        { calls: [call('finish', { status: 'done', summary: 'First try.' })] },
        edit,
        { calls: [call('finish', { status: 'done', summary: 'Mended.' })] },
      ],
      args: ['--verify', 'grep new a.txt'],
    });
    expectOutcome(finished, 'done', 0);
    expect(finished.result.summary).toBe('Mended.');
    const second = JSON.stringify(finished.server.requests[1]?.body);
    expect(second).toContain('grep new a.txt');
  });

  test('what verify commands write stays out of the patch and is named', async () => {
    const finished = await run({ turns: [edit, done], args: ['--verify', 'echo cache > cache.tmp'] });
    expectOutcome(finished, 'done', 0);
    expect(finished.result.unexplained).toEqual([{ path: 'cache.tmp', by: 'verify' }]);
    expect(finished.result.changedFiles.map((file) => file.path)).toEqual(['a.txt']);
    expect(finished.stderr).toContain('cache.tmp (verify)');
  });
});
