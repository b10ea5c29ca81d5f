/** `patchsmith check`: what a run needs, seen before it costs anything. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { startGitHub } from '../../support/github-server/server.ts';
import { checkReportIn } from '../../support/published.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';

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
  expect(stdout).toContain("fails before the work: Error: Cannot find module './ours.js'\n");
  expect(stdout).toContain('fails before the work: cannot load such file -- a (LoadError)\n');
  expect(stdout).toContain(
    'fails before the work, and a program is not found: make: mvn: No such file or directory\n                    fix: Maven: sudo apt-get install maven\n',
  );
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

test('what is wrong stands on one page, each part as far as it could be looked at, and as JSON', async () => {
  const { exitCode, stdout, runs, state, repository } = await check({
    frontMatter: { setup: ['echo oops > a.txt; echo why >&2; exit 4'], verify: ['npm test'] },
    args: ['--output', 'json', '--model', 'claude-none'],
  });
  const report = checkReportIn(stdout);
  expect([exitCode, report.exitCode, report.outcome]).toEqual([2, 2, 'usage_error']);
  expect(report.lines.map(({ part, status }) => `${status} ${part}`)).toEqual([
    'ok settings',
    'ok key',
    'note price',
    'skipped publishing',
    'ok work tree',
    'ok plan',
    'ok principles',
    'ok sandbox',
    'failed setup',
    'skipped verify',
  ]);
  const said = Object.fromEntries(report.lines.map(({ part, code, said, fix }) => [part, [code, said, fix]]));
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

test('without a key no command runs, and all else is looked at', async () => {
  const frontMatter = { setup: ['touch made'], verify: ['npm test'] };
  const { exitCode, stdout, repository } = await check({ frontMatter, env: { ANTHROPIC_API_KEY: '' } });
  const [, key, , , , plan, , , setup, verify] = statuses(stdout);
  expect([exitCode, key, plan, setup, verify]).toEqual([2, 'FAILED key', 'ok plan', '- setup', '- verify']);
  expect(stdout).toContain('ANTHROPIC_API_KEY is not set');
  expect(existsSync(join(repository.root, 'made'))).toBe(false);
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
  const token = await check({ args: ['--publish'] });
  expect(token.stdout).toContain('FAILED  publishing  [ERR_NO_TOKEN] there is no token: set GITHUB_TOKEN');
  expect(token.stdout).toMatch(/^note {4}plan {8}none given/m);
  const absent = await check({ args: ['--verify', 'true && nmp test'] });
  expect(absent.stdout).toMatch(/^FAILED {2}verify .*nmp: command not found/m);
  const setup =
    'test -d made || { echo "sh: 1: uv: not found" >&2; uv() { exit 1; }; npm --version; uv sync; }';
  const tool = await check({ args: ['--setup', setup] });
  expect(tool.stdout).toMatch(
    /^FAILED {2}setup .*\. "uv" is not found in the sandbox\. Install uv: pipx install uv – .*result\.json/m,
  );
  const noTree = await check({ repo: temporaryFolder() });
  expect(noTree.stdout).toMatch(/^FAILED {2}work tree /m);
  expect(noTree.stdout).toMatch(/^- {7}plan {8}not reached: work tree comes first$/m);
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

test('what was refused to setup is named with what allows it', async () => {
  const before = ['--setup', 'curl -s https://other.example/ || true'];
  const { exitCode, stdout } = await check({ args: [...before, '--setup', 'curl -s https://pypi.org/'] });
  expect(exitCode).toBe(2);
  expect(stdout).toContain(
    'Refused by the sandbox: pypi.org is refused: no host is allowed; to allow it: --allow-domain pypi.org.',
  );
  expect(stdout).not.toContain('Refused by the sandbox: other.example');
});

test('a verify command fails the check if it lacks packages in the cache', async () => {
  const home = tempFolder({ '.m2/repository/a/a.pom': '' });
  const offline = 'Cannot access central (https://x) in offline mode and the artifact a:b:jar:1 has not been';
  const { exitCode, stdout } = await check({
    args: ['--verify', `mvn() { echo "${offline}"; return 1; }; mvn test`, '--cache', 'maven'],
    env: { HOME: home },
  });
  expect([exitCode, stdout]).toEqual([
    2,
    expect.stringContaining("since packages are missing. This machine's cache (--cache) lacks packages: "),
  ]);
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
    "This machine's cache (--cache) lacks packages: install them once by hand",
  );
});

test('a verify command that was refused hosts gets the flags that allow them', async () => {
  const { root } = await makeRepository(FILES);
  const verify = 'curl -sf http://a.example/ || { seq 9; exit 1; }';
  const { stdout } = await check({ repo: root, args: ['--verify', verify] });
  expect(stdout).toMatch(/fails before the work, and hosts were refused\n.*--allow-domain a\.example/);
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
    'The verify command "npm test" cannot succeed: "jest", which the script test names, is not found in node_modules/.bin or the sandbox. There is no node_modules. Install by hand: npm ci – or in every run: --setup "npm ci" --allow-domain registry.npmjs.org.',
  );
  expect(npm.result.durations.totalMs).toBeLessThan(10_000);
  expect(npm.result.durations.totalMs).toBeGreaterThan(0);
});

test('a check fails where a verify command says that a package is missing, and says what to type', async () => {
  const { root } = await unprepared();
  const { exitCode, stdout } = await check({ repo: root, args: ['--verify', 'sh -c "node a.js"'] });
  expect(exitCode).toBe(2);
  expect(stdout).toMatch(
    /^FAILED {2}verify .*since something is not installed: .*Cannot find package 'left-pad'.*\. There is no node_modules\. Install by hand: npm ci – /m,
  );
});
