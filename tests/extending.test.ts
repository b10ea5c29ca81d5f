/**
 * One record per concept: a setting, a tool, a kind of event, a provider and an ecosystem are added to a copy of the sources, in the
 * files that docs/architecture.md names and in no others, and the built copy has them everywhere.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from './support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from './support/files/repository.ts';
import { startOpenAiServer } from './support/openai-server/server.ts';
import { call } from './support/runs/scripted-run.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const COPY = temporaryFolder();
const HOME = temporaryFolder();
const KEY = 'sk-test-0123456789abcdef';

/** What is added: each text goes in front of the first place where the file has the other. */
const ADDED: readonly (readonly [concept: string, file: string, before: string, text: string])[] = [
  [
    'A setting',
    'src/config/settings/task.ts',
    '  principles: setting(',
    "  patience: setting(() => wholeNumber(0), 3, { flag: 'patience', value: 'N', group: 'Task', file: 'set', alsoFor: ['resume'], help: 'How patient the run is' }),\n",
  ],
  ['A tool', 'src/tools/registry.ts', 'import { webFetchTool }', "import { greetTool } from './greet.ts';\n"],
  ['A tool', 'src/tools/registry.ts', '    web_fetch: pages', '    greet: greetTool,\n'],
  ['A tool', 'src/domain/conversation/tool.ts', "  web_fetch: 'read',", "  greet: 'read',\n"],
  [
    'A kind of event',
    'src/domain/run/events.ts',
    "  z.strictObject({ type: z.literal('run.interrupted')",
    "  z.strictObject({ type: z.literal('weather.noted'), weather: z.string() }),\n",
  ],
  [
    'A kind of event',
    'src/domain/run/fold/advance.ts',
    "    case 'run.interrupted':",
    "    case 'weather.noted':\n      return state;\n",
  ],
  [
    'A kind of event',
    'src/adapters/sinks/progress/event-lines.ts',
    "      case 'budget.reached':",
    "      case 'weather.noted':\n        return [note('the weather: '.concat(event.weather))];\n",
  ],
  [
    'A kind of event',
    'src/domain/report/reported-event.ts',
    "  'message.added': ({ text }) => text,",
    "  'weather.noted': ({ weather }) => 'It was '.concat(weather),\n",
  ],
  [
    'A provider',
    'src/adapters/providers/registry.ts',
    '  bedrock: {',
    "  acme: { ...usual, meaning: 'Acme', defaultModel: 'acme-1', keyVariable: 'ACME_API_KEY', baseUrlVariable: 'ACME_BASE_URL', create: async (settings) => (await import('./openai.ts')).createOpenAiProvider(settings) },\n",
  ],
  [
    'An ecosystem',
    'src/adapters/survey/ecosystems.ts',
    "  {\n    name: 'Rust',",
    "  { name: 'Zig', extensions: ['.zig'], manifests: ['build.zig'], manager: 'zig', test: [['zig build test', 'build.zig']] },\n",
  ],
  [
    'An ecosystem',
    'src/domain/packages.ts',
    "  ['Rust',",
    "  ['Zig', ['zig'], 'see https://ziglang.org'],\n",
  ],
];

/** Who raises the event: any part of the loop may. */
const RAISED = [
  "    if (result?.status === 'ok') yield {",
  "    yield { type: 'weather.noted', weather: 'fine' };\n",
] as const;

const GREET = `/** Greets. */
import * as z from 'zod';
import description from '../../prompts/tools/greet.md';
import type { Tool } from '../ports.ts';
import { said } from './result.ts';
const Input = z.strictObject({ whom: z.string() });
/** Says hello. */
export const greetTool: Tool<z.infer<typeof Input>> = {
  name: 'greet', description, schema: Input, lane: 'read',
  execute: async ({ whom }) => said(\`Hello, \${whom}.\`),
};
`;

function insert(file: string, before: string, text: string): void {
  const path = join(COPY, file);
  const source = readFileSync(path, 'utf8');
  const at = source.indexOf(before);
  expect([file, before, at > 0]).toEqual([file, before, true]);
  writeFileSync(path, source.slice(0, at) + text + source.slice(at));
}

/** What a script of the copy says if it fails. */
function inCopy(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: COPY, encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

beforeAll(() => {
  execFileSync('sh', ['-c', 'git ls-files -z | tar --null -T - -c | tar -x -C "$0"', COPY], { cwd: ROOT });
  for (const folder of ['node_modules', 'page/node_modules'])
    symlinkSync(join(ROOT, folder), join(COPY, folder));
  for (const [, file, before, text] of ADDED) insert(file, before, text);
  insert('src/agent/agentic-loop.ts', ...RAISED);
  writeFileSync(join(COPY, 'src/tools/greet.ts'), GREET);
  writeFileSync(join(COPY, 'prompts/tools/greet.md'), 'Greets somebody.\n');
  expect(inCopy('scripts/build.mjs')).toBe('');
});

/** The built command of the copy. */
function patchsmith(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return execa(process.execPath, [join(COPY, 'dist/cli.js'), ...args], {
    cwd,
    extendEnv: false,
    env: { PATH: process.env.PATH, HOME, ...env },
    reject: false,
    stdin: 'ignore',
  });
}

test('the guide names these files', () => {
  const guide = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  for (const [concept, file] of ADDED) {
    const row = guide.split('\n').find((line) => line.startsWith(`| ${concept} |`)) ?? '';
    const [folder = '', name = ''] = [file.slice(0, file.lastIndexOf('/') + 1), file.split('/').at(-1)];
    expect([
      concept,
      file,
      row.includes(`\`${file}\``) || row.includes(`\`${folder}\``) || row.includes(name),
    ]).toEqual([concept, file, true]);
  }
});

test('the compiler wants nothing more', () => {
  expect(inCopy('node_modules/typescript-7/bin/tsc', '--noEmit')).toBe('');
});

test('a new setting is a flag, a variable, a key, an input and a row of the docs', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n', '.patchsmith.yml': 'patience: 4\n' });
  expect((await patchsmith(root, ['help', 'run'])).stdout).toContain('--patience');
  const shown = async (args: readonly string[], env = {}) =>
    /^\s*patience\b.*$/m.exec((await patchsmith(root, ['config', ...args], env)).stdout)?.[0];
  expect(await shown([])).toMatch(/\.patchsmith\.yml.* 4$/);
  expect(await shown([], { PATCHSMITH_PATIENCE: '5' })).toMatch(/PATCHSMITH_PATIENCE.* 5$/);
  expect(await shown(['--patience', '6'])).toMatch(/--patience.* 6$/);
  expect((await patchsmith(root, ['help', 'resume'])).stdout).toContain('--patience');
  const docs = ['--import', 'tsx', '--import', './scripts/text-modules.mjs', 'scripts/docs.ts'];
  expect(inCopy(...docs)).toBe('');
  for (const [file, text] of [
    ['action.yml', '\n  patience:\n'],
    ['docs/settings.md', '--patience'],
    ['docs/patchsmith.schema.json', '"patience"'],
  ] as const)
    expect([file, readFileSync(join(COPY, file), 'utf8').includes(text)]).toEqual([file, true]);
});

test('a new tool and a new kind of event are in journal, lines, report and a resumed run', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const server = await startClaudeServer({
    turns: [
      { calls: [call('greet', { whom: 'Ann' })] },
      { fault: { kind: 'http', status: 401 } },
      { text: 'Done.' },
    ],
  });
  onTestFinished(() => server.close());
  const runDir = join(temporaryFolder(), 'run');
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
  const flags = ['--sandbox', 'off', '--patience', '6'];
  const run = await patchsmith(root, ['run', '-m', 'Do it', '--run-dir', runDir, ...flags], env);
  expect([run.exitCode, run.stderr]).toEqual([4, expect.stringContaining('[1] greet')]);
  expect(run.stderr).toContain('the weather: fine');
  const resumed = await patchsmith(root, ['resume', runDir, ...flags], env);
  expect([resumed.exitCode, resumed.stderr]).toEqual([0, expect.stringContaining('the weather: fine')]);
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('Hello, Ann.');
  const journal = readFileSync(join(runDir, 'events.jsonl'), 'utf8');
  expect(journal).toContain('"type":"weather.noted"');
  const report = readFileSync(join(runDir, 'report.html'), 'utf8');
  for (const text of ['It was fine', 'greet']) expect(report).toContain(text);
  const refused = await patchsmith(root, ['run', '-m', 'x', '--no-tools', 'greeet'], env);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('greet')]);
});

test('a new provider answers by its name, and an ecosystem is found', async () => {
  const { root } = await makeRepository({ 'build.zig': '', 'src/main.zig': '' });
  const server = await startOpenAiServer({ apiKey: KEY, turns: [{ text: 'Done.' }] });
  onTestFinished(() => server.close());
  const runDir = join(temporaryFolder(), 'run');
  const run = await patchsmith(
    root,
    ['run', '-m', 'Do it', '--provider', 'acme', '--run-dir', runDir, '--sandbox', 'off'],
    { ACME_API_KEY: KEY, ACME_BASE_URL: server.url },
  );
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('acme-1')]);
  expect(JSON.parse(readFileSync(join(runDir, 'result.json'), 'utf8'))).toMatchObject({ provider: 'acme' });
  const init = await patchsmith(root, ['init']);
  expect([init.exitCode, readFileSync(join(root, '.patchsmith.yml'), 'utf8')]).toEqual([
    0,
    expect.stringContaining('zig build test'),
  ]);
});
