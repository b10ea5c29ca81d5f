/** `--attempts N`: several runs of one plan on copies of the work tree, of which the best by facts is kept. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { conversations } from '../../support/claude-server/conversations.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { totalTokens } from '../../support/claude-server/usage.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { until } from '../../support/waiting/until.ts';

const FILES = { 'a.txt': 'one\ntwo\nthree\n', '.gitignore': 'made/\n' };
const wrote = (content: string) => [
  { calls: [call('write_file', { path: 'a.txt', content })] },
  { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
];

const ENV = { PATH: process.env.PATH, HOME: process.env.HOME, ANTHROPIC_API_KEY: KEY };

const three = () => conversations(wrote('ONE\nTWO\nTHREE\n'), wrote('nothing\n'), wrote('ONE\ntwo\nthree\n'));
const CHECKED = ['--attempts', '3', '--verify', 'grep -q ONE a.txt', '--fix-rounds', '0'];
const textOf = (root: string) => readFileSync(join(root, 'a.txt'), 'utf8');

test('the smallest of the changes that pass is in the work tree, as if it had been the only run', async () => {
  const repository = await makeRepository(FILES);
  writeFileSync(join(repository.root, 'b.txt'), 'not committed\n');
  execFileSync('git', ['init', '-q', join(repository.root, 'made/other')]);
  const script = three();
  let isFull = true;
  const run = await scriptedRun({
    repository,
    turns: (request) => {
      if (!isFull || (request.messages as unknown[]).length === 1) return script(request);
      isFull = false;
      return { fault: { kind: 'http', status: 529 } };
    },
    args: [...CHECKED, '--setup', 'test -f b.txt && mkdir -p made && touch made/x', '--output', 'jsonl'],
  });
  const { result, runDir, server } = run;
  expect(validEvents(run.stdout).at(-1)?.type).toBe('result');
  expect({ exitCode: run.exitCode, text: textOf(repository.root) }).toEqual({
    exitCode: 0,
    text: 'ONE\ntwo\nthree\n',
  });
  expect(existsSync(join(repository.root, 'made/x'))).toBe(true);
  expect(result).toMatchObject({
    outcome: 'done',
    baseDirty: true,
    changedFiles: [{ path: 'a.txt', additions: 1, deletions: 1 }],
    provenance: { files: [{ path: 'a.txt', sources: [{ by: 'tool', tool: 'write_file' }] }] },
    patch: { path: join(runDir, 'changes.patch') },
    verify: [{ command: 'grep -q ONE a.txt', end: { exitCode: 0 } }],
    ignoredFiles: [],
    warnings: [
      '[WARN_REPOSITORIES_NOT_COPIED] Other repositories and submodules are empty folders in the copies: made/other.',
      expect.stringContaining(`after ${join(runDir, 'uncommitted.patch')}`),
    ],
  });
  expect(run.patch).toContain('+ONE\n two');
  expect(run.stderr).not.toContain('HEAD_MOVED');
  const other = (number: number) => join(runDir, 'attempts', String(number));
  expect(result.attempts).toMatchObject({
    asked: 3,
    list: [{ number: 1, outcome: expect.any(String) }, {}, {}],
  });
  const { chosen, why, list = [] } = result.attempts ?? {};
  expect(why).toBe('2 of 3 ended as done, then 1 of 2 made the smallest change (2 lines in 1 file)');
  expect(list.map(({ number, path }) => [number, path])).toEqual(
    [1, 2, 3].map((at) => [at, at === chosen ? runDir : other(at)]),
  );
  expect(list.map(({ outcome, lines }) => `${outcome} ${lines}`).sort()).toEqual([
    'done 2',
    'done 6',
    'verify_failed 4',
  ]);
  // The bill is that of all, and all have read the prompt that the first one wrote to the cache.
  expect(result.costUsd).toBeCloseTo(server.bill().usd ?? -1, 9);
  expect(result.tokens).toEqual(server.bill().usage);
  expect(server.requests.filter(({ usage }) => usage?.cacheRead === 0)).toHaveLength(1);
  const [opening] = server.requests;
  expect(opening?.bytes).toContain('Tracked: 2 files. .gitignore, a.txt.');
  expect(server.requests.filter(({ bytes }) => bytes === opening?.bytes)).toHaveLength(3);
  // Those that were not chosen are whole runs; of the copies nothing is left.
  expect(readdirSync(join(runDir, 'attempts')).sort()).toEqual(
    [1, 2, 3].filter((at) => at !== chosen).map(String),
  );
  for (const { number, path } of list)
    if (number !== chosen) expect(readdirSync(path)).toContain('changes.patch');
  expect(existsSync(join(runDir, 'scratch'))).toBe(false);
  // Events say whose they are, and the last line is the result.
  const lines = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(lines.map(({ ofAttempt }) => ofAttempt))).toEqual(new Set([1, 2, 3, undefined]));
  const retried = lines.filter(({ type }) => type === 'turn.retried');
  expect(retried).toMatchObject([{ ofAttempt: expect.any(Number), attempt: 2, status: 529 }]);
  expect(lines.at(-1)).toMatchObject({ type: 'result', outcome: 'done' });

  const here = (...words: string[]) => cliHere(words, { cwd: repository.root, env: ENV });
  const shown = (await here('show', runDir)).stdout;
  expect(shown).toContain(`\n  * ${chosen}  done  2 lines in 1 file  ${runDir}\n`);
  expect(shown).toContain(`\n  chosen: ${why}\n`);
  expect((await here('blame', runDir, 'a.txt')).stdout).toContain('write_file');
  expect((await here('resume', runDir)).stderr).toContain('has ended: done');
  const replayed = await here(
    'replay',
    runDir,
    '--repo',
    repository.root,
    '--run-dir',
    join(temporaryFolder(), 'replay'),
  );
  expect(replayed.stderr).toContain('done (exit 0)');
  expect((await here('undo', runDir)).exitCode).toBe(0);
  expect(textOf(repository.root)).toBe('one\ntwo\nthree\n');
  // Another one can be taken in its place.
  const [passed] = list.filter(({ number, outcome }) => number !== chosen && outcome === 'done');
  execFileSync('git', ['apply', join(passed?.path ?? '', 'changes.patch')], { cwd: repository.root });
  expect(textOf(repository.root)).toBe('ONE\nTWO\nTHREE\n');
});

test('they work at the same time, on copies that share their objects', async () => {
  const repository = await makeRepository(FILES);
  const runDir = join(temporaryFolder(), 'run');
  const held: ServerResponse[] = [];
  const storesOf = [1, 2].map((at) => join(runDir, `attempts/${at}/shadow.git/objects/info/alternates`));
  let stores: string[] = [];
  async function answer() {
    await until('both are under way', () => storesOf.every((path) => existsSync(path)));
    stores = storesOf.map((path) => readFileSync(path, 'utf8'));
    for (const response of held) response.writeHead(400).end('{}');
  }
  // Neither is answered before both are there.
  const send = (response: ServerResponse) => void (held.push(response) === 2 && answer());
  const hold = { fault: { kind: 'garbage', send } } as const;
  const [first = {}] = wrote('ONE\n');
  const { result } = await scriptedRun({
    repository,
    runDir,
    turns: conversations([first, hold], [hold]),
    args: ['--attempts', '2', '--idle-timeout', '20s'],
  });
  expect(held).toHaveLength(2);
  expect(result.attempts?.list.map(({ outcome }) => outcome)).toEqual(['provider_error', 'provider_error']);
  expect(stores).toEqual(Array(2).fill(`${repository.root}/.git/objects\n`));
});

test('the caps hold over all of them, by equal shares', async () => {
  const repository = await makeRepository(FILES);
  const reading = Array.from({ length: 30 }, (_, at) => ({
    calls: [call('run_command', { command: `echo ${at}` })],
    outputTokens: 3_000,
  }));
  const { result, server, lastLine } = await scriptedRun({
    repository,
    turns: conversations(reading, reading),
    args: ['--attempts', '2', '--max-total-tokens', '60000', '--max-iterations', '30'],
  });
  expect(lastLine).toContain('[ERR_LIMIT_TOKENS]: Used');
  expect(lastLine).toContain(' tokens of 30,000 (--max-total-tokens)');
  expect(totalTokens(server.bill().usage)).toBeLessThanOrEqual(60_000);
  expect(result.attempts?.list.map(({ outcome }) => outcome)).toEqual(['limit_reached', 'limit_reached']);
});

test('what is wrong from the start is reported once, without requests for the others', async () => {
  const repository = await makeRepository(FILES);
  const bare = await scriptedRun({
    repository,
    turns: [],
    args: ['--attempts', '3', '--verify', 'no-such-program'],
  });
  expect(bare.lastLine).toContain('usage_error (exit 2) [ERR_PROGRAM_MISSING]');
  expect(bare.result.attempts).toMatchObject({
    asked: 3,
    chosen: null,
    list: [{ number: 1, outcome: 'usage_error' }],
  });
  let deep = repository.root;
  while (deep.length < 4_080) deep = join(deep, 'd'.repeat(Math.min(100, 4_084 - deep.length)));
  mkdirSync(deep, { recursive: true });
  const uncopied = await scriptedRun({ repository, turns: [], args: ['--attempts', '2'] });
  expect(uncopied.lastLine).toContain('usage_error (exit 2) [ERR_ATTEMPT_COPY]');
  rmSync(join(repository.root, 'd'.repeat(100)), { recursive: true });
  const refused = await scriptedRun({
    repository,
    turns: [{ fault: { kind: 'http', status: 401 } }],
    args: ['--attempts', '3'],
  });
  expect(refused.lastLine).toContain('provider_error (exit 4) [ERR_PROVIDER_AUTHENTICATION]');
  expect(refused.result.attempts).toMatchObject({ chosen: 1, why: 'the only one' });
  expect(refused.server.requests).toHaveLength(1);
});

test('an outage of one does not affect the others, and a work tree that has changed meanwhile is not touched', async () => {
  const repository = await makeRepository(FILES);
  const play = conversations(wrote('ONE\ntwo\nthree\n'), wrote('x\n'));
  const run = await scriptedRun({
    repository,
    turns: (request) => {
      const turn = play(request);
      const isOther = JSON.stringify(request.messages).includes('toolu_of_1_0');
      if (isOther) writeFileSync(join(repository.root, 'a.txt'), 'mine\n');
      return isOther ? { fault: { kind: 'http', status: 400 } } : turn;
    },
    args: ['--attempts', '2'],
  });
  expect(run.lastLine).toContain('publish_failed (exit 11) [ERR_ATTEMPT_NOT_APPLIED]');
  expect(run.lastLine).toContain('a.txt (changed)');
  expect(textOf(repository.root)).toBe('mine\n');
  expect(run.result.attempts).toMatchObject({
    chosen: 1,
    list: [{ outcome: 'done' }, { outcome: 'provider_error' }],
  });
  expect(run.patch).toContain('+ONE');

  writeFileSync(join(repository.root, 'a.txt'), FILES['a.txt']);
  const resumed = await cliHere(['resume', run.runDir, '--repo', repository.root], {
    cwd: repository.root,
    env: ENV,
  });
  expect(resumed.stderr).toContain('done (exit 0)');
  expect(textOf(repository.root)).toBe('ONE\ntwo\nthree\n');
});

test('a signal ends all of them: the work tree is unchanged, and each can be continued there', async () => {
  const repository = await makeRepository(FILES);
  const [write = {}, finish = {}] = wrote('ONE\n');
  const run = await scriptedRun({
    repository,
    turns: conversations(
      [write, finish],
      [{ ...write, thinking: false }, { fault: { kind: 'stall', afterEvents: null } }],
    ),
    args: ['--attempts', '2'],
    built: true,
    async during({ pid, server, runDir }) {
      await until('the other one waits', () => server.requests.length === 4);
      await until('the first one has ended', () => existsSync(join(runDir, 'attempts/1/changes.patch')));
      process.kill(pid, 'SIGTERM');
    },
  });
  expect(run).toMatchObject({
    exitCode: 143,
    result: {
      ...{ outcome: 'interrupted', plan: { title: 'Do it' }, provider: 'anthropic', patch: null },
      ...{ model: expect.any(String), baseSha: expect.any(String), changedFiles: [] },
      attempts: { chosen: null, list: [{}, { outcome: 'interrupted' }] },
    },
  });
  expect(textOf(repository.root)).toBe(FILES['a.txt']);
  const cut = join(run.runDir, 'attempts/2');
  expect(run.lastLine).toContain('attempts/1 (done)');
  expect(run.lastLine).toContain(`patchsmith resume ${cut} --repo ${repository.root}`);
  const parent = await cliHere(['resume', run.runDir], { cwd: repository.root, env: ENV });
  expect(parent.stderr).toContain('No attempt of this run has been chosen');

  const server = await startClaudeServer({ turns: [finish], apiKey: KEY });
  onTestFinished(() => server.close());
  const carriedOn = await cliHere(['resume', cut, '--repo', repository.root], {
    cwd: repository.root,
    env: { ...ENV, ANTHROPIC_BASE_URL: server.url },
  });
  expect(carriedOn.stderr).toContain('done (exit 0)');
  expect(textOf(repository.root)).toBe('ONE\n');
});

test('the commands of an attempt reach neither the copy and the journal of another nor the work tree', async () => {
  const repository = await makeRepository(FILES);
  const runDir = join(temporaryFolder(), 'run');
  const command = `pwd; echo x > ${repository.root}/made-by-command; for f in ${runDir}/scratch/attempt-1/a.txt ${runDir}/scratch/attempt-2/a.txt ${runDir}/attempts/1/events.jsonl; do cat $f; echo bad >> $f; done; ls ${runDir}`;
  const script = [{ calls: [call('run_command', { command })] }, { text: 'Done.' }];
  const play = conversations(script, script);
  const seen = new Set<boolean>();
  const { result, events } = await scriptedRun({
    repository,
    runDir,
    turns(request) {
      seen.add(existsSync(join(repository.root, 'made-by-command')));
      return play(request);
    },
    args: ['--attempts', '2'],
  });
  const outcome = events.find((event) => event.type === 'tool.completed')?.outcome;
  const text = outcome?.text ?? '';
  expect(text.split('\n')[0]).toBe(repository.root);
  expect(text.match(/No such file or directory/g)?.length).toBeGreaterThanOrEqual(4);
  expect(text).not.toContain('one\ntwo');
  expect([...seen]).toEqual([false]);
  expect(result.attempts?.list.map(({ lines }) => lines)).toEqual([1, 1]);
});

test.each([
  [['--read-only'], 'attempts and --read-only'],
  [['--continue', '7'], 'attempts and --continue'],
  [['--mcp', 'a=b'], 'attempts and --mcp'],
  [['--sandbox', 'off'], 'attempts and --sandbox'],
  [['--provider', 'replay', '--recording', 'x'], 'attempts and --provider'],
])('with %s it is refused', async (args, said) => {
  const { root } = await makeRepository(FILES);
  const { exitCode, stderr } = await cliHere(
    ['run', '--repo', root, '-m', 'Do it', '--attempts', '2', ...args],
    {
      cwd: root,
      env: ENV,
    },
  );
  expect(exitCode).toBe(2);
  expect(stderr).toContain(said);
});
