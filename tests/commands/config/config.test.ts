/** `patchsmith config`: every setting, with where its value comes from. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writtenValue } from '../../../src/commands/config/config.ts';
import { resolveSettings } from '../../../src/config/resolve.ts';
import { settingEntries } from '../../../src/config/schema.ts';
import { problemLine } from '../../../src/domain/errors/problem.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { sourcesHere } from '../../support/runs/from-sources.ts';

const FILE = 'verify:\n  - npm test\n  - "make a, b"\nmax-iterations: 9\ndeadline: 90s\n';

async function config(args: readonly string[], env: Record<string, string> = {}, file = FILE) {
  const { root } = await makeRepository({ '.patchsmith.yml': file });
  const end = await sourcesHere(args, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, ...env },
  });
  return { ...end, root };
}

interface Shown {
  readonly name: string;
  readonly value: unknown;
  readonly from: string;
  readonly at: string | null;
  readonly over: readonly string[];
}

async function shown(args: readonly string[], env?: Record<string, string>, file?: string) {
  const { stdout, exitCode } = await config(['config', '--json', ...args], env, file);
  expect(exitCode).toBe(0);
  const document = JSON.parse(stdout);
  const settings: Shown[] = document.settings;
  return { document, of: (name: string) => settings.find((setting) => setting.name === name), settings };
}

test('each setting says where its value comes from, and what it wins over', async () => {
  const { of, settings } = await shown(['--deadline', '20m', '--max-disk', '3g'], {
    PATCHSMITH_MAX_ITERATIONS: '7',
    PATCHSMITH_EFFORT: 'low',
  });
  expect([
    of('max-iterations'),
    of('deadline'),
    of('verify'),
    of('effort'),
    of('max-disk'),
    of('title'),
  ]).toEqual([
    {
      name: 'max-iterations',
      value: 7,
      from: 'environment',
      at: 'PATCHSMITH_MAX_ITERATIONS',
      over: ['.patchsmith.yml:4'],
    },
    { name: 'deadline', value: '20m', from: 'flag', at: '--deadline', over: ['.patchsmith.yml:5'] },
    {
      name: 'verify',
      value: ['npm test', 'make a, b'],
      from: 'file',
      at: '.patchsmith.yml:1',
      over: [],
    },
    { name: 'effort', value: 'low', from: 'environment', at: 'PATCHSMITH_EFFORT', over: [] },
    { name: 'max-disk', value: '3g', from: 'flag', at: '--max-disk', over: [] },
    { name: 'title', value: null, from: 'default', at: null, over: [] },
  ]);
  expect(settings.map(({ name }) => name)).toEqual(settingEntries().map(({ flag }) => flag));
});

test('people read the same as a table', async () => {
  const { stdout, stderr, exitCode } = await config(['config', '-m', 'Tidy', '--max-iterations', '3']);
  expect(exitCode).toBe(0);
  const rows = stdout.split('\n').map((line) => line.split(/\s{2,}/));
  expect(rows).toContainEqual(['verify', '.patchsmith.yml:1', '"npm test", "make a, b"']);
  expect(rows).toContainEqual(['message', '--message', 'Tidy']);
  expect(rows).toContainEqual(['max-iterations', '--max-iterations over .patchsmith.yml:4', '3']);
  expect(rows).toContainEqual(['deadline', '.patchsmith.yml:5', '90s']);
  expect(rows).toContainEqual(['max-total-tokens', 'default', '(no limit)']);
  expect(rows).toContainEqual(['ANTHROPIC_API_KEY', 'nowhere', '(none)']);
  expect(stderr).toMatch(
    /^patchsmith: done \(exit 0\): \d+ settings, 4 of them given; \.patchsmith\.yml was read\.\n$/,
  );
});

test('run --print-config shows the same and runs nothing', async () => {
  const { stdout, exitCode } = await config(['run', '--print-config', '--model', 'openai/gpt-5.4']);
  expect(exitCode).toBe(0);
  const rows = stdout.split('\n').map((line) => line.split(/\s{2,}/));
  expect(rows).toContainEqual(['provider', '--model', 'openai']);
  expect(rows).toContainEqual(['model', '--model', 'gpt-5.4']);
});

test('neither key nor other secrets are shown', async () => {
  const key = 'sk-test-a-key-that-nobody-may-see';
  const token = 'a-token-of-a-server';
  const env = { ANTHROPIC_API_KEY: key, SOME_TOKEN: token };
  const file = `${FILE}mcp:\n  db:\n    command: serve\n    env:\n      PLAIN: short\n      DB_PASSWORD: hunter2hunter2\n`;
  const words = ['--setup', `echo ${token}`, '--commit-message', `x ${key}`];
  for (const args of [['config'], ['config', '--json']]) {
    const { stdout, stderr, exitCode } = await config([...args, ...words], env, file);
    expect(exitCode).toBe(0);
    for (const secret of [key, token, 'hunter2hunter2', 'short'])
      expect(stdout + stderr).not.toContain(secret);
    expect(stdout).toContain('echo ***');
  }
  const { document, of } = await shown(words, env, file);
  expect(document.key).toEqual({ name: 'ANTHROPIC_API_KEY', value: '***', at: 'ANTHROPIC_API_KEY' });
  expect(of('mcp')?.value).toEqual({
    db: { command: 'serve', env: { PLAIN: '***', DB_PASSWORD: '***' } },
  });
  const query = await shown(['--mcp', 'web=https://mcp.example/x?key=abc']);
  expect(query.of('mcp')?.value).toEqual(['web=https://mcp.example/x?***']);
});

test('a key in .env is named by its file', async () => {
  const { root } = await makeRepository({ '.gitignore': '.env\n' });
  writeFileSync(join(root, '.env'), 'ANTHROPIC_API_KEY=sk-test-another-key\n');
  const { stdout } = await sourcesHere(['config'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root },
  });
  expect(stdout).toMatch(/^ANTHROPIC_API_KEY {2,}\.env {2,}\*\*\*$/m);
});

test('what a project file says cannot act on a terminal or a log', async () => {
  const { stdout } = await config(['config'], {}, 'verify: "x\\e[31m ##[error]y\\n::error::z"\n');
  expect(stdout).not.toMatch(/\x1b|##\[|^::/m);
});

test('mistakes are printed instead of settings', async () => {
  const { stdout, stderr, exitCode } = await config(
    ['config', '--effort', 'huge'],
    {},
    'max-iterations: 99\n',
  );
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain('--effort: expected one of');
  expect(stderr).toContain('.patchsmith.yml:1: a project file may lower max-iterations');
});

test('a value is shown as a flag or the project file takes it', () => {
  const given = {
    deadline: '90m',
    'idle-timeout': '1.5s',
    'max-disk': '1.5g',
    'older-than': '14d',
    since: '2026-11-01',
    price: ['', 'openai/gpt-5.4:'].map(
      (name) => `${name}input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4`,
    ),
    author: 'Ann Onym <ann@example.org>',
    'co-author': ['Ann Onym <ann@example.org>', 'B <b@example.org>'],
    tools: 'read_file,search',
    label: ['a', 'b'],
    sandbox: 'off',
  };
  const known = settingEntries().map(({ flag }) => flag);
  const asked = Object.fromEntries(Object.entries(given).filter(([flag]) => known.includes(flag)));
  const first = resolveSettings({ flags: asked, env: {}, file: null });
  if (first.status === 'failed') throw new Error(first.problems.map(problemLine).join('\n'));
  const entries = settingEntries();
  const flags = Object.fromEntries(
    entries.flatMap((entry) => {
      const value = writtenValue(first.settings, entry);
      return value === null || first.sources[entry.key].from === 'default' ? [] : [[entry.flag, value]];
    }),
  );
  expect(Object.keys(flags).sort()).toEqual(Object.keys(asked).sort());
  const again = resolveSettings({ flags, env: {}, file: null });
  expect(again.status === 'ok' && again.settings).toEqual(first.settings);
});
