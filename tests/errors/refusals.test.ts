import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readInputs } from '../../src/action/read-inputs.ts';
import { lockWorkTree } from '../../src/adapters/storage/run-lock.ts';
import { UnusableFile } from '../../src/domain/errors/thrown.ts';
import { crashed } from '../../src/engine/finish/crash.ts';
import type { Session } from '../../src/engine/session.ts';
import { defineTool, run } from '../../src/library.ts';
import { git, tempFolder } from '../support/files/temp-folder.ts';
import { sourcesHere } from '../support/runs/from-sources.ts';

const KEY = { ANTHROPIC_API_KEY: 'sk-ant-test-0123456789' };
const SCRIPT = { 'script.jsonl': '{"text": "Nothing to do."}\n' };
const played = ['--provider', 'replay', '--recording', 'script.jsonl', '--sandbox', 'off'];

/** The codes that a command tells in a fresh checkout with these files. */
async function codesOf(
  args: readonly string[],
  { files = {}, env = {} }: { files?: Record<string, string>; env?: Record<string, string> } = {},
): Promise<string[]> {
  const cwd = tempFolder({ ...SCRIPT, ...files });
  git(cwd, 'init', '-q');
  const end = await sourcesHere(args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: tempFolder(), ...KEY, ...env },
  });
  expect(end.exitCode, end.stderr).toBe(2);
  return codesIn(end.stderr);
}

const codesIn = (text: string) => [...text.matchAll(/\[(ERR_[A-Z_]+)\]/g)].map(([, code]) => code ?? '');

test.each<[string, string[], Parameters<typeof codesOf>[1]?]>([
  ['ERR_NO_COMMAND', []],
  ['ERR_UNKNOWN_COMMAND', ['rum']],
  ['ERR_UNKNOWN_FLAG', ['run', '-m', 'x', '--modle', 'x']],
  ['ERR_FLAG_NOT_TAKEN', ['demo', '--force']],
  ['ERR_FLAG_WITHOUT_VALUE', ['run', '--plan']],
  ['ERR_FLAG_REPEATED', ['run', '-m', 'a', '-m', 'b']],
  ['ERR_OPERAND_MISSING', ['completion']],
  ['ERR_UNEXPECTED_WORD', ['run', '-m', 'a', 'b']],
  ['ERR_UNKNOWN_TEMPLATE', ['init', 'nothing']],
  ['ERR_NO_RELEASE', ['init', '--update']],
  ['ERR_UNKNOWN_SHELL', ['completion', 'csh']],
  ['ERR_UNKNOWN_VARIABLE', ['run', '-m', 'x'], { env: { PATCHSMITH_EFORT: 'max' } }],
  ['ERR_UNKNOWN_SETTING', ['run', '-m', 'x'], { files: { '.patchsmith.yml': 'efort: max\n' } }],
  ['ERR_INVALID_VALUE', ['run', '-m', 'x', '--fix-rounds', 'two']],
  ['ERR_NOT_FOR_PROJECT_FILE', ['run', '-m', 'x'], { files: { '.patchsmith.yml': 'sandbox: off\n' } }],
  ['ERR_PROJECT_FILE_UNREADABLE', ['run', '-m', 'x'], { files: { '.patchsmith.yml': 'a'.repeat(70_000) } }],
  ['ERR_PROJECT_FILE_INVALID', ['run', '-m', 'x'], { files: { '.patchsmith.yml': 'prose' } }],
  ['ERR_PROJECT_FILE_MISNAMED', ['run', '-m', 'x'], { files: { '.patchsmith.yaml': 'effort: max\n' } }],
  ['ERR_SETTINGS_CONFLICT', ['run', '-m', 'x', '--plan', 'p.md']],
  ['ERR_SETTING_WITHOUT_EFFECT', ['run', '-m', 'x', '--recording', 'r']],
  ['ERR_SETTING_NEEDED', ['run', '-m', 'x', '--provider', 'replay']],
  ['ERR_PRICE_UNKNOWN', ['run', '-m', 'x', '--model', 'some-model', '--max-cost-usd', '1']],
  ['ERR_INSECURE_BASE_URL', ['run', '-m', 'x', '--base-url', 'http://api.example']],
  ['ERR_COMPACTION_UNSUPPORTED', ['run', '-m', 'x', '--model', 'claude-opus-4-1', '--compaction', 'server']],
  ['ERR_NO_TASK', ['run']],
  ['ERR_NO_KEY', ['run', '-m', 'x'], { env: { ANTHROPIC_API_KEY: '' } }],
  ['ERR_NO_TOKEN', ['publish', 'x', '--repository', 'a/b']],
  ['ERR_NO_REPOSITORY_NAME', ['publish', 'x'], { env: { GITHUB_TOKEN: 'ghp_1' } }],
  [
    'ERR_FOREIGN_TEAM',
    ['publish', 'x', '--repository', 'a/b', '--team-reviewer', 'c/d'],
    { env: { GITHUB_TOKEN: 'ghp_1' } },
  ],
  ['ERR_MCP_SETTINGS', ['run', '-m', 'x', '--mcp', 'nothing']],
  [
    'ERR_MCP_NOT_COMMITTED',
    ['run', '-m', 'x', ...played],
    { files: { '.patchsmith.yml': 'mcp: { a: { command: a } }\n' } },
  ],
  ['ERR_MCP_FILE', ['run', '-m', 'x', '--mcp-config', 'nowhere.json']],
  [
    'ERR_MCP_VARIABLE',
    ['run', '-m', 'x', '--mcp-config', 'mcp.json'],
    { files: { 'mcp.json': `{"mcpServers":{"a":{"command":"a","env":{"B":"\${NOT_SET}"}}}}` } },
  ],
  ['ERR_SETUP_ENV', ['run', '-m', 'x', ...played, '--setup-env', 'NOT_SET', '--setup', 'true']],
  ['ERR_NO_ORGANIZATION', ['usage', '--organization', '--by', 'plan']],
  [
    'ERR_PROVIDER_UNUSABLE',
    ['run', '-m', 'x', '--provider', 'replay', '--recording', 'nowhere.jsonl', '--sandbox', 'off'],
  ],
  ['ERR_PLAN_UNREADABLE', ['run', '--plan', 'nowhere.md', ...played]],
  ['ERR_WORKING_DIRECTORY', ['run', '-m', 'x', '--working-directory', 'nowhere', ...played]],
  ['ERR_PRINCIPLES_UNREADABLE', ['run', '-m', 'x', '--principles', 'nowhere.md', ...played]],
  ['ERR_ANSWER_SCHEMA', ['run', '-m', 'x', '--output-schema', 'nowhere.json', ...played]],
  ['ERR_COMMAND_CANNOT_FAIL', ['run', '-m', 'x', '--verify', 'npm test &', ...played]],
  ['ERR_SETUP_FAILED', ['run', '-m', 'x', '--setup', 'exit 3', ...played]],
  ['ERR_PROGRAM_MISSING', ['run', '-m', 'x', '--verify', 'no-such-program', ...played]],
  ['ERR_UNWRITABLE', ['run', '-m', 'x', '--patch', 'nowhere/a.patch', ...played]],
  ['ERR_RUN_DIRECTORY', ['run', '-m', 'x', '--run-dir', 'here', ...played]],
  ['ERR_SANDBOX_REFUSED', ['doctor', '--mount', '/no/such/folder']],
  ['ERR_NOT_READY', ['check', '-m', 'x', '--verify', 'no-such-program'], { env: { ANTHROPIC_API_KEY: '' } }],
  ['ERR_RUN_NOT_FOUND', ['show', 'nowhere']],
])('%s', async (code, args, given) => {
  expect(await codesOf(args, given)).toContain(code);
});

test('ERR_NO_CHECKOUT', async () => {
  const cwd = tempFolder(SCRIPT);
  const end = await sourcesHere(['run', '-m', 'x', ...played], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
  });
  expect(codesIn(end.stderr)).toEqual(['ERR_NO_CHECKOUT']);
});

test('ERR_WORK_TREE_BUSY', async () => {
  const cwd = tempFolder(SCRIPT);
  git(cwd, 'init', '-q');
  const letGo = await lockWorkTree({ root: cwd, gitDir: join(cwd, '.git') });
  const env = { PATH: process.env.PATH, HOME: tempFolder() };
  const end = await sourcesHere(['run', '-m', 'x', ...played], { cwd, env });
  letGo?.();
  expect(codesIn(end.stderr)).toEqual(['ERR_WORK_TREE_BUSY']);
});

test('ERR_TEMPLATE_UNWRITTEN', async () => {
  const files = { '.github': 'a file' };
  expect(await codesOf(['init'], { files })).toEqual(['ERR_TEMPLATE_UNWRITTEN']);
});

test('several at once are reported each with its own', async () => {
  const { stdout } = await sourcesHere(['run', '--modle', 'x', '--output', 'json'], {
    cwd: tempFolder(),
    env: { PATH: process.env.PATH, HOME: tempFolder() },
  });
  const { errorCode, reason } = JSON.parse(stdout) as { errorCode: string; reason: string };
  expect(errorCode).toBe('ERR_SEVERAL_PROBLEMS');
  expect(codesIn(reason)).toEqual(['ERR_UNKNOWN_FLAG', 'ERR_NO_TASK', 'ERR_NO_KEY']);
});

test.each([
  ['ERR_UNKNOWN_INPUT', { INPUT_PLN: 'x' }],
  ['ERR_INPUT_NOT_TAKEN', { INPUT_LABEL: 'bot' }],
  ['ERR_INPUT_MISSING', { INPUT_MODE: 'publish' }],
])('%s', (code, env) => {
  expect(readInputs(env).problems.map((one) => one.code)).toEqual([code]);
});

test('ERR_UNUSABLE_FILE', () => {
  const outcome = crashed({} as Session, new UnusableFile('.gitignore', 'is a pipe'));
  expect(outcome.errorCode).toBe('ERR_UNUSABLE_FILE');
});

test('ERR_LIBRARY_TOOL', async () => {
  const tool = defineTool({
    name: 'no name',
    description: '',
    lane: 'read',
    schema: {} as never,
    execute: async () => ({ status: 'ok', text: '' }),
  } as never);
  const cwd = tempFolder();
  mkdirSync(join(cwd, 'a'));
  const { errorCode } = await run({ settings: { message: 'x' }, cwd, env: {}, tools: [tool] }).result;
  expect(errorCode).toBe('ERR_LIBRARY_TOOL');
});
