/** The recipes of docs/sandbox.md, as they stand there. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'vitest';
import { zipOf } from '../../../support/documents/zip.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { testAtNight } from '../../../support/setup/at-night.ts';
import { versionOutside } from '../fixture.ts';
import { archive, carryOut, type Project, RUSTUP_HOME } from './carry-out.ts';

/** Skips a test whose package manager is missing. */
function need(tool: string, context: TestContext, command = `${tool} --version`): void {
  context.skip(versionOutside(command) === null, `${tool} is not installed on this machine`);
}

/** A package of JavaScript that uses another one of a registry of its own. */
function javaScript(manager: 'npm' | 'pnpm' | 'yarn', fill: string): Project {
  const tiny = archive({
    'package/package.json': '{"name":"tiny","version":"1.0.0"}',
    'package/index.js': '',
  });
  const integrity = `sha512-${createHash('sha512').update(tiny).digest('base64')}`;
  const shasum = createHash('sha1').update(tiny).digest('hex');
  const dist = { tarball: 'http://HOST/tiny/-/tiny-1.0.0.tgz', integrity, shasum };
  const version = { name: 'tiny', version: '1.0.0', dist };
  const packument = { name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
  const scripts = { test: 'node -e \'require("tiny")\'' };
  return {
    manager,
    files: {
      'package.json': JSON.stringify({ name: 'use', scripts, dependencies: { tiny: '1.0.0' } }),
      '.npmrc': 'registry=http://HOST/\naudit=false\nfund=false\nupdate-notifier=false\n',
    },
    answers: { '/tiny': JSON.stringify(packument), '/tiny/-/tiny-1.0.0.tgz': tiny },
    fill,
  };
}

test('npm', async () => {
  await carryOut(javaScript('npm', 'npm install; rm -r node_modules'));
});

testAtNight('pnpm', async (context) => {
  need('pnpm', context);
  await carryOut(javaScript('pnpm', 'pnpm install; rm -r node_modules'));
});

testAtNight('yarn', async (context) => {
  need('yarn', context);
  await carryOut(javaScript('yarn', 'yarn install; rm -r node_modules'));
});

testAtNight('cargo', async (context) => {
  need('cargo', context, `RUSTUP_HOME='${RUSTUP_HOME}' cargo --version`);
  const manifest = '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n';
  const crate = archive({
    'tiny-1.0.0/Cargo.toml': manifest,
    'tiny-1.0.0/src/lib.rs': 'pub const VALUE: i32 = 1;\n',
  });
  const cksum = createHash('sha256').update(crate).digest('hex');
  const entry = { name: 'tiny', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false };
  await carryOut({
    manager: 'cargo',
    files: {
      'Cargo.toml': `${manifest.replace('tiny', 'use')}[lib]\ndoctest = false\n[dependencies]\ntiny = { version = "1", registry = "local" }\n`,
      '.cargo/config.toml': '[registries.local]\nindex = "sparse+http://HOST/index/"\n',
      'src/lib.rs': '#[test]\nfn it() { assert_eq!(tiny::VALUE, 1); }\n',
    },
    answers: {
      '/index/config.json': '{"dl":"http://HOST/dl"}',
      '/index/ti/ny/tiny': `${JSON.stringify(entry)}\n`,
      '/dl/tiny/1.0.0/download': crate,
    },
    fill: 'cargo fetch',
  });
});

testAtNight('go', async (context) => {
  need('go', context, 'go version');
  const manifest = 'module example.com/tiny\n\ngo 1.19\n';
  const top = 'example.com/tiny@v1.0.0';
  const versions = '/example.com/tiny/@v';
  await carryOut({
    manager: 'go',
    files: {
      'go.mod': 'module example.com/use\n\ngo 1.19\n\nrequire example.com/tiny v1.0.0\n',
      'use.go': 'package use\n\nimport "example.com/tiny"\n\nvar Value = tiny.Value\n',
      'use_test.go':
        'package use\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {\n\tif Value != 1 {\n\t\tt.Fail()\n\t}\n}\n',
    },
    answers: {
      [`${versions}/list`]: 'v1.0.0\n',
      [`${versions}/v1.0.0.info`]: '{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}',
      [`${versions}/v1.0.0.mod`]: manifest,
      [`${versions}/v1.0.0.zip`]: zipOf({
        [`${top}/go.mod`]: manifest,
        [`${top}/tiny.go`]: 'package tiny\n\nconst Value = 1\n',
      }),
    },
    fill: 'export GOPROXY=http://HOST GONOSUMDB=example.com GOFLAGS=-modcacherw; go mod tidy; go mod download',
  });
});

testAtNight('bundler', async (context) => {
  need('bundle', context);
  const specification =
    "Gem::Specification.new { |s| s.name = s.summary = 'tiny'; s.version = '1.0.0'; s.authors = ['A']; s.files = ['lib/tiny.rb'] }\n";
  const folder = tempFolder({ 'tiny.gemspec': specification, 'lib/tiny.rb': 'TINY = 1\n' });
  execFileSync('gem', ['build', 'tiny.gemspec'], { cwd: folder, stdio: 'ignore' });
  const gem = readFileSync(join(folder, 'tiny-1.0.0.gem'));
  const info = `---\n1.0.0 |checksum:${createHash('sha256').update(gem).digest('hex')}\n`;
  const digest = createHash('md5').update(info).digest('hex');
  await carryOut({
    manager: 'bundler',
    files: {
      Gemfile: "source 'http://HOST'\ngem 'tiny', '1.0.0'\n",
      'test.rb': "require 'tiny'\nTINY == 1 or abort\n",
    },
    answers: {
      '/versions': `created_at: 2024-01-01T00:00:00Z\n---\ntiny 1.0.0 ${digest}\n`,
      '/info/tiny': info,
      '/gems/tiny-1.0.0.gem': gem,
    },
  });
});

/** What Debian packages for Maven: plugins and JUnit, as a repository on the web has them. */
const MAVEN_REPOSITORY = '/usr/share/maven-repo';

testAtNight('maven', async (context) => {
  need('mvn', context);
  const plugin = (name: string) => {
    const folder = `${MAVEN_REPOSITORY}/org/apache/maven/plugins/maven-${name}-plugin`;
    context.skip(!existsSync(folder), `libsurefire-java and libmaven-${name}-plugin-java are not installed`);
    const version = readdirSync(folder).at(-1);
    return `<plugin><artifactId>maven-${name}-plugin</artifactId><version>${version}</version></plugin>`;
  };
  const java = ['source', 'target'].map((name) => `<maven.compiler.${name}>11</maven.compiler.${name}>`);
  const packages = ['example:tiny:1.0.0:compile', 'junit:junit:4.x:test'].map((one) => {
    const [group, artifact, version, scope] = one.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><scope>${scope}</scope></dependency>`;
  });
  const pom = (name: string, more: string) =>
    `<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>${name}</artifactId><version>1.0.0</version>${more}</project>`;
  const plugins = ['resources', 'compiler', 'surefire'].map(plugin).join('');
  const test = 'public class UseTest { @org.junit.Test public void it() throws Exception {';
  const settings =
    '<settings><mirrors><mirror><id>local</id><mirrorOf>*</mirrorOf><url>http://HOST/</url></mirror></mirrors></settings>';
  await carryOut({
    manager: 'maven',
    files: {
      'pom.xml': pom(
        'use',
        `<properties>${java.join('')}</properties><dependencies>${packages.join('')}</dependencies><build><plugins>${plugins}</plugins></build>`,
      ),
      'src/test/java/UseTest.java': `${test} if (getClass().getResource("/tiny.txt") == null) throw new Exception(); } }\n`,
    },
    answers: {
      '/example/tiny/1.0.0/tiny-1.0.0.pom': pom('tiny', ''),
      '/example/tiny/1.0.0/tiny-1.0.0.jar': zipOf({ 'tiny.txt': 'tiny\n' }),
    },
    folder: MAVEN_REPOSITORY,
    // Java asks the machine for the home folder, not the variable.
    fill: `mkdir ~/.m2; echo '${settings}' > ~/.m2/settings.xml; mvn -B -q -Duser.home="$HOME" test; rm -r target`,
  });
});

testAtNight('gradle', async (context) => {
  need('gradle', context);
  context.skip(!existsSync(`${MAVEN_REPOSITORY}/junit/junit/4.x`), 'junit4 is not installed');
  const tiny =
    '<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>tiny</artifactId><version>1.0.0</version></project>';
  const test = 'public class UseTest { @org.junit.Test public void it() throws Exception {';
  await carryOut({
    manager: 'gradle',
    files: {
      'settings.gradle': "rootProject.name = 'use'\n",
      'build.gradle': [
        "apply plugin: 'java'",
        // Gradle 6 and later ask for leave to use HTTP.
        "repositories { maven { url 'http://HOST/'; if (hasProperty('allowInsecureProtocol')) allowInsecureProtocol = true } }",
        "dependencies { testImplementation 'example:tiny:1.0.0', 'junit:junit:4.x' }\n",
      ].join('\n'),
      'src/test/java/UseTest.java': `${test} if (getClass().getResource("/tiny.txt") == null) throw new Exception(); } }\n`,
    },
    answers: {
      '/example/tiny/1.0.0/tiny-1.0.0.pom': tiny,
      '/example/tiny/1.0.0/tiny-1.0.0.jar': zipOf({ 'tiny.txt': 'tiny\n' }),
    },
    folder: MAVEN_REPOSITORY,
    // Java asks the machine for the home folder, not the variable.
    fill: 'gradle --no-daemon -g ~/.gradle test; rm -r build .gradle',
  });
});
