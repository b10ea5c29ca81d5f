/** Package managers as data: how each installs, from where, and the files of a project that name it. */

/** Those whose caches commands may use, as given to `--cache`. */
export const PACKAGE_MANAGERS = [
  'npm',
  'pnpm',
  'yarn',
  'uv',
  'cargo',
  'go',
  'maven',
  'gradle',
  'bundler',
] as const;

/** One of `PACKAGE_MANAGERS`. */
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** One package manager. */
interface Manager {
  /** Exactly what the lock file says; it also fills the manager's cache. */
  readonly locked: string;
  /** Where there is no lock file, and without making one: that would be a change of the repository. */
  readonly unlocked: string;
  /** Hosts that it loads from. */
  readonly hosts: readonly string[];
  /** The path in the checkout that exists once it has run; null if packages stay elsewhere. */
  readonly makes: string | null;
}

const NPM = { hosts: ['registry.npmjs.org'], makes: 'node_modules' };
const YARN = { hosts: [...NPM.hosts, 'registry.yarnpkg.com'], makes: NPM.makes };
const PYPI = { hosts: ['pypi.org', 'files.pythonhosted.org'], makes: '.venv' };
const VENV = 'python3 -m venv .venv && .venv/bin/pip install';
const same = (line: string) => ({ locked: line, unlocked: line });

/** By name. `berry` is Yarn 2 and later. */
export const MANAGERS = {
  npm: {
    ...NPM,
    locked: 'npm ci',
    unlocked: 'npm install --no-package-lock',
  },
  pnpm: {
    ...NPM,
    locked: 'pnpm install --frozen-lockfile',
    unlocked: 'pnpm install --no-lockfile',
  },
  yarn: {
    ...YARN,
    locked: 'yarn install --frozen-lockfile',
    unlocked: 'yarn install --no-lockfile',
  },
  // Caches in the home folder are gone after each command, and packages can stay in Yarn's own.
  berry: {
    ...YARN,
    locked: 'YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable',
    unlocked: 'YARN_ENABLE_GLOBAL_CACHE=false yarn install',
  },
  bun: { ...NPM, locked: 'bun install --frozen-lockfile', unlocked: 'bun install --no-save' },
  uv: { ...PYPI, locked: 'uv sync --locked', unlocked: 'uv sync' },
  poetry: { ...PYPI, ...same('POETRY_VIRTUALENVS_IN_PROJECT=true poetry install') },
  pip: { ...PYPI, locked: `${VENV} -r requirements.txt`, unlocked: `${VENV} -e .` },
  // A bundle with its own folder does not use the machine's gems.
  bundler: {
    hosts: ['rubygems.org', 'index.rubygems.org'],
    makes: 'vendor/bundle',
    ...same('bundle config set --local path vendor/bundle && bundle install'),
  },
  composer: {
    hosts: ['repo.packagist.org', 'api.github.com', 'codeload.github.com'],
    makes: 'vendor',
    ...same('composer install --no-interaction --no-progress'),
  },
  cargo: {
    hosts: ['index.crates.io', 'static.crates.io'],
    makes: null,
    locked: 'cargo fetch --locked',
    unlocked: 'cargo fetch',
  },
  go: {
    hosts: ['proxy.golang.org', 'sum.golang.org'],
    makes: null,
    ...same('go mod download'),
  },
  maven: { hosts: ['repo.maven.apache.org'], makes: null, ...same('mvn test') },
  gradle: {
    hosts: ['plugins.gradle.org', 'plugins-artifacts.gradle.org', 'repo.maven.apache.org', 'repo1.maven.org'],
    makes: null,
    ...same('gradle test'),
  },
} as const satisfies Readonly<Record<string, Manager>>;

/** Names of folders that package managers, compilers and test runners fill, and can fill again. */
export const FILLED_FOLDERS: ReadonlySet<string> = new Set([
  ...['node_modules', '.yarn', '.pnpm-store', '.next', '.turbo', '.cache', '.venv', 'venv', 'site-packages'],
  ...['__pycache__', '.tox', '.nox', '.mypy_cache', '.pytest_cache', '.ruff_cache', 'vendor', '.bundle'],
  ...['target', '.gradle', '.m2', 'Pods', 'deps', '_build'],
]);

/** A key of `MANAGERS`. */
export type ManagerName = keyof typeof MANAGERS;

const NODE =
  /\b(?:npm|npx|pnpm|yarn|bun|node|tsc|tsx|eslint|prettier|biome|vitest|jest|mocha|ava|tap|c8|nyc)\b/;
const PYTHON = /\b(?:python[\d.]*|pytest|pip|uv|poetry|tox|nox|ruff|mypy|flake8|black)\b/;
const RUBY = /\b(?:bundler?|ruby|rake|rspec|rails|rubocop)\b/;
const PHP = /\b(?:php|composer|phpunit|phpstan|pest)\b/;
/** For files of managers that keep packages outside of the checkout. */
const NO_COMMAND = /^\b$/;

/**
 * Files of a project's root, the manager that each names, how that installs, and the words of commands that need it. Of a build's
 * own file, where the manager has no lock file by default. Earlier ones come first.
 */
const FILES: readonly (readonly [
  file: string,
  manager: ManagerName,
  how: 'locked' | 'unlocked',
  serves: RegExp,
])[] = [
  ['package-lock.json', 'npm', 'locked', NODE],
  ['npm-shrinkwrap.json', 'npm', 'locked', NODE],
  ['pnpm-lock.yaml', 'pnpm', 'locked', NODE],
  ['.yarnrc.yml', 'berry', 'locked', NODE],
  ['yarn.lock', 'yarn', 'locked', NODE],
  ['bun.lock', 'bun', 'locked', NODE],
  ['bun.lockb', 'bun', 'locked', NODE],
  ['package.json', 'npm', 'unlocked', NODE],
  ['uv.lock', 'uv', 'locked', PYTHON],
  ['poetry.lock', 'poetry', 'locked', PYTHON],
  ['requirements.txt', 'pip', 'locked', PYTHON],
  ['pyproject.toml', 'pip', 'unlocked', PYTHON],
  ['setup.py', 'pip', 'unlocked', PYTHON],
  ['Gemfile.lock', 'bundler', 'locked', RUBY],
  ['Gemfile', 'bundler', 'unlocked', RUBY],
  ['composer.json', 'composer', 'locked', PHP],
  ['Cargo.lock', 'cargo', 'locked', NO_COMMAND],
  ['go.sum', 'go', 'locked', NO_COMMAND],
  ['pom.xml', 'maven', 'locked', NO_COMMAND],
  ['gradle.lockfile', 'gradle', 'locked', NO_COMMAND],
  ['build.gradle', 'gradle', 'locked', NO_COMMAND],
  ['build.gradle.kts', 'gradle', 'locked', NO_COMMAND],
  ['settings.gradle', 'gradle', 'locked', NO_COMMAND],
  ['settings.gradle.kts', 'gradle', 'locked', NO_COMMAND],
];

/** The package managers with a cache of a folder with files of these names, in the order of `PACKAGE_MANAGERS`. */
export function managersOf(names: readonly string[]): PackageManager[] {
  const locking = FILES.filter(([file, , how]) => how === 'locked' && names.includes(file));
  return PACKAGE_MANAGERS.filter((manager) => locking.some(([, one]) => one === manager));
}

/** What `installerFor` finds. */
export interface Installing {
  readonly line: string;
  readonly hosts: readonly string[];
  readonly makes: string;
}

/** What installs the packages that a command needs, by the names in the root; null where they do not tell. */
export function installerFor(names: readonly string[], command: string): Installing | null {
  const found = FILES.find(([file, , , serves]) => names.includes(file) && serves.test(command));
  if (found === undefined) return null;
  const [, manager, how] = found;
  const { hosts, makes, [how]: line } = MANAGERS[manager];
  return makes === null ? null : { line, hosts, makes };
}
