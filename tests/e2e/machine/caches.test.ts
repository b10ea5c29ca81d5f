/** `--cache` in a run: whose cache is shown, to which of its commands. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

test('auto goes by the lock files of the base; setup, model and verify commands have the cache, each stage its own', async () => {
  const repository = await makeRepository({ 'package-lock.json': '{}\n', 'a.txt': 'a\n' });
  // Not of the base, so that nothing of it is shown.
  writeFileSync(join(repository.root, 'Cargo.lock'), '');
  const home = temporaryFolder();
  for (const folder of ['.npm/_cacache', '.cargo/registry']) {
    mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, folder, 'kept'), 'as it was');
  }
  const read = 'cat ~/.npm/_cacache/kept && test $npm_config_offline = true && test ! -e ~/.cargo';
  const poison = `${read} && cat ~/.npm/_cacache/of-setup && echo poisoned > ~/.npm/_cacache/kept`;
  const plan = join(temporaryFolder(), 'plan.md');
  const setup = `${read} && echo more > ~/.npm/_cacache/of-setup`;
  const verify = `${read} && ! grep poisoned ~/.npm/_cacache/kept`;
  const lists = [`setup: ${JSON.stringify([setup])}`, `verify: ${JSON.stringify([verify])}`];
  writeFileSync(plan, `---\n${lists.join('\n')}\n---\nWork.\n`);
  const turns = [{ calls: [call('run_command', { command: poison })] }, { text: 'Done.' }];
  const { result, stderr, exitCode, events } = await scriptedRun({
    repository,
    turns,
    plan,
    env: { HOME: home },
    args: ['--cache', 'auto'],
  });
  expect([exitCode, result.outcome], stderr).toEqual([0, 'no_change']);
  const completed = events.flatMap((event) =>
    event.type === 'tool.completed' ? [event.outcome.status] : [],
  );
  expect(completed).toEqual(['ok']);
  expect(readFileSync(join(home, '.npm/_cacache/kept'), 'utf8')).toBe('as it was');
});

test('a missing cache is a usage error before any request to the model', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const home = temporaryFolder();
  const { exitCode, lastLine, server } = await scriptedRun({
    repository,
    turns: [],
    env: { HOME: home },
    args: ['--cache', 'npm', '--cache', 'go'],
  });
  expect(exitCode).toBe(2);
  expect(lastLine).toContain(`--cache npm: there is no ${home}/.npm/_cacache. Fill it with "npm ci"`);
  expect(server.requests).toEqual([]);
});

test('a cache that lacks packages is named, with what to type', async () => {
  const locked = {
    '': { dependencies: { ms: '2.1.3' } },
    'node_modules/ms': { version: '2.1.3', resolved: 'https://registry.npmjs.org/ms/-/ms-2.1.3.tgz' },
  };
  const lock = { name: 'a', lockfileVersion: 3, requires: true, packages: locked };
  const repository = await makeRepository({
    'package.json': '{"name":"a","dependencies":{"ms":"2.1.3"}}\n',
    'package-lock.json': `${JSON.stringify(lock)}\n`,
  });
  const home = temporaryFolder();
  mkdirSync(join(home, '.npm/_cacache'), { recursive: true });
  const { exitCode, lastLine, server } = await scriptedRun({
    repository,
    turns: [],
    env: { HOME: home },
    args: ['--cache', 'npm', '--setup', 'npm ci'],
  });
  expect([exitCode, server.requests]).toEqual([2, []]);
  expect(lastLine).toContain("This machine's cache (--cache) lacks packages: install them once by hand");
});

test('a cache behind a link that commands can replace is refused: the sandbox of a verification would follow it anew', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'link\n' });
  const home = temporaryFolder();
  mkdirSync(join(home, 'elsewhere/_cacache'), { recursive: true });
  symlinkSync(join(home, 'elsewhere'), join(repository.root, 'link'));
  symlinkSync(join(repository.root, 'link'), join(home, '.npm'));
  const { exitCode, lastLine, server } = await scriptedRun({
    repository,
    turns: [],
    env: { HOME: home },
    args: ['--sandbox', 'required', '--cache', 'npm'],
  });
  expect([exitCode, server.requests]).toEqual([2, []]);
  expect(lastLine).toContain(`${home}/.npm/_cacache (--cache npm) leads into ${repository.root}`);
});
