/**
 * Package managers as data: how each installs, from where, and the files of a project that name it. And the programs that commands
 * name, with what to type if the machine lacks them.
 */

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

const apt = (packages: string) => `sudo apt-get install ${packages}`;

/** What is installed together: as people call it, and what to type, on Debian and Ubuntu where that differs. */
type Toolkit = readonly [name: string, programs: readonly string[], line: string, others?: readonly string[]];

/** `programs` are named to the model and tried by `doctor`; `others` are installed with them, and only known by name. */
const TOOLS: readonly Toolkit[] = [
  ['git', ['git'], apt('git')],
  ['Node.js', ['node', 'npm'], apt('nodejs npm'), ['npx']],
  ['pnpm', ['pnpm'], 'npm install --global pnpm', ['pnpx']],
  ['Yarn', ['yarn'], 'npm install --global yarn'],
  // Not the name of a program: Yarn 2 and later is called yarn, too.
  ['Yarn 2 or later', [], 'npm install --global @yarnpkg/cli-dist', ['berry']],
  ['Bun', ['bun'], 'npm install --global bun', ['bunx']],
  ['Deno', ['deno'], 'npm install --global deno'],
  ['Python', ['python3', 'pip3'], apt('python3-venv'), ['python', 'pip']],
  ['uv', ['uv'], 'pipx install uv', ['uvx']],
  ['Poetry', ['poetry'], 'pipx install poetry'],
  ['tox', ['tox'], 'pipx install tox'],
  ['Go', ['go'], 'see https://go.dev/dl, which has the version that go.mod names', ['gofmt']],
  ['Rust', ['cargo', 'rustc'], "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh", ['rustup']],
  ['Java', ['java'], apt('default-jdk'), ['javac']],
  ['Maven', ['mvn'], apt('maven')],
  ['Gradle', ['gradle'], apt('gradle')],
  ['Ruby', ['ruby'], apt('ruby-full'), ['gem']],
  ['Bundler', ['bundle'], apt('ruby-bundler'), ['bundler']],
  ['Perl', ['perl'], apt('perl')],
  ['PHP', ['php'], apt('php-cli')],
  ['Composer', ['composer'], apt('composer')],
  ['.NET', ['dotnet'], 'see https://learn.microsoft.com/dotnet/core/install/linux'],
  ['a compiler and make', ['make', 'gcc'], apt('build-essential'), ['cc', 'g++']],
  ['CMake', ['cmake'], apt('cmake')],
  ['Meson', ['meson'], apt('meson')],
];

/** Programs that are worth naming where they are on PATH. */
export const KNOWN_PROGRAMS: readonly string[] = TOOLS.flatMap(([, programs]) => programs);

/** A sentence with a leading space that says how to install the program; empty for one that is not in the table. */
export function toolHint(program: string): string {
  const line = installLine(program);
  return line === null ? '' : ` Install ${line} – or see with patchsmith doctor whether commands see it.`;
}

/** The package that the program belongs to, and the command that installs it; null if it is not in the table. */
export function installLine(program: string): string | null {
  const tool = TOOLS.find(([, programs, , others = []]) => [...programs, ...others].includes(program));
  return tool === undefined ? null : `${tool[0]}: ${tool[2]}`;
}
