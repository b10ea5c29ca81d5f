import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { neededPackages } from '../../../../src/adapters/survey/needed/needed-packages.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { versionOutside } from '../../sandboxes/fixture.ts';

const LOCK = `version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = ["itoa"]

[[package]]
name = "itoa"
version = "1.0.11"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "0"
`;
const CARGO = { 'Cargo.toml': '[package]\nname = "app"\n[dependencies]\nitoa = "1"\n', 'Cargo.lock': LOCK };
const POM = { 'pom.xml': '<project><packaging>jar</packaging></project>' };
const MODULES = {
  'pom.xml':
    '<project><packaging>pom</packaging><modules><!-- <module>b</module> --><module>a</module></modules></project>',
  '.mvn/jvm.config': '--add-exports x=ALL-UNNAMED\n',
};

const GO = {
  'go.mod': 'module a\n\ngo 1.19\n\nrequire (\n\tgithub.com/Foo/bar v1.2.3\n)\n',
  'go.sum': ['', '/go.mod'].map((of) => `github.com/Foo/bar v1.2.3${of} h1:${'A'.repeat(43)}=\n`).join(''),
  'a.go': 'package a\n\nimport _ "github.com/Foo/bar"\n',
};
const PACKAGE = '  implementation("com.example:tiny:1.0")\n';
const GRADLE = { 'build.gradle.kts': `repositories {\n  mavenCentral()\n}\ndependencies {\n${PACKAGE}}\n` };
const WRAPPER = {
  'gradle/wrapper/gradle-wrapper.properties':
    'distributionUrl=https\\://services.gradle.org/distributions/gradle-8.5-bin.zip\n',
};
const GEMS = {
  'Gemfile.lock':
    'GEM\n  remote: https://rubygems.org/\n  specs:\n    tiny-nowhere (1.0)\n      rake\n    rake-nowhere (13.0)\n\n',
};
const BUNDLE = 'bundle config set --local path vendor/bundle && bundle install';

const whats = async (files: Readonly<Record<string, string>>, command: string) =>
  (await neededPackages(tempFolder(files), [command])).map(({ manager, line }) => [manager, line]);

test.each([
  ['cargo test', CARGO, ['cargo', 'cargo fetch --locked']],
  ['cargo +nightly clippy --locked --workspace', CARGO, ['cargo', 'cargo fetch --locked']],
  ['mvn -B -ntp test', POM, ['maven', 'mvn test']],
  ['./mvnw verify', { ...POM, '.mvn/wrapper/maven-wrapper.properties': '' }, ['maven', './mvnw test']],
  ['mvn test', { ...MODULES, 'a/pom.xml': '<project></project>' }, ['maven', 'mvn test']],
  ['go test -race ./a ./b/...', GO, ['go', 'go mod download']],
  ['gradle --no-daemon test', GRADLE, ['gradle', 'gradle test']],
  ['./gradlew check', WRAPPER, ['gradle', './gradlew test']],
  ['bundle exec rake test', GEMS, [null, BUNDLE]],
])('%s needs packages', async (command, files, expected) => {
  expect(await whats(files, command)).toEqual([expected]);
});

const withDependency = (text: string) => ({ ...CARGO, 'Cargo.toml': `[package]\nname = "app"\n${text}\n` });

test.each([
  ['another command', 'cargo fmt --check', CARGO],
  ['more than a command', 'cd a && cargo test', CARGO],
  ['a part of the packages', 'cargo test -p other', CARGO],
  ['another folder', 'cargo test --manifest-path=a/Cargo.toml', CARGO],
  ['no lock file', 'cargo test', { 'Cargo.toml': CARGO['Cargo.toml'] }],
  [
    'a workspace without a package',
    'cargo test',
    { ...CARGO, 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' },
  ],
  ['optional', 'cargo test', withDependency('[dependencies]\nitoa = { version = "1", optional = true }')],
  ['in the checkout', 'cargo test', withDependency('[dependencies]\nitoa = { path = "itoa" }')],
  ['of a platform', 'cargo test', withDependency('[target.\'cfg(windows)\'.dependencies]\nitoa = "1"')],
  ['of tests', 'cargo build', withDependency('[dev-dependencies]\nitoa = "1"')],
  [
    'a lock file without a registry',
    'cargo test',
    { ...CARGO, 'Cargo.lock': LOCK.replace(/^source.*\n/m, '') },
  ],
  ['a name that is no name', 'cargo test', { ...CARGO, 'Cargo.lock': LOCK.replaceAll('itoa', 'a $(b)') }],
  ['a parent of modules', 'mvn test', { 'pom.xml': '<project><packaging>pom</packaging></project>' }],
  ['settings of Maven in the project', 'mvn test', { ...POM, '.mvn/maven.config': '-o' }],
  ['another repository', 'mvn -Dmaven.repo.local=m2 test', POM],
  ['no project', 'mvn test', {}],
  ['modules that Maven does not compile', 'mvn test', { ...MODULES, 'a/pom.xml': MODULES['pom.xml'] }],
  ['modules that are commented out', 'mvn test', { ...MODULES, 'b/pom.xml': '<project></project>' }],
  [
    'modules of a profile',
    'mvn test',
    {
      'pom.xml': `<project><packaging>pom</packaging><profiles>${MODULES['pom.xml']}</profiles></project>`,
      'a/pom.xml': '<project></project>',
    },
  ],
  ['some of the modules', 'mvn --projects a test', { ...MODULES, 'a/pom.xml': '<project></project>' }],
  [
    'another repository by options of the JVM',
    'mvn test',
    { ...POM, '.mvn/jvm.config': '-Dmaven.repo.local=m2' },
  ],
  ['modules in the checkout', 'go test ./...', { ...GO, 'vendor/modules.txt': '' }],
  ['a workspace of Go', 'go test ./...', { ...GO, 'go.work': '' }],
  ['options with a value', 'go test -run Test ./...', GO],
  [
    'packages of the machine',
    'gradle test',
    { 'build.gradle.kts': `${GRADLE['build.gradle.kts']}mavenLocal()` },
  ],
  ['a wrapper without a distribution', './gradlew test', GRADLE],
  ['gems of another source', 'bundle exec rake', { 'Gemfile.lock': 'PATH\n  remote: .\n' }],
])('nothing is certain of %s', async (_, command, files) => {
  expect(await whats(files as Readonly<Record<string, string>>, command)).toEqual([]);
});

type Files = Readonly<Record<string, string>>;
const SEEN: readonly (readonly [string, Files, string, Files, boolean])[] = [
  ['nothing at all', CARGO, 'cargo test', {}, false],
  ['the package', CARGO, 'cargo test', { 'home/.cargo/registry/cache/index/itoa-1.0.9.crate': '' }, true],
  [
    'another package',
    CARGO,
    'cargo test',
    { 'home/.cargo/registry/cache/index/itoa-x-1.0.crate': '' },
    false,
  ],
  ['settings, which may replace the registry', CARGO, 'cargo test', { '.cargo/config.toml': '' }, true],
  ['no plugins', POM, 'mvn test', { 'home/.m2/repository/a': '' }, false],
  ['plugins', POM, 'mvn test', { 'home/.m2/repository/org/apache/maven/plugins/a': '' }, true],
  ['no Gradle', WRAPPER, './gradlew test', { 'home/.gradle/wrapper/dists/gradle-8.4-bin/a': '' }, false],
  ['Gradle', WRAPPER, './gradlew test', { 'home/.gradle/wrapper/dists/gradle-8.5-bin/a': '' }, true],
  ['no packages of Gradle', GRADLE, 'gradle test', {}, false],
  ['packages of Gradle', GRADLE, 'gradle test', { 'home/.gradle/caches/modules-2/a': '' }, true],
  [
    'no gems',
    GEMS,
    'bundle exec rake',
    { 'vendor/bundle/ruby/3.1.0/specifications/rake-13.gemspec': '' },
    false,
  ],
  [
    'one of the gems',
    GEMS,
    'bundle exec rake',
    { 'vendor/bundle/ruby/3.1.0/specifications/rake-nowhere-13.0.gemspec': '' },
    true,
  ],
  ...(versionOutside('go version') === null
    ? []
    : ([
        ['no modules', GO, 'go test ./...', {}, false],
        ['modules that nothing imports', { ...GO, 'a.go': 'package a\n' }, 'go test ./...', {}, true],
        [
          'a module',
          GO,
          'go test ./...',
          { 'home/go/pkg/mod/cache/download/github.com/!foo/bar/@v/v1.2.3.zip': '' },
          true,
        ],
      ] as const)),
];

test.each(SEEN)('a shell sees %s', async (_, files, command, there, expected) => {
  const root = tempFolder({ ...files, ...there });
  const [needed] = await neededPackages(root, [command]);
  const look = `( ${needed?.look}\n) && echo there || echo missing`;
  const env = { PATH: process.env.PATH, HOME: `${root}/home` };
  const said = execFileSync('bash', ['-eo', 'pipefail', '-c', look], { cwd: root, env, encoding: 'utf8' });
  expect(said).toBe(expected ? 'there\n' : 'missing\n');
});
