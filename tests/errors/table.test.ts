import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAILURE_MEANINGS } from '../../src/commands/help.ts';
import { COMMANDS } from '../../src/commands/registry.ts';
import { settingEntries } from '../../src/config/schema.ts';
import { ERROR_AREAS, errorsIn } from '../../src/domain/errors/registry.ts';
import { WARNING_AREAS } from '../../src/domain/warnings/registry.ts';
import { sourcesHere } from '../support/runs/from-sources.ts';

/** Without the helpers: a code counts where a test expects it. */
const tests = readdirSync('tests', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => readFileSync(`tests/${path}`, 'utf8'))
  .join('\n');

const errors = Object.values(ERROR_AREAS).flatMap(errorsIn);
const warnings = Object.assign({}, ...Object.values(WARNING_AREAS));

const texts = [
  ...errors.map(({ text }) => text),
  ...Object.values<string>(warnings),
  ...Object.values(FAILURE_MEANINGS),
];

test.each([
  ['an error', errors.map(({ code }) => code)],
  ['a warning', Object.keys(warnings)],
  ['a failed call', Object.keys(FAILURE_MEANINGS)],
])('every code of %s is one that a test provokes', (_, codes) => {
  const expected = codes.filter((code) => new RegExp(`['[]${code}\\b`).test(tests));
  expect(codes.filter((code) => !expected.includes(code))).toEqual([]);
});

test('every flag that the table names is there', () => {
  const flags = [
    ...settingEntries().map(({ flag }) => `--${flag}`),
    ...COMMANDS.flatMap(({ switches }) => Object.keys(switches).map((name) => `--${name}`)),
    '--help',
    // Of npm and git, and of an example.
    '--global',
    '--all',
    '--ignored',
    '--flag',
  ];
  const named = texts.flatMap((text) => text.match(/--[a-z][a-z-]*/g) ?? []);
  expect(named.filter((flag) => !flags.includes(flag))).toEqual([]);
});

test('every page that the table names is there', () => {
  const pages = texts.flatMap((text) => text.match(/docs\/[\w-]+\.md/g) ?? []);
  for (const page of pages) expect(readFileSync(page, 'utf8')).toMatch(/^# /);
});

test('help explains a code', async () => {
  const said = (code: string) => sourcesHere(['help', code], { cwd: '/', env: {} });
  const all = (await said('codes')).stdout;
  expect(texts.filter((text) => !all.includes(text))).toEqual([]);
  expect(await said('ERR_NO_TASK')).toEqual({
    exitCode: 0,
    stdout: `ERR_NO_TASK: usage_error (exit 2)\n\n${errors.find(({ code }) => code === 'ERR_NO_TASK')?.text}\n`,
    stderr: '',
  });
  expect((await said('ERR_NO_CHANGE')).stdout).toContain('no_change (exit 3)');
  expect((await said('ERR_INTERRUPTED')).stdout).toContain('(exit 129, 130, 143)');
  expect((await said('ERR_OTHER')).stdout).toContain('There is no error "ERR_OTHER"');
  expect((await said('WARN_NO_SANDBOX')).stdout).toBe(
    `WARN_NO_SANDBOX: a warning, which ends nothing\n\n${warnings.WARN_NO_SANDBOX}\n`,
  );
  expect((await said('WARN_OTHER')).stdout).toContain('There is no warning "WARN_OTHER"');
  expect((await said('path_refused')).stdout).toContain('path_refused: why a tool call failed\n');
});
