/** Every ecosystem that is recognised. If two are equally likely, the first one wins. */

import { MANAGERS } from '../../domain/packages/managers.ts';
import { node } from './node.ts';
import {
  at,
  cacheOf,
  type Ecosystem,
  type Folder,
  found,
  group,
  keysAt,
  linter,
  type Said,
  textAt,
} from './project.ts';
import { python } from './python.ts';
import { php, ruby } from './scripted.ts';
import { plainVersion, setup } from './workflow-step.ts';

const go: Ecosystem = {
  name: 'Go',
  extensions: ['.go'],
  versionCommand: 'go version',
  manifests: ['go.mod'],
  async look(folder, file) {
    const lockfile = folder.first('go.sum');
    const needsPackages = lockfile !== null && !folder.names.has('vendor');
    const version = plainVersion(group(/^(?:toolchain go|go[ \t]+)(\d[\d.]*)[ \t\r]*$/m, folder.text(file)));
    const rules = folder.first('.golangci.yml', '.golangci.yaml', '.golangci.toml');
    return {
      manager: found('go', file),
      lockfile,
      setup: needsPackages ? [found(MANAGERS.go.locked, lockfile)] : [],
      test: found('go test ./...', file),
      lint: linter('golangci-lint run', rules, false),
      build: found('go build ./...', file),
      domains: needsPackages ? MANAGERS.go.hosts : [],
      cache: needsPackages ? cacheOf(folder, 'go') : null,
      steps: [setup('Go', 'actions/setup-go', { 'go-version': version ?? 'stable', cache: 'false' })],
    };
  },
};

const rust: Ecosystem = {
  name: 'Rust',
  extensions: ['.rs'],
  versionCommand: 'cargo --version',
  manifests: ['Cargo.toml'],
  async look(folder, file) {
    const manifest = await folder.toml(file);
    const lockfile = folder.first('Cargo.lock');
    const flags = `${lockfile === null ? '' : ' --locked'}${at(manifest, 'workspace') === undefined ? '' : ' --workspace'}`;
    const tables = ['dependencies', 'dev-dependencies', 'build-dependencies', 'workspace', 'target'];
    const needsPackages = tables.some((table) => keysAt(manifest, table).length > 0);
    const rules = folder.first('rustfmt.toml', '.rustfmt.toml') ?? folder.inWorkflows('cargo fmt', 'rustfmt');
    const fetch = MANAGERS.cargo[lockfile === null ? 'unlocked' : 'locked'];
    return {
      manager: found('cargo', file),
      lockfile,
      setup: needsPackages ? [found(fetch, lockfile ?? file)] : [],
      test: found(`cargo test${flags}`, file),
      lint: linter('cargo fmt --all --check', rules, true),
      build: found(`cargo build${flags}`, file),
      domains: needsPackages ? MANAGERS.cargo.hosts : [],
      cache: needsPackages ? cacheOf(folder, 'cargo') : null,
      steps: [{ name: 'Install Rust', run: `rustup toolchain install ${await toolchainOf(folder)}` }],
      makes: 'target',
    };
  },
};

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

const maven: Ecosystem = {
  name: 'Java',
  extensions: ['.java', '.kt', '.scala'],
  versionCommand: 'java --version',
  manifests: ['pom.xml'],
  async look(folder, file) {
    const release = /<(?:maven\.compiler\.(?:release|source|target)|java\.version|release)>\s*([\d.]+)\s*</;
    const run = (task: string) => tool(folder, 'mvnw', 'mvn', `-B -ntp ${task}`, file);
    return {
      manager: found('maven', file),
      test: run('test'),
      build: run('package -DskipTests'),
      cache: cacheOf(folder, 'maven', { filledBy: run('test').text }),
      domains: MANAGERS.maven.hosts,
      steps: [java(folder, group(release, folder.text(file)))],
    };
  },
};

const gradle: Ecosystem = {
  name: 'Java',
  extensions: ['.java', '.kt', '.groovy', '.scala'],
  versionCommand: 'java --version',
  manifests: ['settings.gradle.kts', 'settings.gradle', 'build.gradle.kts', 'build.gradle'],
  async look(folder, file) {
    const build = folder.text(folder.first('build.gradle.kts', 'build.gradle'));
    const language = group(/(?:JavaLanguageVersion\.of|jvmToolchain)\((\d+)\)/, build);
    const run = (task: string) =>
      tool(folder, 'gradlew', 'gradle', `--no-daemon --console=plain ${task}`, file);
    // Its wrapper loads Gradle.
    const ofWrapper = folder.names.has('gradlew') ? ['services.gradle.org', 'downloads.gradle.org'] : [];
    return {
      manager: found('gradle', file),
      lockfile: folder.first('gradle.lockfile'),
      test: run('test'),
      build: run('assemble'),
      cache: cacheOf(folder, 'gradle', { filledBy: run('test').text }),
      domains: [...MANAGERS.gradle.hosts, ...ofWrapper],
      steps: [java(folder, language)],
    };
  },
};

/** A command of a build tool, by its wrapper where the project has one. */
function tool(folder: Folder, wrapper: string, name: string, task: string, file: string): Said {
  return folder.names.has(wrapper)
    ? found(`./${wrapper} ${task}`, `${wrapper}, ${file}`)
    : found(`${name} ${task}`, file);
}

/** The version that a file for version managers names, else one that can compile for `release`. */
function java(folder: Folder, release: string) {
  const named = folder.text(folder.first('.java-version', '.sdkmanrc'));
  const own = group(/^(?:java=)?(?:[a-z]{1,20}-)?(\d+(?:\.\d+){0,3})\b/m, named);
  const wanted = Number(release);
  const version = own || (Number.isInteger(wanted) && wanted > 17 ? String(wanted) : '21');
  return setup('Java', 'actions/setup-java', { distribution: 'temurin', 'java-version': version });
}

const dotnet: Ecosystem = {
  name: '.NET',
  extensions: ['.cs', '.fs', '.vb'],
  versionCommand: null,
  manifests: ['*.sln', '*.slnx', '*.csproj', '*.fsproj'],
  async look(folder, file) {
    const several = [...folder.names].filter((name) => /\.slnx?$/.test(name)).length > 1;
    const exact = plainVersion(textAt(folder.json('global.json'), 'sdk', 'version'));
    const project = folder.text(folder.first('*.csproj', '*.fsproj', 'Directory.Build.props'));
    const major = group(/<TargetFrameworks?>[^<]*\bnet(\d+)\.0/, project) || '9';
    return {
      manager: found('nuget', file),
      lockfile: folder.first('packages.lock.json'),
      test: found('dotnet test', file),
      build: found('dotnet build', file),
      domains: ['api.nuget.org'],
      steps: [setup('.NET', 'actions/setup-dotnet', { 'dotnet-version': exact ?? `${major}.0.x` })],
      decisions: several
        ? ['There are several solutions, and dotnet does not choose one: name one in verify.']
        : [],
    };
  },
};

const cmake: Ecosystem = {
  name: 'CMake',
  extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.cmake'],
  versionCommand: 'cmake --version',
  manifests: ['CMakeLists.txt'],
  async look(folder, file) {
    const build = 'cmake -B build && cmake --build build';
    const hasTests = /^[ \t]*(?:enable_testing\s*\(|include\s*\(\s*CTest\b)/im.test(folder.text(file));
    return {
      manager: found('cmake', file),
      test: hasTests ? found(`${build} && ctest --test-dir build --output-on-failure`, file) : null,
      build: found(build, file),
      makes: 'build',
    };
  },
};

const meson: Ecosystem = {
  name: 'Meson',
  extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.vala'],
  versionCommand: 'meson --version',
  manifests: ['meson.build'],
  async look(folder, file) {
    // Does nothing where there is a build.
    const configure = 'meson setup build';
    const hasTests = /^[ \t]*(?:test\s*\(|subdir\s*\(\s*'tests?')/m.test(folder.text(file));
    return {
      manager: found('meson', file),
      test: hasTests ? found(`${configure} && meson test -C build --print-errorlogs`, file) : null,
      build: found(`${configure} && meson compile -C build`, file),
      steps: [{ name: 'Install Meson', run: 'pipx install meson ninja' }],
      makes: 'build',
    };
  },
};

/** For projects of other languages, and for a test command that nothing else names. */
const make: Ecosystem = {
  name: 'Make',
  extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.sh'],
  versionCommand: null,
  manifests: ['GNUmakefile', 'makefile', 'Makefile'],
  async look(folder, file) {
    return {
      manager: found('make', file),
      test: makeTest(folder),
      lint: makeTarget(folder, 'lint'),
      build: found('make', file),
    };
  },
};

/** What a makefile has for tests. */
export const makeTest = (folder: Folder) => makeTarget(folder, 'test', 'check');

/** `make NAME` for the first of these targets that a makefile has. */
function makeTarget(folder: Folder, ...names: readonly string[]): Said | null {
  const file = folder.first(...make.manifests);
  const targets = folder
    .text(file)
    .split('\n')
    .flatMap((line) => /^([^\s#:=][^:=#]*)::?(?![:=])/.exec(line)?.[1]?.split(/\s+/) ?? []);
  const name = names.find((one) => targets.includes(one));
  return file === null || name === undefined ? null : found(`make ${name}`, file);
}

/** `make` comes last, as the fallback. */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  node,
  python,
  go,
  rust,
  maven,
  gradle,
  ruby,
  php,
  dotnet,
  cmake,
  meson,
  make,
];
