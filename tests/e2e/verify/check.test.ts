/** `patchsmith check`: what a run needs, seen before it costs anything. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { startGitHub } from '../../support/github-server/server.ts';
import { checkReportIn } from '../../support/published.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

afterAll(removeFolders);

const FILES = { 'AGENTS.md': 'Be brief.\n', 'a.txt': 'a\n', '.gitignore': 'made\n' };

interface Checking {
  readonly frontMatter?: Record<string, unknown>;
  readonly files?: Record<string, string>;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly repo?: string;
}

async function check({ frontMatter, files = FILES, args = [], env = {}, repo }: Checking) {
  const repository = await makeRepository(files);
  const state = temporaryFolder();
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(plan, `---\n${JSON.stringify(frontMatter)}\n---\n# Tidy up\n\nDo it.\n`);
  const { exitCode, stdout, stderr } = await cliHere(
    ['check', '--repo', repo ?? repository.root, ...(frontMatter ? ['--plan', plan] : []), ...args],
    {
      cwd: repository.root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        XDG_STATE_HOME: state,
        ANTHROPIC_API_KEY: KEY,
        // Nobody answers there, and nobody is asked.
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        ...env,
      },
    },
  );
  const runs = existsSync(join(state, 'patchsmith')) ? readdirSync(join(state, 'patchsmith')) : [];
  return { repository, state, exitCode, stdout, stderr, lastLine: stderr.trimEnd().split('\n').at(-1), runs };
}

function statuses(page: string): string[] {
  return page
    .split('\n')
    .filter((line) => /^\S/.test(line))
    .map((line) =>
      line
        .split(/\s{2,}/)
        .slice(0, 2)
        .join(' '),
    );
}

test('reports that all is well: setup and verify commands ran, without a model, and nothing is left', async () => {
  const { exitCode, stdout, lastLine, runs, repository } = await check({
    frontMatter: {
      setup: ['echo x > made'],
      verify: ['test -f made', 'printf "one\\n  two\\n\\nthree\\nfour\\n"; exit 3'],
    },
  });
  expect([exitCode, lastLine]).toEqual([0, 'patchsmith: done (exit 0): A run can begin (1 note above).']);
  expect(statuses(stdout)).toEqual([
    'ok settings',
    'ok key',
    'ok price',
    '- publishing',
    'ok work tree',
    'ok plan',
    'ok principles',
    'ok sandbox',
    '- tools',
    'ok setup',
    'ok verify',
    'note verify',
  ]);
  expect(stdout).toMatch(
    /^ok {6}verify {6}test -f made \(exit code 0 after [\d.]+ s\): passes before the work$/m,
  );
  expect(stdout).toMatch(
    /; exit 3 \(exit code 3 after [\d.]+ s\): fails before the work; it ends with: two \/ three \/ four$/m,
  );
  expect(stdout).toContain('                    fix: fine if the plan is to make it pass;');
  expect(runs).toEqual(['checks']);
  expect(existsSync(join(repository.root, 'made'))).toBe(true);
});

test('a package that a verify command lacks is named, wherever the command says so', async () => {
  const { root } = await makeRepository(FILES);
  const says = (line: string) => `echo "${line}"; seq 9; exit 1`;
  const lines = [
    "E ModuleNotFoundError: No module named 'freezegun'",
    "Error: Cannot find module 'ava'",
    'Could not find benchmark-ips-2.1, minitest-5.2 in locally installed gems',
    'PHP Fatal error: Failed opening required vendor/autoload.php: No such file or directory',
  ];
  const own = "Error: Cannot find module './ours.js'";
  const ruby = `echo "cannot load such file -- a (LoadError)"; printf "\\tfrom b.rb:%s:in 'each'\\n" 1 2 3; exit 1`;
  const make = says('make: mvn: No such file or directory');
  const args = [...[...lines, own].map(says), ruby, make].flatMap((verify) => ['--verify', verify]);
  const { stdout } = await check({ repo: root, args });
  for (const line of lines)
    expect(stdout).toContain(`fails before the work, since something is not installed: ${line}\n`);
  expect(stdout).toContain('fails before the work; it ends with: 7 / 8 / 9\n');
  expect(stdout).toContain('it ends with: cannot load such file -- a (LoadError)\n');
  expect(stdout).toContain(
    'fails before the work, and a program is not found: make: mvn: No such file or directory\n                    fix: Maven: sudo apt-get install maven\n',
  );
  const old = ['note: module requires Go 1.21', 'error: package `a v1` requires rustc 1.80 or newer'];
  const newer = await check({
    repo: root,
    args: old.flatMap((line) => ['--verify', says(line.replaceAll('`', ''))]),
  });
  expect(newer.stdout.match(/fix: (?:Go|Rust) .*/g)).toEqual([
    'fix: Go 1.21 or later is needed: https://go.dev/dl has it',
    'fix: Rust 1.80 or later is needed: rustup update',
  ]);
});

test('what a check has found is kept where commands of a run cannot write it, and no one else', async () => {
  const { root } = await makeRepository(FILES);
  const args = () => [
    ...['--message', 'Do it', '--verify', 'test -f a.txt', '--verify-baseline'],
    ...['--run-dir', join(temporaryFolder(), 'run')],
  ];
  const inTree = await check({ repo: root, args: args(), env: { XDG_STATE_HOME: join(root, 'made') } });
  expect([inTree.exitCode, existsSync(join(root, 'made'))], inTree.stderr).toEqual([0, false]);
  const shared = temporaryFolder();
  mkdirSync(join(shared, 'patchsmith/checks'), { recursive: true });
  chmodSync(join(shared, 'patchsmith/checks'), 0o777);
  const open = await check({ repo: root, args: args(), env: { XDG_STATE_HOME: shared } });
  expect([open.exitCode, readdirSync(join(shared, 'patchsmith/checks'))], open.stderr).toEqual([0, []]);
});

test('packages that are nowhere to be seen fail the check, with what to type, and those that a cache shows do not', async () => {
  const { root } = await makeRepository({ ...FILES, 'pom.xml': '<project/>', mvnw: '#!/bin/sh\n' });
  chmodSync(join(root, 'mvnw'), 0o755);
  const home = temporaryFolder();
  const given = { repo: root, env: { HOME: home } };
  const verify = ['--verify', './mvnw test'];
  const bare = await check({ ...given, args: verify });
  expect([bare.exitCode, bare.lastLine]).toEqual([2, expect.stringContaining('[ERR_PROGRAM_MISSING]')]);
  expect(bare.stdout).toMatch(
    /^FAILED {2}verify .* no plugin of Maven is in .* Run once: \.\/mvnw test, and make its downloads available to commands: --cache maven – or allow the hosts: --allow-domain repo\.maven\.apache\.org\./m,
  );
  const open = await check({ ...given, args: [...verify, '--allow-domain', 'repo.maven.apache.org'] });
  expect(open.exitCode, open.stdout).toBe(0);
  mkdirSync(join(home, '.m2/repository/org/apache/maven/plugins'), { recursive: true });
  const shown = await check({ ...given, args: [...verify, '--cache', 'maven'] });
  expect(shown.exitCode, shown.stdout).toBe(0);
});

test('what is wrong stands on one page, each part as far as it could be looked at, and as JSON', async () => {
  const { exitCode, stdout, runs, state, repository } = await check({
    frontMatter: { setup: ['echo oops > a.txt; echo why >&2; exit 4'], verify: ['npm test'] },
    args: ['--output', 'json', '--model', 'claude-none'],
    env: { ANTHROPIC_API_KEY: '' },
  });
  const report = checkReportIn(stdout);
  expect([exitCode, report.exitCode, report.outcome]).toEqual([2, 2, 'usage_error']);
  expect(report.lines.map(({ part, status }) => `${status} ${part}`)).toEqual([
    'ok settings',
    'failed key',
    'note price',
    'skipped publishing',
    'ok work tree',
    'ok plan',
    'ok principles',
    'ok sandbox',
    'ok tools',
    'failed setup',
    'skipped verify',
  ]);
  const said = Object.fromEntries(report.lines.map(({ part, code, said, fix }) => [part, [code, said, fix]]));
  expect(said.key).toEqual([
    'ERR_NO_KEY',
    'ANTHROPIC_API_KEY is not set',
    expect.stringContaining('set it in the environment'),
  ]);
  expect(said.plan).toEqual([null, expect.any(String), null]);
  expect(said.setup?.[0]).toBe('ERR_SETUP_FAILED');
  expect(said.setup?.[1]).toContain('setup command failed, exit code 4 after');
  expect(report.warnings.join()).toContain(
    '[WARN_CHANGED_BEFORE_THE_WORK] Not in the patch, because commands before the work changed them: a.txt. To revert that: patchsmith undo',
  );
  // It is no run.
  expect(runs).toEqual(['checks']);
  const [kept] = readdirSync(join(state, 'patchsmith/checks'));
  expect(report.result).toBe(join(state, 'patchsmith/checks', kept ?? '', 'result.json'));
  const env = { PATH: process.env.PATH, HOME: state, XDG_STATE_HOME: state };
  const at = { cwd: repository.root, env };
  expect(JSON.parse((await cliHere(['runs', '--json'], at)).stdout)).toMatchObject({ runs: [] });
  const undone = await cliHere(['undo', kept ?? ''], at);
  expect([undone.exitCode, readFileSync(join(repository.root, 'a.txt'), 'utf8')], undone.stderr).toEqual([
    0,
    'a\n',
  ]);
});

test('settings, token and sandbox are named when they are what is wrong', async () => {
  const settings = await check({ args: ['--max-iterations', 'many', '--deadline', 'soon'] });
  expect([settings.exitCode, statuses(settings.stdout)]).toEqual([
    2,
    ['FAILED settings', 'FAILED settings', '- publishing'],
  ]);
  const file = await check({ files: { ...FILES, '.patchsmith.yml': 'verify: [ls, true]\n' } });
  expect(file.stdout).toContain(
    '.patchsmith.yml:1: verify: expected text or a list of texts, got ["ls",true]; for text, put it in quotes: "true"\n',
  );
  const token = await check({ args: ['--publish', '--verify', 'true && nmp test'] });
  expect(token.stdout).toContain('FAILED  publishing  [ERR_NO_TOKEN] there is no token: set GITHUB_TOKEN');
  expect(token.stdout).toMatch(/^note {4}plan {8}none given/m);
  expect(token.stdout).toMatch(/^FAILED {2}verify .*"nmp" is not found in the sandbox/m);
  const setup =
    'test -d made || { echo "sh: 1: uv: not found" >&2; uv() { exit 1; }; npm --version; uv sync; }';
  const tool = await check({ args: ['--setup', setup] });
  expect(tool.stdout).toMatch(
    /^FAILED {2}setup .*\. "uv" is not found in the sandbox\. Install uv: pipx install uv – .*result\.json/m,
  );
  expect(tool.stdout).toMatch(/^ok {6}tools {7}found in the sandbox: npm$/m);
  const noTree = await check({ repo: temporaryFolder() });
  expect(noTree.stdout).toMatch(/^FAILED {2}work tree /m);
  expect(noTree.stdout).toMatch(/^- {7}plan {8}not reached: work tree comes first$/m);
});

test('tools are looked up in the sandbox, and those that are not there are named with what installs them', async () => {
  const { root } = await makeRepository(FILES);
  const bin = tempFolder({ seq: '#!/bin/sh\n' });
  chmodSync(join(bin, 'seq'), 0o755);
  const given = { repo: root, env: { PATH: `${bin}:/usr/bin:/bin` } };
  const setup = ['--setup', 'cd .; composr install', '--verify', 'test -d made || bunx test'];
  const { stdout, exitCode } = await check({ ...given, args: setup });
  expect([exitCode, stdout]).toEqual([
    2,
    expect.stringMatching(
      /^note {4}tools {7}not found in the sandbox: composr; not found, and named in a part that may be left out: bunx\n {20}fix: Bun: npm install --global bun$/m,
    ),
  ]);
  const later = ['--setup', 'printf "#!/bin/sh\\n" > made', '--verify', 'nowhere-to-be-found; seq 1'];
  const early = await check({ ...given, args: later });
  expect(early.stdout).toMatch(
    /^note {4}tools {7}not found in the sandbox: nowhere-to-be-found; found in the sandbox: seq\n {20}fix: install it on this machine/m,
  );
  const off = await check({ ...given, args: ['--verify', 'seq 1', '--preflight', 'off'] });
  expect(off.stdout).toMatch(/^- {7}tools {7}not looked up$/m);
});

test('a plan that is wrong, principles that are not there and a token that may only read fail their lines', async () => {
  const plan = await check({ frontMatter: { verfy: 'npm test' } });
  expect(plan.exitCode).toBe(2);
  expect(plan.stdout).toMatch(/^FAILED {2}plan {8}\[ERR_PLAN_UNREADABLE\] .*verfy/m);
  const principles = await check({ args: ['-m', 'Do it', '--principles', 'nowhere.md'] });
  expect(principles.exitCode).toBe(2);
  expect(principles.stdout).toMatch(/^FAILED {2}principles {2}\[ERR_PRINCIPLES_UNREADABLE\] .*nowhere\.md/m);

  const github = await startGitHub();
  onTestFinished(() => github.close());
  const { root } = await makeRepository(FILES);
  await github.addRepository('acme/shop', { from: root });
  const permissions = { contents: 'read', pull_requests: 'read' } as const;
  const reader = await check({
    repo: root,
    args: ['--publish', '--repository', 'acme/shop'],
    env: {
      GITHUB_TOKEN: github.addToken({ kind: 'installation', permissions }),
      GITHUB_API_URL: github.url,
      GITHUB_SERVER_URL: github.serverUrl,
    },
  });
  expect(reader.stdout).toMatch(/^FAILED {2}publishing {2}\[ERR_\w+\] .*contents: write/m);
});

test('a run believes a check of the same tree how the verify commands end before the work, and of no other', async () => {
  const { repository, state } = await check({ args: ['--verify', 'echo x >> made'] });
  const times = () => readFileSync(join(repository.root, 'made'), 'utf8').length / 2;
  const run = () =>
    scriptedRun({
      repository,
      turns: [{ text: 'Done.' }],
      args: ['--verify', 'echo x >> made', '--verify-baseline'],
      env: { XDG_STATE_HOME: state },
    });
  const before = times();
  const reusing = await run();
  expect(reusing.stderr).toContain('before the work: as patchsmith check left it just now\n');
  expect(reusing.result.verifyBaseline).toMatchObject([{ command: 'echo x >> made', end: { exitCode: 0 } }]);
  expect([before, times()]).toEqual([1, 2]);
  writeFileSync(join(repository.root, 'a.txt'), 'other\n');
  const afresh = await run();
  expect([afresh.exitCode, times()], afresh.stderr).toEqual([0, 4]);
});

test('a run takes over what setup has done in a check, as long as nothing has changed that it depends on', async () => {
  const setup = 'test -f made || echo x > made';
  const { repository, state, stderr } = await check({ args: ['--setup', setup] });
  expect(stderr).toContain('for an hour, a run that starts from the same state reuses what setup did\n');
  const run = async (env: Record<string, string> = {}, ...args: string[]) => {
    const { result, stderr: said } = await scriptedRun({
      repository,
      turns: [{ text: 'Done.' }],
      args: ['--setup', setup, ...args],
      env: { XDG_STATE_HOME: state, ...env },
    });
    return { setup: result.setup, said };
  };
  const reusing = await run();
  expect(reusing.said).toContain('before the work: as patchsmith check left it just now\n');
  const end = expect.objectContaining({ exitCode: 0 });
  expect(reusing.setup).toEqual([{ command: setup, end, output: '', checkedAt: expect.any(Number) }]);
  // Another time zone, other programs, and not to be believed at all.
  for (const other of [{ TZ: 'Asia/Tokyo' }, { PATH: `${temporaryFolder()}:${process.env.PATH}` }])
    expect((await run(other)).setup[0]).not.toHaveProperty('checkedAt');
  expect((await run({}, '--preflight', 'off')).setup[0]).not.toHaveProperty('checkedAt');
  expect((await run()).setup[0]).toHaveProperty('checkedAt');
  writeFileSync(join(repository.root, 'made'), 'x\n');
  const changed = await run();
  expect(changed.said).toContain(
    'the work tree is not as patchsmith check left it just now, so its commands run again\n',
  );
  expect(changed.setup).toEqual([{ command: setup, end, output: '' }]);
});

test('setup runs again where what it did is gone with the check, and the check says why', async () => {
  const folder = temporaryFolder();
  const env = { REGISTRY_TOKEN: 'registry-token-0123456789' };
  for (const [setup, files, args, reason] of [
    [
      'git config some.thing 1',
      {},
      [],
      'commands wrote to their git directory, which is gone after the check',
    ],
    ['true', {}, ['--verify', 'git tag old'], 'commands wrote to their git directory'],
    ['true', { 'go.sum': '' }, ['--cache', 'auto'], 'go uses packages from its cache'],
    ['true', {}, ['--mount', folder], 'it may depend on --mount'],
    ['true', {}, ['--mount', `${folder}:rw`], `commands may have changed files in --mount ${folder}:rw`],
    ['true', {}, ['--setup-env', 'REGISTRY_TOKEN'], 'it may depend on --setup-env'],
    ['true', {}, ['--preflight', 'off'], 'nothing is kept with --preflight off'],
  ] as const) {
    const given = ['--setup', `echo x >> made; ${setup}`, ...args];
    const { repository, state, stderr } = await check({ files: { ...FILES, ...files }, args: given, env });
    expect(stderr, reason).toContain(`a run will repeat setup: ${reason}`);
    expect(stderr, reason).not.toContain('reuses what setup did');
    const made = () => readFileSync(join(repository.root, 'made'), 'utf8');
    expect(made(), stderr).toBe('x\n');
    const run = await scriptedRun({
      repository,
      turns: [{ text: 'Done.' }],
      args: given,
      env: { ...env, XDG_STATE_HOME: state },
    });
    expect(run.stderr, reason).not.toContain('as patchsmith check left it');
    expect(made(), run.stderr).toBe('x\nx\n');
  }
});

test('what was refused to setup is named with all that its package manager asks, or its cache', async () => {
  // As pip and pnpm pass it on.
  const said =
    'Refused by the sandbox: pypi.org is refused: no host is allowed; to allow it: --allow-domain pypi.org';
  const files = { ...FILES, 'api/requirements.txt': 'x\n' };
  const setup = `cd api && { test -d .venv || { echo "${said} - 403"; pip() { return 1; }; pip install x; }; }`;
  const { exitCode, stdout } = await check({ files, args: ['--setup', setup] });
  expect(exitCode).toBe(2);
  expect(stdout).toContain(
    `${said}. All hosts that it asks: --allow-domain pypi.org --allow-domain files.pythonhosted.org. Or show what this machine has loaded: --cache pip.`,
  );
});

test('a yarn install that would have to load packages is refused before it tries again and again', async () => {
  const files = {
    ...FILES,
    'web/package.json': '{"dependencies":{"left-pad":"1"}}',
    'web/yarn.lock': 'left-pad@1:\n  version "1.3.0"\n  resolved "https://registry.yarnpkg.com/left-pad"\n',
  };
  const setup = 'cd web && { test -d node_modules || yarn install --frozen-lockfile; }';
  const { stdout, repository } = await check({ files, args: ['--setup', setup] });
  expect(stdout).toMatch(
    /^FAILED {2}setup .* cannot succeed: it loads packages, .*--allow-domain registry\.yarnpkg\.com – .*: --cache yarn\.$/m,
  );
  mkdirSync(join(repository.root, 'web/node_modules'));
  expect((await check({ repo: repository.root, args: ['--setup', setup] })).exitCode).toBe(0);
});

test('a verify command that would have to load packages is refused before it tries', async () => {
  const files = {
    ...FILES,
    'yarn.lock': 'left-pad@1:\n  version "1.3.0"\n  resolved "https://registry.yarnpkg.com/left-pad"\n',
  };
  // Where the command is missing it fails as well, and says something else.
  const verify = 'yarn() { test -d node_modules; }; yarn install --frozen-lockfile; test -f src/a.js';
  const { stdout, repository } = await check({ files, args: ['--verify', verify] });
  expect(stdout).toMatch(
    /^FAILED {2}verify .*The verify command .* cannot succeed: it loads packages, .*--allow-domain registry\.yarnpkg\.com – .*: --cache yarn\.$/m,
  );
  mkdirSync(join(repository.root, 'node_modules'));
  expect((await check({ repo: repository.root, args: ['--verify', verify] })).exitCode).toBe(0);
});

test('packages that Composer would have to load are refused before it tries each from its source', async () => {
  const lockOf = (url: string) => JSON.stringify({ packages: [{ name: 'psr/log', dist: { url } }] });
  const files = {
    ...FILES,
    'app/composer.json': '{"require":{"psr/log":"3.0.0"}}',
    'app/composer.lock': lockOf('https://api.github.com/repos/php-fig/log/zipball/1'),
    'own/composer.json': '{"require":{"a/b":"*"}}',
    'own/composer.lock': lockOf('../b'),
  };
  // Where the command is missing it fails as well, and says something else.
  const install = '{ test -d vendor || composer install --no-interaction --no-progress; }';
  const { stdout, repository } = await check({ files, args: ['--setup', `cd app && ${install}`] });
  expect(stdout).toMatch(
    /^FAILED {2}setup .* cannot succeed: it loads packages, .*--allow-domain codeload\.github\.com – or run it once by hand: cd app && composer install --no-interaction --no-progress\.$/m,
  );
  const passes = async (setup: string) =>
    (await check({ repo: repository.root, args: ['--setup', setup] })).exitCode;
  expect(await passes(`cd own && composer() { :; } && ${install}`)).toBe(0);
  mkdirSync(join(repository.root, 'app/vendor'));
  expect(await passes(`cd app && ${install}`)).toBe(0);
});

test('a verify command fails the check if its package manager is refused hosts, or lacks packages in the cache', async () => {
  // As Maven says it, which a project of several modules asks only when it runs.
  const refused =
    'Refused by the sandbox: repo.maven.apache.org is refused: no host is allowed; to allow it: --allow-domain repo.maven.apache.org';
  const prints = (text: string) => `mvn() { echo "${text}"; return 1; }; mvn test`;
  const asking = await check({ args: ['--verify', prints(`[ERROR] ${refused} -> [Help 2]`)] });
  expect([asking.exitCode, asking.stdout]).toEqual([
    2,
    expect.stringContaining(
      `fails before the work, since it loads packages. ${refused}. Or show what this machine has loaded: --cache maven.\n`,
    ),
  ]);
  const home = tempFolder({ '.m2/repository/a/a.pom': '' });
  const offline = 'Cannot access central (https://x) in offline mode and the artifact a:b:jar:1 has not been';
  const lacking = await check({
    args: ['--verify', prints(offline), '--cache', 'maven'],
    env: { HOME: home },
  });
  expect(lacking.stdout).toContain(
    "since packages are missing. This machine's cache (--cache) lacks packages: type once: mvn test.\n",
  );
  const withGradle = await check({
    args: [
      '--verify',
      'gradle() { echo "> Could not download a.jar (a:b:1): No cached version available for offline mode"; return 1; }; gradle test',
      ...['--cache', 'gradle'],
    ],
    env: { HOME: tempFolder({ '.gradle/caches/modules-2/a': '' }) },
  });
  expect(withGradle.stdout).toContain('(--cache) lacks packages: type once: gradle build.\n');
});

test('packages that pip would have to load are refused before it makes the environment for them', async () => {
  const files = { ...FILES, 'requirements.txt': 'attrs\n' };
  const setup = 'test -d .venv || { python3 -m venv .venv && .venv/bin/pip install -r requirements.txt; }';
  const { stdout, repository } = await check({ files, args: ['--setup', setup] });
  expect(stdout).toMatch(
    /^FAILED {2}setup .* cannot succeed: it loads packages, .*--allow-domain pypi\.org --allow-domain files\.pythonhosted\.org – .*: --cache pip\.$/m,
  );
  expect(existsSync(join(repository.root, '.venv'))).toBe(false);
});

test('--cache auto says that there is no lock file, and a missing cache gets a command for its folder', async () => {
  const files = { ...FILES, 'web/package.json': '{}', 'web/package-lock.json': '{}' };
  const without = await check({ files, args: ['--cache', 'auto'] });
  expect(without.stderr).toContain('--cache auto finds no lock file in the root of the commit');
  const setup =
    'cd web && { test -d node_modules || { echo "npm error code ENOTCACHED"; npm() { return 1; }; npm ci; }; }';
  const home = tempFolder({ '.npm/_cacache/index-v5/a': '' });
  const lacking = await check({ files, args: ['--cache', 'npm', '--setup', setup], env: { HOME: home } });
  expect(lacking.stdout).toContain(
    "This machine's cache (--cache) lacks packages: type once: cd web && npm ci.",
  );
});

test('a refused host is all that a page shows of a command that says much about it', async () => {
  const { root } = await makeRepository(FILES);
  const said =
    'Refused by the sandbox: a.example is refused: no host is allowed; to allow it: --allow-domain a.example';
  const verify = `curl -sf http://a.example/ || { echo "npm error 403 ${said} - GET https://a.example/x"; seq 9; exit 1; }`;
  const { stdout } = await check({ repo: root, args: ['--verify', verify] });
  expect(stdout).toContain(`fails before the work, and hosts were refused; it says: ${said}\n`);
});

const SCRIPTS = {
  test: 'jest --ci',
  pretest: 'echo first',
  lint: 'missing-linter',
  prelint: 'echo install',
  plain: 'node a.js',
};

/** A project whose dependencies are not installed, and runs there with one verify command. */
async function unprepared() {
  const { root } = await makeRepository({
    'package.json': JSON.stringify({ scripts: SCRIPTS, dependencies: { 'left-pad': '1' } }),
    'package-lock.json': '{}',
    'requirements.txt': 'x\n',
    'a.js': "import 'left-pad';\n",
    'web/package.json': JSON.stringify({ scripts: SCRIPTS }),
    'web/yarn.lock': '',
  });
  const run = async (verify: string, args: readonly string[] = []) =>
    scriptedRun({
      repository: { root },
      turns: [{ calls: [call('finish', { status: 'done', summary: 'x' })] }],
      args: ['--verify', verify, ...args],
    });
  return { root, run };
}

test('a run without installed dependencies says within seconds what to type, before a request to the model', async () => {
  const { run } = await unprepared();
  const npm = await run('npm test');
  expect([npm.exitCode, npm.server.requests]).toEqual([2, []]);
  expect(npm.result.reason).toBe(
    'The verify command "npm test" cannot succeed: its script "jest --ci" names "jest", which is not found in the sandbox. There is no node_modules. Install by hand: npm ci – or in every run: --setup "npm ci" --allow-domain registry.npmjs.org.',
  );
  expect(npm.result.durations.totalMs).toBeLessThan(10_000);
  expect(npm.result.durations.totalMs).toBeGreaterThan(0);
});

const LINE = 'Install by hand: npm ci – or in every run: --setup "npm ci" --allow-domain registry.npmjs.org.';

testAtNight('so it does however the program is started, and in a folder of the repository', async () => {
  const { run } = await unprepared();
  for (const [verify, why, line] of [
    ['cd . && npm test', 'names "jest", which is not found', LINE],
    ['npm test && npm run build', 'names "jest", which is not found', LINE],
    ['CI=1 npx vitest run', 'there is no "vitest" in node_modules/.bin.', LINE],
    ['npm run nosuch', 'package.json has no script "nosuch".', 'run is to add: sh -c "npm run nosuch".'],
    ['npm run plain', 'package.json names packages such as "left-pad", and none is installed.', LINE],
    ['cd web && npx tsc', 'there is no "tsc"', 'Install by hand: cd web && yarn install'],
  ] as const) {
    const { exitCode, server, result } = await run(verify);
    expect([exitCode, server.requests], verify).toEqual([2, []]);
    expect(result.reason).toContain(why);
    expect(result.reason).toContain(line);
    // A script that is not there does not come with packages.
    expect(result.reason.includes('Install by hand')).toBe(verify !== 'npm run nosuch');
  }
});

test('a check fails where a verify command says that a package is missing, and says what to type', async () => {
  const { root } = await unprepared();
  const { exitCode, stdout } = await check({ repo: root, args: ['--verify', 'sh -c "node a.js"'] });
  expect(exitCode).toBe(2);
  expect(stdout).toMatch(
    /^FAILED {2}verify .*since something is not installed: .*Cannot find package 'left-pad'.*\. There is no node_modules\. Install by hand: npm ci – /m,
  );
});

testAtNight(
  'so it does for Python, and not where something may be there, or is not to be looked at',
  async () => {
    const { root, run } = await unprepared();
    const python = await run('python3 -m nosuchmodule.tests -q');
    expect([python.exitCode, python.server.requests]).toEqual([2, []]);
    expect(python.result.reason).toContain(
      'python3 has no module "nosuchmodule" in the sandbox. There is no .venv.',
    );
    // What is there, what an earlier script may install, and what is not to be looked at.
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules/.bin/jest'), '#!/bin/sh\n', { mode: 0o755 });
    const fine = await run('npm test', ['--verify', 'npm run lint', '--fix-rounds', '0']);
    const unseen = await run('nmp', ['--preflight', 'off', '--fix-rounds', '0']);
    for (const { server, stderr } of [fine, unseen]) expect(server.requests, stderr).not.toEqual([]);
  },
);
