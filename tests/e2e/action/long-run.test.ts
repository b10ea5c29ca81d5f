import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runAction } from '../../support/jobs/action-runner.ts';
import { openShopOnGitHub, template } from '../../support/jobs/shop-on-github.ts';
import { isRunning, oddSeconds } from '../../support/machine/processes.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { IS_FULL, sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const BY_HAND = { name: 'workflow_dispatch', payload: {} };

/** With jobs in a container of Docker, too, whose user is root. */
const WAYS = [
  ...sampled(['SIGINT', 'SIGKILL'] as const, () => 'signal', 1).map((signal) => [signal, false] as const),
  ...(IS_FULL && process.getuid?.() === 0 ? [['SIGKILL', true] as const] : []),
];

function inContainer(workflow: string): string {
  const file = join(temporaryFolder(), 'contained.yml');
  const text = readFileSync(workflow, 'utf8').replaceAll(
    '    with:\n',
    '    with:\n      container: node:24\n',
  );
  writeFileSync(file, text);
  return file;
}

test.each(WAYS)(
  'a run that its time limit ends by %s is carried on by the next job, and no turn is paid for twice (container: %s)',
  async (signal, isContained) => {
    const marker = oddSeconds();
    const turns = [
      { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
      { calls: [call('run_command', { command: `sleep ${marker}` })] },
      { calls: [call('write_file', { path: 'b.txt', content: 'more\n' })] },
      { text: 'All is new.' },
    ];
    const shop = await openShopOnGitHub(turns, { verify: 'grep -q new a.txt && grep -q more b.txt' });
    onTestFinished(() => shop.close());
    const { github, repository, model } = shop;
    const jobs = await shop.carryOut(BY_HAND, {
      workflow: isContained ? inContainer(template('long')) : template('long'),
      timeLimit: async ({ pid }) => {
        await until('the command runs', () => isRunning(marker));
        process.kill(pid, signal);
      },
    });
    const log = jobs.flatMap(({ actions }) => actions.map(({ stderr }) => stderr)).join('\n');
    const outcomes = jobs.map(({ caller, name, result, actions }) => [
      `${caller} / ${name}`,
      result,
      actions[0]?.outputs.outcome,
    ]);
    expect(outcomes, log).toEqual([
      ['patchsmith / prepare', 'success', 'done'],
      ['patchsmith / run', 'failure', signal === 'SIGINT' ? 'interrupted' : 'internal_error'],
      ['patchsmith / publish', 'skipped', undefined],
      ['resume / prepare', 'skipped', undefined],
      ['resume / run', 'success', 'done'],
      ['resume / publish', 'success', 'done'],
    ]);
    expect(isRunning(marker)).toBe(false);
    const [, cut, , , resumed] = jobs.map(({ actions }) => actions[0]?.outputs ?? {});
    expect([cut?.resumable, resumed?.resumable, resumed?.iterations]).toEqual(['true', 'false', '4']);
    expect(model.requests).toHaveLength(turns.length);
    expect(JSON.stringify(model.requests[2]?.body)).toMatch(/\[interrupted\]|Interrupted: /);

    const [pull] = repository.pulls();
    const branch = pull?.pull?.head ?? '';
    expect(await repository.git('show', `${branch}:a.txt`)).toBe('new');
    expect(await repository.git('show', `${branch}:b.txt`)).toBe('more');
    expect(github.invalid).toEqual([]);
  },
);

test('a run that has failed is not resumed, and published only once', async () => {
  const blocked = { calls: [call('finish', { status: 'blocked', summary: 'Nothing is said.' })] };
  const shop = await openShopOnGitHub([blocked]);
  onTestFinished(() => shop.close());
  const jobs = await shop.carryOut(BY_HAND, { workflow: template('long') });
  expect(jobs.map(({ result, actions }) => `${result} ${actions.length}`)).toEqual([
    ...['success 1', 'failure 1', 'failure 1'],
    ...['skipped 0', 'success 0', 'skipped 0'],
  ]);
  expect(shop.model.requests).toHaveLength(1);
});

test('a journal with things that no run writes is refused before the model is asked', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const model = await startClaudeServer({ turns: [], apiKey: KEY });
  onTestFinished(() => model.close());
  const journal = join(temporaryFolder(), 'journal');
  symlinkSync(temporaryFolder(), journal);
  writeFileSync(join(journal, 'events.jsonl'), '');
  symlinkSync('/etc/passwd', join(journal, 'result.json'));
  const inputs = { mode: 'resume', 'run-dir': journal, 'api-key': KEY, 'base-url': model.url };
  const ended = await runAction({ workspace: root, inputs });
  expect([ended.exitCode, ended.outputs.outcome, ended.outputs.resumable]).toEqual([
    2,
    'usage_error',
    undefined,
  ]);
  expect(ended.lastLine).toContain('result.json is a link, and links are not followed there');
  expect(model.requests).toHaveLength(0);
});
