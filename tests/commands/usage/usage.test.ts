import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notePlace } from '../../../src/adapters/storage/run-places.ts';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import type { RunAction } from '../../../src/domain/run/events.ts';
import type { RunResult } from '../../../src/domain/run/result.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';
import { started, turn } from '../../support/runs/events.ts';
import { finishedRun } from '../../support/runs/finished-run.ts';
import { sourcesHere } from '../../support/runs/from-sources.ts';

const id = (day: number) => `202601${String(day).padStart(2, '0')}-101500-3f9a2c`;
const tokens = { ...noUsage, input: 100, cacheRead: 300, output: 50 };

const SECOND = { provider: 'openai', model: 'house-model', price: null };

/** A home with a folder of runs. */
function home() {
  const state = tempFolder();
  const at = (day: number) => join(state, 'patchsmith', id(day));
  const folder = (day: number, path = at(day)) => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  // The home of whoever runs the tests may have runs, too.
  const env = { HOME: state, XDG_STATE_HOME: state };
  return {
    env,
    at,
    folder,
    result(day: number, part: Partial<RunResult> = {}, path = at(day)) {
      const run = finishedRun({ runId: id(day), tokens, costUsd: 0.25, ...part });
      writeFileSync(join(folder(day, path), 'result.json'), JSON.stringify(run));
      return path;
    },
    journal(day: number, ...events: RunAction[]) {
      const start = { ...started, provider: 'anthropic', runId: id(day), fallback: SECOND };
      const lines = [start, ...events].map((event, at) => JSON.stringify({ ...event, seq: at + 1, at: 1 }));
      writeFileSync(join(folder(day), 'events.jsonl'), `${lines.join('\n')}\n{"seq":`);
    },
    usage: async (...words: string[]) => sourcesHere(['usage', ...words], { cwd: state, env }),
    async json(...words: string[]) {
      const { stdout } = await sourcesHere(['usage', '--json', ...words], { cwd: state, env });
      return JSON.parse(stdout);
    },
  };
}

const PLAN: NonNullable<RunResult['plan']> = {
  title: '',
  sha256: '',
  source: { kind: 'message' },
  allow: [],
  protect: [],
};

const answered = turn({ usage: tokens });

test('usage sums finished runs by model, plan and day; recorded answers cost nothing', async () => {
  const { result, usage, json } = home();
  const plan = { ...PLAN, title: 'Other\u001b[31m' };
  result(1);
  result(2, { model: 'claude-opus-5-5', costUsd: 1, estimated: true, plan });
  result(4, { provider: 'replay', costUsd: 5 });
  result(5, { costUsd: 'unknown', model: 'house-model' });
  const all = await json();
  expect(all.total).toEqual({
    runs: 3,
    tokens: { ...noUsage, input: 300, cacheRead: 900, output: 150 },
    totalTokens: 1350,
    cacheShare: 0.75,
    costUsd: 1.25,
    unknownCosts: 1,
    estimated: true,
  });
  expect(all.replays).toBe(1);
  const sums = (group: string) =>
    all.by[group].map((sum: { name: string; costUsd: unknown }) => [sum.name, sum.costUsd]);
  expect(sums('model')).toEqual([
    ['house-model', 'unknown'],
    ['claude-opus-5-5', 1],
    ['claude-sonnet-5-5', 0.25],
  ]);
  expect(sums('day')).toEqual([
    ['2026-01-01', 0.25],
    ['2026-01-02', 1],
    ['2026-01-05', 'unknown'],
  ]);
  expect((await json('--since', '2026-01-02', '--by', 'day')).by).toEqual({ day: all.by.day.slice(1) });
  expect((await json('--since', '1d')).total).toMatchObject({ runs: 0, costUsd: 0 });

  const { stdout, stderr } = await usage('--by', 'plan');
  expect(stdout.split('\n')).toEqual([
    'PLAN                        RUNS  TOKENS  OUTPUT  CACHED  COST',
    'Other [31m                  1     450     50      75%     ~$1.0000',
    'Round amounts half to even  2     900     100     75%     > $0.2500',
    '',
  ]);
  expect(stderr).toBe(
    'patchsmith: done (exit 0): 3 runs: 1,350 tokens, 75% of the prompts from the cache; $1.2500 (at least: the cost of some is unknown; in part estimated); 1 replay cost nothing and is not counted.\n',
  );
});

test('a run that two models worked on counts by model for both, and once elsewhere', async () => {
  const { result, journal, json } = home();
  const [first, second] = ['claude-sonnet-5-5', SECOND.model];
  const use = { provider: 'anthropic', turns: 1, tokens, replaced: null, role: 'work' } as const;
  const models = [
    { ...use, model: first, costUsd: 0.5 },
    { ...use, model: second, costUsd: 'unknown' as const },
  ];
  const both = { ...noUsage, input: 200, cacheRead: 600, output: 100 };
  result(1, { tokens: both, costUsd: 'unknown', model: first, models });
  result(2, { model: first });
  const replaced: RunAction = {
    type: 'model.replaced',
    why: 'refusal',
    reason: 'no',
    to: SECOND,
    text: 'go on',
  };
  journal(3, answered, replaced, turn({ usage: tokens, model: second }));
  const { total, by } = await json();
  expect([total.runs, total.unknownCosts, total.tokens.input]).toEqual([3, 2, 500]);
  const sums = by.model.map(
    (sum: { name: string; runs: number; tokens: { input: number }; costUsd: unknown }) => [
      ...[sum.name, sum.runs, sum.tokens.input, sum.costUsd],
    ],
  );
  expect(sums).toEqual([
    [second, 2, 200, 'unknown'],
    [first, 3, 300, 0.75073],
  ]);
  expect(by.plan.map((sum: { runs: number }) => sum.runs).sort()).toEqual([1, 2]);
});

test('a run that is running, dead or half written counts with what its journal says, once, and the rest is named', async () => {
  const { result, journal, folder, at, env, usage, json } = home();
  const costUsd = (100 * 2 + 300 * 0.1 + 50 * 10) / 1e6;
  result(1, { status: 'running', outcome: null, tokens: noUsage, costUsd: 0 });
  journal(1, answered, answered);
  result(2, { outcome: 'internal_error', tokens: noUsage, costUsd: 'unknown' });
  journal(2, answered);
  writeFileSync(join(folder(3), 'result.json'), '{"runId":');
  journal(3, answered);
  // Before it has a journal, nothing is known of what it has asked for.
  result(4, { status: 'running', outcome: null, tokens: noUsage, costUsd: 0 });
  result(5, { tokens, costUsd: -1 });
  result(6, { tokens: { ...noUsage, input: 1e300 } });
  makePipe(join(folder(7), 'result.json'));
  result(8, { runId: id(1) });
  symlinkSync(at(1), at(9));
  writeFileSync(join(folder(10), 'result.json'), '['.repeat(1e6));
  const twice = result(1, {}, tempFolder());
  notePlace({ runId: id(1), path: twice, env, workTree: null });
  notePlace({ runId: id(12), path: tempFolder(), env, workTree: null });
  const { total, by, unread } = await json();
  expect(total).toMatchObject({ runs: 4, unknownCosts: 1, tokens: { input: 400 } });
  expect(by.day.map((sum: { name: string; costUsd: unknown }) => [sum.name, sum.costUsd])).toEqual([
    ['2026-01-01', 2 * costUsd],
    ['2026-01-02', costUsd],
    ['2026-01-03', costUsd],
    ['2026-01-04', 'unknown'],
  ]);
  expect(unread.map(({ runId, problem }: { runId: string; problem: string }) => [runId, problem])).toEqual([
    [id(10), 'result.json is not the result of a run'],
    [id(8), 'result.json is that of another run'],
    [id(7), 'result.json is not a file'],
    [id(6), 'result.json is not the result of a run'],
    [id(5), 'result.json is not the result of a run'],
  ]);
  const { stderr } = await usage();
  expect(stderr).toContain(`not counted: ${id(7)}: result.json is not a file\n`);
  expect(stderr).toContain('; 5 runs could not be read.');
});

test('mistakes are reported, and an empty home costs nothing', async () => {
  const { usage } = home();
  expect((await usage()).stderr).toBe('patchsmith: done (exit 0): 0 runs: 0 tokens; $0.0000.\n');
  for (const [words, said] of [
    [['--since', 'soon'], '--since: expected an age such as 14d'],
    [['--since', '2026-02-30'], 'or a day such as 2026-11-01'],
    [['--since', '9999-01-01'], '--since: lies in the future'],
    [['--by', 'repo'], '--by: expected one of model, plan, day'],
    [['--output', 'patch'], '--output: usage prints text'],
  ] as const)
    expect(await usage(...words)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
});
