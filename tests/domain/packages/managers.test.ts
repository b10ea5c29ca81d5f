import { expect, test } from 'vitest';
import { installerFor, MANAGERS, managersOf, toolHint } from '../../../src/domain/packages.ts';
import { missingProgram } from '../../../src/domain/review/denial-signs.ts';

test.each([
  [['package.json', 'package-lock.json'], 'npm test', 'npm ci'],
  [['package.json'], 'jest', 'npm install --no-package-lock'],
  [['uv.lock', 'pyproject.toml'], 'uv run pytest', 'uv sync --locked'],
  [['pyproject.toml'], '.venv/bin/python -m pytest', 'python3 -m venv .venv && .venv/bin/pip install -e .'],
  [
    ['Gemfile', 'package.json'],
    'bundle exec rspec',
    'bundle config set --local path vendor/bundle && bundle install',
  ],
  [['composer.json'], 'vendor/bin/phpunit', 'composer install --no-interaction --no-progress'],
  [['.yarnrc.yml', 'yarn.lock'], 'yarn test', 'YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable'],
  [['go.mod', 'package.json'], 'go test ./...', undefined],
])('in a folder with %j, %s needs what is installed by: %s', (names, command, line) => {
  expect(installerFor(names, command)?.line).toBe(line);
});

test('lock files say which package managers a repository has, each once and in one order', () => {
  const names = ['Cargo.lock', 'src', 'pnpm-lock.yaml', 'settings.gradle', 'build.gradle', 'constructor'];
  expect(managersOf(names)).toEqual(['pnpm', 'cargo', 'gradle']);
  expect(managersOf(['README.md', 'Gemfile', 'package.json'])).toEqual([]);
});

test('every package manager is a program that can be installed itself', () => {
  const programs = Object.keys(MANAGERS).map((name) => ({ bundler: 'bundle', maven: 'mvn' })[name] ?? name);
  for (const program of [...programs, 'dotnet', 'make'])
    expect([program, toolHint(program)]).toEqual([program, expect.stringMatching(/^ Install \S.*: \S/)]);
  expect(toolHint('nmp')).toBe('');
});

test('the program that is missing is read from what shells and env say', () => {
  const said = (...lines: string[]) => missingProgram(lines.join('\n'))?.program;
  expect(said('ok', '/bin/bash: line 3: uv: command not found', '')).toBe('uv');
  expect(said('sh: 1: first: not found', 'sh: 1: eslint: not found', 'make: *** [lint] Error 127')).toBe(
    'eslint',
  );
  expect(said("/usr/bin/env: 'node': No such file or directory")).toBe('node');
  expect(said('make[1]: clang-tidy: No such file or directory', 'make: *** [lint] Error 127')).toBe(
    'clang-tidy',
  );
  expect(said('make: Makefile.all: No such file or directory')).toBeUndefined();
  expect(said('all is well')).toBeUndefined();
  expect(missingProgram('sh: 1: eslint: not found\ninfo Visit us.')?.line).toBe('sh: 1: eslint: not found');
});
