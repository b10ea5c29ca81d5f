/** The library as its page shows it: the example is type-checked against the packed types, and run. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { publint } from 'publint';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Tool } from '../../../src/library.ts';
import type { Script } from '../../support/claude-server/script.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { holdingEvents } from '../../support/runs/valid-events.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const { run, said }: typeof import('../../../src/library.ts') = await import(
  new URL('../../../dist/library.js', import.meta.url).href
);

const finish = { calls: [call('finish', { status: 'done', summary: 'Greeted.' })] };
const TURNS: Script = [
  { calls: [call('read_ticket', { id: '7' })] },
  { calls: [call('write_file', { path: 'greeting.txt', content: 'Hello, world\n' })] },
  finish,
];

async function asked<T>(
  turns: Script,
  use: (env: Record<string, string | undefined>) => Promise<T> | T,
): Promise<T> {
  const server = await startClaudeServer({ turns, apiKey: KEY });
  const { PATH, HOME } = process.env;
  const XDG_STATE_HOME = temporaryFolder();
  try {
    const env = { PATH, HOME, XDG_STATE_HOME, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
    return await holdingEvents({ args: [], cwd: '/', env }, async () => use(env));
  } finally {
    await server.close();
  }
}

/** The example of the page, and a folder in which the package is installed to run it. */
function exampleOfPage(): { example: string; program: string } {
  const page = readFileSync('docs/library.md', 'utf8');
  const example = /```js\n(\/\/ library-example\.mjs\n[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const program = temporaryFolder();
  mkdirSync(join(program, 'node_modules'));
  for (const name of ['zod', '@types'])
    symlinkSync(resolve('node_modules', name), join(program, 'node_modules', name));
  symlinkSync(resolve('.'), join(program, 'node_modules/patchsmith'));
  return { example, program };
}

testAtNight('the example of its page is right for the compiler, with the types of the package', async () => {
  const { example, program } = exampleOfPage();
  execFileSync(process.execPath, ['scripts/types.mjs']);
  const { messages } = await publint({ pkgDir: '.', pack: false });
  expect(messages).toEqual([]);
  writeFileSync(join(program, 'library-example.mts'), example);
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
  const checked = spawnSync(
    process.execPath,
    [resolve('node_modules/typescript/bin/tsc'), ...options, 'library-example.mts'],
    {
      cwd: program,
      encoding: 'utf8',
    },
  );
  expect([checked.stdout, checked.status]).toEqual(['', 0]);
});

test('the example of its page does what it says', async () => {
  const { root } = await makeRepository({ 'greeting.txt': 'Hello\n' });
  const { example, program } = exampleOfPage();
  writeFileSync(join(program, 'library-example.mjs'), example);
  const { execa } = await import('execa');
  const done = await asked(TURNS, (env) =>
    execa(process.execPath, [join(program, 'library-example.mjs')], {
      cwd: root,
      env,
      extendEnv: false,
      reject: false,
    }),
  );
  expect([done.stderr, done.stdout]).toEqual([
    '',
    "read_ticket\nwrite_file\nfinish\ndone [ 'greeting.txt' ]",
  ]);
});

test('settings that are wrong are a result, and so is a tool with a name that is taken', async () => {
  const { root } = await makeRepository({});
  const refusedBy = async (options: Parameters<typeof run>[0]) => {
    const going = run({ env: {}, ...options });
    const events = [];
    for await (const event of going) events.push(event);
    const { outcome, exitCode, reason } = await going.result;
    expect([outcome, exitCode, events]).toEqual(['usage_error', 2, []]);
    return reason;
  };
  expect(await refusedBy({ settings: { message: 'x', repo: root, maxCost: 2 } })).toMatch(/max-cost/);
  expect(await refusedBy({ settings: { message: 'x', repo: root } })).toMatch(/ANTHROPIC_API_KEY is not set/);
  const tools = [{ name: 'search' } as Tool];
  expect(await refusedBy({ settings: { message: 'x', repo: root }, tools })).toMatch(
    /There is a tool search already/,
  );
  const own = (name: string, schema: Tool['schema'] = z.unknown()) =>
    [{ name, description: 'Does it.', schema, lane: 'read', execute: async () => said('x') }] as const;
  const config = join(temporaryFolder(), 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { own: { command: 'no-such-server' } } }));
  const settings = { message: 'x', repo: root };
  const env = { ANTHROPIC_API_KEY: KEY };
  expect(
    await refusedBy({ settings: { ...settings, mcpConfig: config }, env, tools: own('own__look') }),
  ).toMatch(/The tool own__look has a name that the MCP server own may have a tool by/);
  expect(await refusedBy({ settings, tools: own('when', z.date()) })).toMatch(
    /The tool when cannot be described to a model: Date/,
  );
});

test('MCP servers work as on the command line: a missing required one refuses the run', async () => {
  const { root } = await makeRepository({});
  const config = join(temporaryFolder(), 'mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { own: { command: 'no-such-server', required: true } } }),
  );
  const result = await asked(
    [],
    (env) => run({ settings: { message: 'x', repo: root, mcpConfig: config }, env }).result,
  );
  expect([result.outcome, result.reason]).toEqual([
    'usage_error',
    expect.stringContaining('The MCP server own is required'),
  ]);
});

test('a reader of events that stops goes on later with the next one', async () => {
  const { root } = await makeRepository({});
  const types = await asked([finish], async (env) => {
    const going = run({ settings: { message: 'x', repo: root }, env });
    const seen: string[] = [];
    for await (const { type } of going) {
      seen.push(type);
      break;
    }
    await going.result;
    for await (const { type } of going) seen.push(type);
    return seen;
  });
  expect([types[0], types.at(-1)]).toEqual(['run.started', 'run.stopped']);
  expect(new Set(types.slice(1))).not.toContain('run.started');
});

test('a signal ends the run, and what was done is in the result', async () => {
  const { root } = await makeRepository({});
  const turns: Script = [
    { calls: [call('write_file', { path: 'a.txt', content: 'a\n' })] },
    { calls: [call('run_command', { command: 'sleep 60' })] },
  ];
  const stop = new AbortController();
  const lines: string[] = [];
  const result = await asked(turns, async (env) => {
    const going = run({
      settings: { message: 'x', repo: root },
      env,
      signal: stop.signal,
      progress: (text) => lines.push(text),
    });
    for await (const event of going)
      if (event.type === 'tool.started' && event.call.name === 'run_command') stop.abort();
    return going.result;
  });
  expect([result.outcome, result.exitCode]).toEqual(['interrupted', 143]);
  expect(result.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
  expect(lines.join('')).toContain('write_file');
});
