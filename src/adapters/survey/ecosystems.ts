/** Every ecosystem that is recognised, most of them as data. If two are equally likely, the first one wins. */

import { MANAGERS, type ManagerName } from '../../domain/packages.ts';
import type { Folder } from './folder.ts';
import { node } from './node.ts';
import {
  at,
  cacheOf,
  type Ecosystem,
  group,
  type Project,
  plainVersion,
  type Said,
  setupBy,
  textAt,
  type WorkflowInputs,
} from './project.ts';
import { python } from './python.ts';

/** A command, and the files that name it: one of these is there, and shows the sign. */
type CommandRule = readonly [
  command: string,
  files: string,
  sign?: RegExp | ((folder: Folder, file: string) => boolean),
];

/** An ecosystem whose commands are always the same. */
interface EcosystemRow extends Omit<Ecosystem, 'look'> {
  readonly manager: string;
  readonly lockfile?: string;
  /** Where packages come from; those of `packages`, unless named. */
  readonly hosts?: readonly string[];
  readonly packages?: ManagerName;
  /** Whether there is anything to download; absent where it is the tests that download. */
  readonly downloads?: (folder: Folder) => boolean;
  readonly test: readonly CommandRule[];
  readonly lint?: readonly CommandRule[];
  readonly build?: readonly CommandRule[];
  /** What commands make in the checkout, other than packages. */
  readonly makes?: string;
  readonly decision?: string;
  installs?(folder: Folder): WorkflowInputs | Promise<WorkflowInputs>;
}

const RUBY_FILES = 'Gemfile Gemfile.lock *.gemspec';
const JVM_VERSION = /^(?:java=)?(?:[a-z]{1,20}-)?(\d+(?:\.\d+){0,3})\b/m;
const GRADLE = '--no-daemon --console=plain';
const CMAKE = 'cmake -B build && cmake --build build';

const ROWS: readonly EcosystemRow[] = [
  {
    name: 'Go',
    extensions: ['.go'],
    manifests: ['go.mod'],
    manager: 'go',
    lockfile: 'go.sum',
    packages: 'go',
    downloads: ({ names }) => names.has('go.sum') && !names.has('vendor'),
    test: [['go test ./...', 'go.mod']],
    build: [['go build ./...', 'go.mod']],
    installs: ({ text }) => {
      const version = plainVersion(group(/^(?:toolchain go|go[ \t]+)(\d[\d.]*)[ \t\r]*$/m, text('go.mod')));
      return { 'go-version': version ?? 'stable' };
    },
  },
  {
    name: 'Rust',
    extensions: ['.rs'],
    manifests: ['Cargo.toml'],
    manager: 'cargo',
    lockfile: 'Cargo.lock',
    packages: 'cargo',
    downloads: ({ text }) =>
      /^\[(?:workspace|target|(?:dev-|build-)?dependencies)\b/m.test(text('Cargo.toml')),
    test: [
      ['cargo test --locked --workspace', 'Cargo.lock'],
      ['cargo test --workspace', 'Cargo.toml'],
    ],
    lint: [['cargo fmt --all --check', 'rustfmt.toml .rustfmt.toml']],
    build: [['cargo build --workspace', 'Cargo.toml']],
    makes: 'target',
    installs: async (folder) => ({ install: `rustup toolchain install ${await toolchainOf(folder)}` }),
  },
  {
    name: 'Java',
    extensions: ['.java', '.kt', '.scala'],
    manifests: ['pom.xml'],
    manager: 'maven',
    packages: 'maven',
    test: [
      ['./mvnw -B -ntp test', 'mvnw'],
      ['mvn -B -ntp test', 'pom.xml'],
    ],
    build: [
      ['./mvnw -B -ntp package -DskipTests', 'mvnw'],
      ['mvn -B -ntp package -DskipTests', 'pom.xml'],
    ],
    installs: (folder) =>
      java(
        folder,
        'pom.xml',
        /<(?:maven\.compiler\.(?:release|source|target)|java\.version|release)>\s*([\d.]+)\s*</,
      ),
  },
  {
    name: 'Java',
    extensions: ['.java', '.kt', '.groovy', '.scala'],
    manifests: ['settings.gradle.kts', 'settings.gradle', 'build.gradle.kts', 'build.gradle'],
    manager: 'gradle',
    lockfile: 'gradle.lockfile',
    packages: 'gradle',
    // Its wrapper loads Gradle.
    hosts: [...MANAGERS.gradle.hosts, 'services.gradle.org', 'downloads.gradle.org'],
    test: [
      [`./gradlew ${GRADLE} test`, 'gradlew'],
      [`gradle ${GRADLE} test`, '*.gradle *.gradle.kts'],
    ],
    build: [
      [`./gradlew ${GRADLE} assemble`, 'gradlew'],
      [`gradle ${GRADLE} assemble`, '*.gradle *.gradle.kts'],
    ],
    installs: (folder) =>
      java(
        folder,
        folder.first('build.gradle.kts', 'build.gradle'),
        /(?:JavaLanguageVersion\.of|jvmToolchain)\((\d+)\)/,
      ),
  },
  {
    name: 'Ruby',
    extensions: ['.rb', '.rake', '.erb'],
    manifests: ['Gemfile', '*.gemspec'],
    manager: 'bundler',
    lockfile: 'Gemfile.lock',
    packages: 'bundler',
    downloads: () => true,
    test: [
      ['bundle exec rspec', '.rspec'],
      ['bundle exec rspec', RUBY_FILES, /\brspec\b/],
      ['bundle exec rails test', 'Gemfile', /^[ \t]*gem ["']rails["']/m],
      ['bundle exec rake test', 'Rakefile', /TestTask|task[ (]:?["']?test\b/],
    ],
    lint: [
      [
        'bundle exec rubocop',
        RUBY_FILES,
        ({ names, text }, file) => names.has('.rubocop.yml') && /\brubocop\b/.test(text(file)),
      ],
    ],
    decision: runnersOwn('Ruby'),
  },
  {
    name: 'PHP',
    extensions: ['.php'],
    manifests: ['composer.json'],
    manager: 'composer',
    lockfile: 'composer.lock',
    packages: 'composer',
    downloads: () => true,
    test: [
      ['composer test', 'composer.json', ({ json }, file) => at(json(file), 'scripts', 'test') !== undefined],
      ['vendor/bin/pest', 'composer.json', /"pestphp\/pest"/],
      ['vendor/bin/phpunit', 'phpunit.xml phpunit.xml.dist phpunit.dist.xml'],
      ['vendor/bin/phpunit', 'composer.json', /"phpunit\/phpunit"/],
    ],
    lint: [
      [
        'vendor/bin/phpstan analyse --no-progress',
        'phpstan.neon phpstan.neon.dist phpstan.dist.neon',
        ({ text }) => text('composer.json').includes('"phpstan/phpstan"'),
      ],
    ],
    decision: `Composer downloads packages from codeload.github.com: anyone with a repository there could receive data. Decide whether commands may reach it. ${runnersOwn('PHP')}`,
  },
  {
    name: '.NET',
    extensions: ['.cs', '.fs', '.vb'],
    manifests: ['*.sln', '*.slnx', '*.csproj', '*.fsproj'],
    manager: 'nuget',
    lockfile: 'packages.lock.json',
    hosts: ['api.nuget.org'],
    test: [['dotnet test', '*.sln *.slnx *.csproj *.fsproj']],
    build: [['dotnet build', '*.sln *.slnx *.csproj *.fsproj']],
    installs: ({ first, text, json }) => {
      const exact = plainVersion(textAt(json('global.json'), 'sdk', 'version'));
      const project = text(first('*.csproj', '*.fsproj', 'Directory.Build.props'));
      const major = group(/<TargetFrameworks?>[^<]*\bnet(\d+)\.0/, project) || '9';
      return { 'dotnet-version': exact ?? `${major}.0.x` };
    },
  },
  {
    name: 'CMake',
    extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.cmake'],
    manifests: ['CMakeLists.txt'],
    manager: 'cmake',
    test: [
      [
        `${CMAKE} && ctest --test-dir build --output-on-failure`,
        'CMakeLists.txt',
        /^[ \t]*(?:enable_testing\s*\(|include\s*\(\s*CTest\b)/im,
      ],
    ],
    build: [[CMAKE, 'CMakeLists.txt']],
    makes: 'build',
  },
  {
    name: 'Meson',
    extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.vala'],
    manifests: ['meson.build'],
    manager: 'meson',
    // Its first part does nothing where there is a build.
    test: [
      [
        'meson setup build && meson test -C build --print-errorlogs',
        'meson.build',
        /^[ \t]*(?:test\s*\(|subdir\s*\(\s*'tests?')/m,
      ],
    ],
    build: [['meson setup build && meson compile -C build', 'meson.build']],
    makes: 'build',
    installs: () => ({ install: 'pipx install meson ninja' }),
  },
  // For projects of other languages.
  {
    name: 'Make',
    extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.sh'],
    manifests: ['GNUmakefile', 'makefile', 'Makefile'],
    manager: 'make',
    test: makeTargets('test', 'check'),
    lint: makeTargets('lint'),
    build: [['make', 'GNUmakefile makefile Makefile']],
  },
];

/** What a makefile has for tests. */
export const makeTest = (folder: Folder) => saidBy(folder, makeTargets('test', 'check'));

function makeTargets(...names: readonly string[]): CommandRule[] {
  return names.map((name) => [
    `make ${name}`,
    'GNUmakefile makefile Makefile',
    ({ text }, file) =>
      text(file)
        .split('\n')
        .some((line) => /^([^\s#:=][^:=#]*)::?(?![:=])/.exec(line)?.[1]?.split(/\s+/).includes(name)),
  ]);
}

/** GitHub itself has no action that installs it, and others are not permitted everywhere. */
function runnersOwn(language: string): string {
  return `Workflows use the ${language} of the runner: for another version, name a container or a runner in the workflow.`;
}

/** The toolchain that the project names, with its parts, as arguments of rustup. */
async function toolchainOf(folder: Folder): Promise<string> {
  const file = folder.first('rust-toolchain', 'rust-toolchain.toml') ?? '';
  const named = at(await folder.toml(file), 'toolchain');
  const plain = (value: unknown) => [value].flat().filter((one) => /^[a-z\d][\w.-]{0,60}$/.test(String(one)));
  const [channel = 'stable'] = plain(textAt(named, 'channel') || folder.text(file).trim());
  const parts = Object.entries({ profile: 'profile', component: 'components', target: 'targets' });
  return [
    channel,
    ...parts.flatMap(([option, key]) => plain(at(named, key) ?? []).map((one) => `--${option} ${one}`)),
  ].join(' ');
}

/** The version that a file for version managers names, else one that can compile for the release that `file` names. */
function java(folder: Folder, file: string | null, release: RegExp): WorkflowInputs {
  const own = group(JVM_VERSION, folder.text(folder.first('.java-version', '.sdkmanrc')));
  const wanted = Number(group(release, folder.text(file)));
  const version = own || (Number.isInteger(wanted) && wanted > 17 ? String(wanted) : '21');
  return { 'java-version': version };
}

/** The first that holds. */
function saidBy(folder: Folder, rules: readonly CommandRule[] = []): Said | null {
  for (const [text, files, sign] of rules) {
    const from = files
      .split(' ')
      .map((one) => folder.first(one))
      .find((file) => {
        if (file === null || sign === undefined) return file !== null;
        return typeof sign === 'function' ? sign(folder, file) : sign.test(folder.text(file));
      });
    if (from) return { text, from };
  }
  return null;
}

/** What the files of a project say by the rules of its row. */
async function projectBy(row: EcosystemRow, folder: Folder, file: string): Promise<Project> {
  const { packages, downloads } = row;
  const hosts = row.hosts ?? (packages === undefined ? [] : MANAGERS[packages].hosts);
  const lockfile = row.lockfile === undefined ? null : folder.first(row.lockfile);
  const test = saidBy(folder, row.test);
  const isLoaded = downloads?.(folder) ?? true;
  const hasSetup = isLoaded && downloads !== undefined && packages !== undefined;
  return {
    manager: { text: row.manager, from: file },
    lockfile,
    setup: hasSetup ? [setupBy(packages, lockfile, file)] : [],
    test,
    lint: saidBy(folder, row.lint),
    build: saidBy(folder, row.build),
    domains: isLoaded ? hosts : [],
    cache: isLoaded && packages ? cacheOf(folder, packages, hasSetup ? undefined : test?.text) : null,
    installs: (await row.installs?.(folder)) ?? {},
    makes: row.makes ?? (hasSetup ? MANAGERS[packages].makes : null),
    decisions: row.decision === undefined ? [] : [row.decision],
  };
}

/** A makefile comes last, as the fallback. */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  node,
  python,
  ...ROWS.map((row): Ecosystem => ({ ...row, look: (folder, file) => projectBy(row, folder, file) })),
];
