/** How a project's packages are installed: for the commands that `init` writes, and for what a run says where none are. */

import { PACKAGE_MANAGERS, type PackageManager } from './package-manager.ts';

/** One package manager. */
export interface Installer {
  /** Exactly what the lock file says. */
  readonly locked: string;
  /** Where there is no lock file, and without making one: that would be a change of the repository. */
  readonly unlocked: string;
  /** Hosts that it loads from. */
  readonly hosts: readonly string[];
  /** The path that exists once it has run. */
  readonly makes: string;
}

const PYPI = { hosts: ['pypi.org', 'files.pythonhosted.org'], makes: '.venv' };
const NPM = { hosts: ['registry.npmjs.org'], makes: 'node_modules' };
const VENV = 'python3 -m venv .venv && .venv/bin/pip install';
const POETRY = 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install';
const BUNDLE = 'bundle config set --local path vendor/bundle && bundle install';
const COMPOSER = 'composer install --no-interaction --no-progress';

/** What managers ask that keep packages outside of the checkout. */
export const HOSTS = {
  cargo: ['index.crates.io', 'static.crates.io'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  maven: ['repo.maven.apache.org'],
  gradle: ['plugins.gradle.org', 'plugins-artifacts.gradle.org', 'repo.maven.apache.org', 'repo1.maven.org'],
  /** Gradle's wrapper, besides: it loads Gradle. */
  gradlew: ['services.gradle.org', 'downloads.gradle.org'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** By the name of the manager. `berry` is Yarn 2 and later. */
export const INSTALLERS = {
  npm: { ...NPM, locked: 'npm ci', unlocked: 'npm install --no-package-lock' },
  pnpm: { ...NPM, locked: 'pnpm install --frozen-lockfile', unlocked: 'pnpm install --no-lockfile' },
  yarn: {
    hosts: [...NPM.hosts, 'registry.yarnpkg.com'],
    makes: NPM.makes,
    locked: 'yarn install --frozen-lockfile',
    unlocked: 'yarn install --no-lockfile',
  },
  // Caches in the home folder are gone after each command, and packages can stay in Yarn's own.
  berry: {
    hosts: [...NPM.hosts, 'registry.yarnpkg.com'],
    makes: NPM.makes,
    locked: 'YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable',
    unlocked: 'YARN_ENABLE_GLOBAL_CACHE=false yarn install',
  },
  bun: { ...NPM, locked: 'bun install --frozen-lockfile', unlocked: 'bun install --no-save' },
  uv: { ...PYPI, locked: 'uv sync --locked', unlocked: 'uv sync' },
  poetry: { ...PYPI, locked: POETRY, unlocked: POETRY },
  pip: { ...PYPI, locked: `${VENV} -r requirements.txt`, unlocked: `${VENV} -e .` },
  bundler: {
    hosts: ['rubygems.org', 'index.rubygems.org'],
    makes: 'vendor/bundle',
    locked: BUNDLE,
    unlocked: BUNDLE,
  },
  composer: {
    hosts: ['repo.packagist.org', 'api.github.com', 'codeload.github.com'],
    makes: 'vendor',
    locked: COMPOSER,
    unlocked: COMPOSER,
  },
} as const satisfies Readonly<Record<string, Installer>>;

type ManagerName = keyof typeof INSTALLERS;

const NODE =
  /\b(?:npm|npx|pnpm|yarn|bun|node|tsc|tsx|eslint|prettier|biome|vitest|jest|mocha|ava|tap|c8|nyc)\b/;
const PYTHON = /\b(?:python[\d.]*|pytest|pip|uv|poetry|tox|nox|ruff|mypy|flake8|black)\b/;
const RUBY = /\b(?:bundler?|ruby|rake|rspec|rails|rubocop)\b/;
const PHP = /\b(?:php|composer|phpunit|phpstan|pest)\b/;

/** Files of a project's root, and the words of commands that need what they install. The first file that exists counts. */
const FILES: readonly (readonly [
  file: string,
  manager: ManagerName,
  how: 'locked' | 'unlocked',
  serves: RegExp,
])[] = [
  ['pnpm-lock.yaml', 'pnpm', 'locked', NODE],
  ['.yarnrc.yml', 'berry', 'locked', NODE],
  ['yarn.lock', 'yarn', 'locked', NODE],
  ['bun.lock', 'bun', 'locked', NODE],
  ['bun.lockb', 'bun', 'locked', NODE],
  ['package-lock.json', 'npm', 'locked', NODE],
  ['npm-shrinkwrap.json', 'npm', 'locked', NODE],
  ['package.json', 'npm', 'unlocked', NODE],
  ['uv.lock', 'uv', 'locked', PYTHON],
  ['poetry.lock', 'poetry', 'locked', PYTHON],
  ['requirements.txt', 'pip', 'locked', PYTHON],
  ['pyproject.toml', 'pip', 'unlocked', PYTHON],
  ['setup.py', 'pip', 'unlocked', PYTHON],
  ['Gemfile', 'bundler', 'locked', RUBY],
  ['composer.json', 'composer', 'locked', PHP],
];

/** What `installerFor` finds. */
export interface Installing {
  readonly line: string;
  readonly hosts: readonly string[];
  readonly makes: string;
  /** The preset of `--cache` for it, or null if none helps. */
  readonly cache: PackageManager | null;
}

/** What installs the packages that a command needs, by the names in the root; null where they do not tell. */
export function installerFor(names: readonly string[], command: string): Installing | null {
  const found = FILES.find(([file, , , serves]) => names.includes(file) && serves.test(command));
  if (found === undefined) return null;
  const [, manager, how] = found;
  const { hosts, makes, [how]: line } = INSTALLERS[manager];
  const cache = PACKAGE_MANAGERS.find((one) => one === manager && one !== 'bundler') ?? null;
  return { line, hosts, makes, cache };
}
