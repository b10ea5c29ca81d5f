/**
 * What a model or an outsider wrote is interpreted in the sandbox only: in the workflow that those of `init` call, no other step of
 * a job with a secret starts a program that obeys files of the checkout.
 */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { isOwn } from '../../support/jobs/action-pins.ts';
import { openShopOnGitHub } from '../../support/jobs/shop-on-github.ts';
import { CALLED } from '../../support/jobs/workflow-runner.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const manifest = (more: Record<string, unknown> = {}) =>
  JSON.stringify({ scripts: { test: 'node --test' }, dependencies: { dep: '1' }, ...more });

/** A project of each package manager, with each file that a setup action can take a version from. */
const PROJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  npm: { 'package.json': manifest(), 'package-lock.json': '{}', '.nvmrc': 'v22.1.0\n' },
  pnpm: {
    'package.json': manifest({ packageManager: 'pnpm@9.15.1', engines: { node: '>=20 <23' } }),
    'pnpm-lock.yaml': '',
  },
  yarn: { 'package.json': manifest(), 'yarn.lock': '', '.node-version': '22\n' },
  berry: { 'package.json': manifest({ packageManager: 'yarn@4.4.1' }), 'yarn.lock': '', '.yarnrc.yml': '' },
  bun: { 'package.json': manifest(), 'bun.lock': '' },
  uv: { 'pyproject.toml': '[project]\nname = "a"\nrequires-python = ">=3.11,<4"\n', 'uv.lock': '' },
  poetry: { 'pyproject.toml': '[tool.poetry]\nname = "a"\n', '.python-version': '3.12\n' },
  pip: { 'requirements.txt': 'pytest\n' },
  go: { 'go.mod': 'module a\n\ngo 1.22\n\nrequire b v1.0.0\n', 'go.sum': '' },
  rust: {
    'Cargo.toml': '[package]\nname = "a"\n[dependencies]\nb = "1"\n',
    'Cargo.lock': '',
    'rust-toolchain.toml': '[toolchain]\nchannel = "1.80.0"\ncomponents = ["clippy"]\n',
  },
  maven: { 'pom.xml': '<project/>', '.sdkmanrc': 'java=21.0.2-tem\n' },
  gradle: { 'build.gradle': '', '.java-version': '17\n' },
  ruby: { Gemfile: '', '.ruby-version': '3.3.6\n' },
  php: { 'composer.json': '{}' },
  dotnet: { 'a.sln': '', 'global.json': '{"sdk": {"version": "8.0.100", "paths": [".dotnet"]}}' },
  meson: { 'meson.build': '' },
};

/** The workflow that the built `init` writes for a repository with these files. */
async function written(files: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
  const { root } = await makeRepository({ ...files, 'a.txt': 'a\n' });
  const { exitCode, stderr } = await runCli(['init', ...args], { cwd: root });
  expect(exitCode, stderr).toBe(0);
  return readFileSync(join(root, `.github/workflows/patchsmith-${args[0]}.yml`), 'utf8');
}

interface Step {
  readonly name: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** What only moves bytes, the action itself, and a checkout that runs nothing of what it checks out. */
const INERT: Readonly<Record<string, readonly string[] | null>> = {
  'actions/checkout': ['ref', 'fetch-depth', 'persist-credentials'],
  'actions/upload-artifact': null,
  'actions/download-artifact': null,
  'actions/create-github-app-token': null,
};
const INERT_LINES = [
  /^echo "\[Report of the run\]\(\$REPORT\)" >> "\$GITHUB_STEP_SUMMARY"$/,
  /^tar -c -f "\$RUNNER_TEMP\/[\w.-]+" -C "\$RUN_DIR" events\.jsonl result\.json shadow\.git$/,
  /^mkdir -m 700 "\$RUNNER_TEMP\/[\w.-]+"$/,
  /^echo "path=\$RUNNER_TEMP" >> "\$GITHUB_OUTPUT"$/,
  /^\[ "\$\(id -u\)" -ne 0 \] \|\| chown 0:0 "\$GITHUB_WORKSPACE"$/,
  // Both read the git dir that the checkout has made, and nothing beside it.
  /^git init --quiet --separate-git-dir "\$RUNNER_TEMP\/[\w.-]+"$/,
  /^git --git-dir "\$RUNNER_TEMP\/[\w.-]+" config core\.worktree "\$GITHUB_WORKSPACE"$/,
  /^tar -x --no-same-owner -f "\$RUNNER_TEMP\/[\w./-]+" -C "\$RUNNER_TEMP\/[\w.-]+"$/,
];
/** Why the step may interpret files of the checkout; null if it does not. */
function whyNotInert({ uses = '', run, with: given = {} }: Step): string | null {
  if (run !== undefined) {
    const lines = run.trim().split('\n');
    const other = lines.find((line) => !INERT_LINES.some((one) => one.test(line)));
    return other === undefined ? null : `runs ${other}`;
  }
  const [action = ''] = uses.split('@');
  if (!Object.hasOwn(INERT, action)) return `uses ${uses}`;
  const other = Object.keys(given).find((key) => INERT[action] !== null && !INERT[action]?.includes(key));
  if (other !== undefined) return `${action} with ${other}`;
  return action === 'actions/checkout' && given['persist-credentials'] !== false ? 'keeps credentials' : null;
}

/** What is wrong with the called workflow, each of whose jobs has a key, or a token that can write or read what is private. */
function objections(): string[] {
  const jobs: Record<string, { steps: Step[] }> = parse(readFileSync(CALLED, 'utf8')).jobs;
  return Object.entries(jobs).flatMap(([job, { steps }]) => {
    const checkout = steps.findIndex(({ uses }) => uses?.startsWith('actions/checkout@'));
    const before = checkout < 0 ? [] : steps.slice(0, checkout);
    return steps.flatMap((step) => {
      // Setup actions remember for their post steps what to store, so they may not read a version or a cache from a file.
      const reads = Object.entries(step.with ?? {}).filter(
        ([key, value]) => /-file$|cache/.test(key) && value !== false,
      );
      const isSetup = before.includes(step) && step.name.startsWith('Install ');
      const isOfAction = isOwn(step.uses);
      const why = isSetup || isOfAction ? null : whyNotInert(step);
      const wrong = [...(why ? [why] : []), ...(isOfAction ? [] : reads.map(([key]) => `reads ${key}`))];
      return wrong.map((one) => `${job}, ${step.name}: ${one}`);
    });
  });
}

test('no step beside the sandbox interprets what was checked out', () => {
  expect(objections()).toEqual([]);
});

test.each(Object.keys(PROJECTS))('in a project of %s, a caller installs literal versions', async (name) => {
  const { jobs } = parse(await written(PROJECTS[name] ?? {}, 'issues'));
  const { 'max-cost-usd': _cap, 'allow-domain': _hosts, ...installs } = jobs.patchsmith.with;
  for (const [input, value] of Object.entries(installs)) {
    expect(input).toMatch(/^(?:(?:node|python|go|java|dotnet)-version|install)$/);
    expect(value).not.toMatch(/\$|\.nvmrc|-file/);
  }
});

const NAME = 'acme/shop';

/** Files that tools obey wherever they start, each of which leads to `evil.sh`. */
const PLANTED = {
  '.npmrc': 'git=./evil.sh\n',
  'package.json':
    '{"name":"x","version":"1.0.0","dependencies":{"dep":"git+https://example.invalid/dep.git"}}',
  'package-lock.json': JSON.stringify({
    name: 'x',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'x', version: '1.0.0', dependencies: { dep: 'git+https://example.invalid/dep.git' } },
      'node_modules/dep': {
        version: '1.0.0',
        resolved: `git+https://example.invalid/dep.git#${'0123456789'.repeat(4)}`,
      },
    },
  }),
  '.pnpmfile.cjs': 'require("node:child_process").execFileSync("./evil.sh");\n',
  '.yarnrc': 'yarn-path "./evil.cjs"\n',
  'evil.cjs': 'require("node:child_process").execFileSync("./evil.sh");\n',
  'rust-toolchain.toml': '[toolchain]\npath = "/proc/self/cwd/tc"\n',
  'tc/bin/cargo': '#!/bin/sh\nexec ./evil.sh\n',
  '.cargo/config.toml': '[build]\nrustc = "./evil.sh"\n[alias]\nfetch = "metadata"\n',
  'Cargo.toml': '[package]\nname = "a"\nversion = "1.0.0"\n',
  'src/lib.rs': '',
  'Cargo.lock': 'version = 3\n[[package]]\nname = "a"\nversion = "1.0.0"\n',
  'pip.py': 'import subprocess; subprocess.run(["./evil.sh"])\n',
};

/** Tools of a hosted runner that this machine may lack: they do with their configuration what the real ones do. */
function tools(): string {
  const folder = temporaryFolder();
  const lines = {
    npm: `case "$*" in "install --global "*) exit 0;; esac; exec ${join(process.execPath, '../npm')} "$@"`,
    yarn: `own=$(sed -n 's/^yarn-path "\\(.*\\)"/\\1/p' .yarnrc 2>/dev/null); [ -z "$own" ] || exec node "$own" "$@"`,
    pnpm: '[ ! -f .pnpmfile.cjs ] || exec node ./.pnpmfile.cjs',
    rustup: 'exit 0',
    cargo: `own=$(sed -n 's/^path = "\\(.*\\)"/\\1/p' rust-toolchain.toml 2>/dev/null); [ -z "$own" ] || exec "$own/bin/cargo" "$@"`,
  };
  for (const [name, line] of Object.entries(lines)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

test('what a model planted in its pull request runs nowhere but in the sandbox when the request is continued', async () => {
  const reached = join(temporaryFolder(), 'reached');
  const evil = `#!/bin/sh\n{ date; cat /proc/*/environ; } >> ${reached} 2>&1\nexit 1\n`;
  const plant = Object.entries({ ...PLANTED, 'evil.sh': evil }).map(
    ([path, text]) =>
      `mkdir -p "$(dirname ${path})" && printf %s ${Buffer.from(text).toString('base64')} | base64 -d > ${path}`,
  );
  const turns = [
    { calls: [call('run_command', { command: `${plant.join('\n')}\nchmod +x evil.sh tc/bin/cargo` })] },
    { text: 'Planted.' },
  ];
  // It runs in the sandbox, and reaches nothing.
  const shop = await openShopOnGitHub(
    (_, at) => turns[at] ?? (at % 2 === 0 ? touch(at) : { text: 'Done.' }),
    { verify: 'test ! -e evil.sh || ! ./evil.sh' },
  );
  shop.github.addIssue(NAME, { title: 'Make it new', body: 'The text is old.', author: 'ann' });
  const PATH = `${tools()}:${process.env.PATH}`;
  const commented = async (number: number, text: string) => {
    const workflow = join(temporaryFolder(), 'issues.yml');
    writeFileSync(workflow, text);
    const payload = await shop.commented(number, '/patchsmith go on');
    const ends = await shop
      .carryOut({ name: 'issue_comment', payload }, { workflow, env: { PATH } })
      .finally(() => expect(existsSync(reached) ? readFileSync(reached, 'utf8') : 'nothing').toBe('nothing'));
    const log = ends.flatMap(({ actions }) => actions.map(({ stderr }) => stderr)).join('\n');
    expect([ends.map(({ result }) => result), log]).toEqual([Array(3).fill('success'), log]);
  };
  await commented(1, await written({}, 'issues'));
  expect.soft(shop.repository.pulls()).toMatchObject([
    {
      number: 2,
      pull: { draft: true },
      body: expect.stringMatching(
        /> Draft, since it changes protected files: one says which programs build the project/,
      ),
    },
  ]);
  for (const name of sampled(['npm', 'pnpm', 'yarn', 'rust'], () => 'project'))
    await commented(2, await written(PROJECTS[name] ?? {}, 'issues'));
  expect(shop.github.invalid).toEqual([]);
  await shop.close();
});

const touch = (at: number) => ({ calls: [call('write_file', { path: 'a.txt', content: `${at}\n` })] });
