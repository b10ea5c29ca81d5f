/** What tools execute without being asked is published as a draft that says why, or not at all. */

import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/files/repository.ts';
import { ask } from '../../support/github-server/ask.ts';
import { JOB_PERMISSIONS, NAME, type Published, publish } from '../../support/jobs/publishing.ts';
import { expectDone, type Life, openLife, writes } from '../../support/jobs/pull-request-life.ts';
import { call, type FinishedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

let life: Life;
let token: string;

beforeEach(async () => {
  life = await openLife({ 'a.txt': 'a\n', 'docs/guide.md': 'Be brief.\n' });
  token = life.github.addToken({ kind: 'installation', permissions: JOB_PERMISSIONS });
});
afterEach(async () => {
  expect(life.github.invalid).toEqual([]);
  await life.github.close();
});
const PLAN = ['--message', 'Make a new'];

function published({ runDir }: FinishedRun, ...args: string[]): Promise<Published> {
  const artifact = join(temporaryFolder(), 'artifact');
  cpSync(runDir, artifact, { recursive: true });
  const there = { github: life.github, repository: life.hosted, token, artifact };
  return publish(there, { args });
}

/** A run that writes this file, in a fresh checkout of the branch. */
async function written(path: string, args: readonly string[] = PLAN): Promise<FinishedRun> {
  const run = await life.run(writes(path, 'new\n', 'Done.'), args);
  expectDone(run);
  return run;
}

const DONE = { calls: [call('finish', { status: 'done', summary: 'Done.' })] };

/** A command that writes these files, and the end of the work. */
function planted(paths: readonly string[]) {
  const lines = paths.map((path) => `mkdir -p "$(dirname '${path}')" && echo new > '${path}'`);
  return [{ calls: [call('run_command', { command: lines.join('\n') })] }, DONE];
}

describe('a change of what tools execute', () => {
  const REASONS: [string, RegExp][] = [
    ['sub/.npmrc', /one says where packages come from/],
    ['rust-toolchain.toml', /one says which programs build the project/],
    ['.husky/pre-commit', /one is run or obeyed by editors, shells or git hooks/],
    ['.claude/settings.json', /one tells other agents what to do/],
  ];

  test.each(sampled(REASONS, () => 'reason'))(
    'makes the pull request a draft that says why: %s',
    async (path, why) => {
      const run = await written(path);
      const { exitCode, said, stderr } = await published(run);
      expect(exitCode, stderr).toBe(0);
      expect(said?.pullRequest).toMatchObject({ draft: true, draftReasons: [expect.stringMatching(why)] });
      expect(life.pull(1).pull?.draft).toBe(true);
      expect(life.pull(1).body).toMatch(/> \[!WARNING\]\n> Draft, since it changes protected files: one /);
    },
  );

  test('is refused where CI would obey it as soon as it is pushed', async () => {
    const { exitCode, said } = await published(await written('.github/actions/a/action.yml'));
    expect([exitCode, said?.outcome]).toEqual([8, 'policy_violation']);
    expect(life.hosted.pulls()).toEqual([]);
  });

  test('is one whatever the tool is called, and in whatever spelling a disk takes for its name', async () => {
    const paths = [
      // Case, compatibility characters and ignorables: the same name on a Mac.
      ...['.NpmRC', 'a/.hu\u017fky/pre-commit', '.v\u017fcode/tasks.json', '.np\u200cmrc', 'b/.envrc.'],
      // What executes by opening, entering or committing.
      ...['.dir-locals-2.el', '.vimrc', '.lazy.lua', '.helix/languages.toml', '.vim/coc-settings.json'],
      ...['.vs/tasks.vs.json', '.gitpod.Dockerfile', '.gitpod/automations.yaml', 'devfile.yaml', '.rvmrc'],
      ...['.gitconfig', 'simple-git-hooks.cjs', '.config/lefthook.jsonc', '.trunk/trunk.yaml', 'prek.toml'],
      ...['.Rprofile', '.ghci', '.iex.exs', 'sub/.pdbrc', '.direnv/flake-profile-1.rc', '.rbenv-vars'],
      // What a build tool or a package manager starts or obeys before anything of the project.
      ...['.bazelrc', 'ci/linux.bazelrc', 'tools/bazel', 'gradle.properties', 'a/gradlew', 'mvnw.cmd'],
      ...['gradle/gradle-daemon-jvm.properties', 'Directory.Build.rsp', '.sbtopts', '.jvmopts'],
      ...['.buckconfig', 'pants.toml', '.pants.bootstrap', 'a/mise/config.local.toml', '.venv/pyvenv.cfg'],
      ...['env/pyvenv.cfg', '.pdm-python', 'pdm.toml', '.pnp.cjs', '.pnp.loader.mjs', '.pixi/config.toml'],
      // Other agents.
      ...['opencode.json', '.opencode/plugin/a.js', '.kiro/hooks/a.kiro.hook', '.roo/mcp.json'],
      ...['.openhands/setup.sh', '.agents/skills/a/b.md', 'AGENTS.override.md', '.continue/config.yaml'],
    ];
    const run = await life.run(planted(paths), PLAN);
    expectDone(run);
    const { exitCode, said, stderr } = await published(run);
    expect(exitCode, stderr).toBe(0);
    const drafts = ['agent_files', 'tool_hooks', 'toolchain', 'package_sources'];
    const flagged = said?.flags.filter(({ flag }) => drafts.includes(flag)).map(({ path }) => path);
    expect(paths.filter((path) => !flagged?.includes(path))).toEqual([]);
    expect(life.pull(1).pull?.draft).toBe(true);
  });

  type Linked = [link: string, target: string, path: string, end: string];
  const LINKED: Linked[] = [
    ['CLAUDE.md', 'docs/guide.md', 'docs/guide.md', 'refused'],
    ['sub/.npmrc', '../docs/npmrc', 'docs/npmrc', 'draft'],
    ['.husky', './docs', 'docs/pre-commit', 'draft'],
    ['.husky', '.', 'pre-commit', 'draft'],
    // As a Mac follows it.
    ['CLAUDE.md', 'Docs/GUIDE.md', 'docs/guide.md', 'refused'],
    ['.npmrc', 'docs/npmrc', 'docs/other', 'ready'],
  ];

  test.each(sampled(LINKED, ([, target, , end]) => `${end} ${/[A-Z]/.test(target)}`))(
    'is one through a link of the base: %s → %s',
    async (link, target, path, end) => {
      mkdirSync(join(life.checkout.root, 'sub'));
      symlinkSync(target, join(life.checkout.root, link));
      await life.checkout.git('add', link);
      await life.checkout.git('commit', '-qm', 'Link');
      await life.checkout.git('push', '-q', life.hosted.gitFolder, 'HEAD:main');
      const { exitCode, said, stderr } = await published(await written(path));
      if (end === 'refused') expect([exitCode, said?.errorCode]).toEqual([8, 'ERR_PROTECTED_PATH']);
      else expect([exitCode, said?.pullRequest?.draft], stderr).toEqual([0, end === 'draft']);
    },
  );

  const ON_BRANCH = LINKED.filter(([link, target]) => link !== 'sub/.npmrc' && target !== '.');

  testAtNight.each(sampled(ON_BRANCH, () => 'branch', 1))(
    'is one through a link on the branch that a run continues: %s → %s',
    async (link, target, path, end) => {
      const first = await published(await written('a.txt'));
      expect([first.exitCode, first.said?.pullRequest?.draft], first.stderr).toEqual([0, false]);
      await life.toHead(1);
      symlinkSync(target, join(life.checkout.root, link));
      await life.checkout.git('add', link);
      await life.checkout.git('commit', '-qm', 'Link');
      const head = `refs/heads/${life.pull(1).pull?.head}`;
      await life.checkout.git('push', '-q', life.hosted.gitFolder, `HEAD:${head}`);
      const linked = await life.hosted.head(life.pull(1).pull?.head ?? '');
      const run = await written(path, ['--continue', '1', '--message', 'Go on']);
      const { exitCode, said, stderr } = await published(run);
      expect(said?.pullRequest?.number ?? 1).toBe(1);
      if (end === 'refused') {
        expect([exitCode, said?.errorCode]).toEqual([8, 'ERR_PROTECTED_PATH']);
        expect(await life.hosted.head(life.pull(1).pull?.head ?? '')).toBe(linked);
      } else {
        expect([exitCode, said?.pullRequest?.draft], stderr).toEqual([0, end === 'draft']);
        expect(life.pull(1).pull?.draft).toBe(end === 'draft');
      }
    },
  );

  test('is one through a link that comes with it', async () => {
    const command = 'mkdir -p b/wrapper && ln -s b gradle && echo > b/wrapper/gradle-wrapper.properties';
    const run = await life.run([{ calls: [call('run_command', { command })] }, DONE], PLAN);
    const { exitCode, said, stderr } = await published(run);
    expect([exitCode, said?.pullRequest?.draft], stderr).toEqual([0, true]);
  });

  test('is refused for every CI that runs a branch', async () => {
    const paths = [
      ...[
        '.gitlab-ci.yml',
        '.gitlab-ci-deploy.yml',
        '.gitlab-ci/build.yml',
        'azure-pipelines.yaml',
        '.azure-pipelines.yml',
      ],
      ...[
        'azure-pipelines/build.yml',
        '.azuredevops/a.yml',
        '.pipelines/a.yml',
        'buildkite.yaml',
        '.drone.star',
      ],
      ...['.woodpecker.yaml', 'cloudbuild.yaml', 'buildspec.yml', '.tekton/pull.yaml', 'zuul.d/jobs.yaml'],
      ...['.zuul.yaml', '.taskcluster.yml', '.vela.yml', 'codefresh.yml', 'codemagic.yaml', 'bitrise.yml'],
      ...['.harness/a.yaml', '.builds/a.yml', 'ios/ci_scripts/ci_post_clone.sh', 'bamboo-specs/bamboo.yml'],
      ...['deploy.Jenkinsfile', '.jenkins/a.groovy', '.packit.yaml', '.cirrus.yaml'],
    ];
    const run = await life.run(planted(paths), PLAN);
    expectDone(run);
    const flagged = run.result.flags.filter(({ flag }) => flag === 'ci').map(({ path }) => path);
    expect(paths.filter((path) => !flagged.includes(path))).toEqual([]);
    const { exitCode, said } = await published(run);
    expect([exitCode, said?.outcome, life.hosted.pulls()]).toEqual([8, 'policy_violation', []]);
  });

  test('is refused, or published like any other, if a setting says so', async () => {
    const run = await written('.npmrc');
    const refused = await published(run, '--protected', 'refuse');
    expect([refused.exitCode, refused.said?.reason]).toEqual([
      8,
      expect.stringContaining('protected files: .npmrc.'),
    ]);
    expect(life.hosted.pulls()).toEqual([]);
    const accepted = await published(run, '--accept-protected', '.npmrc');
    expect([accepted.exitCode, accepted.said?.pullRequest?.draft]).toEqual([0, false]);
  });
});

describe('a pull request that is open for review', () => {
  /** What the same plan publishes later, and what continues its pull request. */
  const WAYS: [string, string[]][] = [
    ['of the same plan', PLAN],
    ['that continues', ['--continue', '1', '--message', 'Go on']],
  ];

  beforeEach(async () => {
    const first = await published(await written('a.txt'));
    expect([first.exitCode, first.said?.pullRequest?.draft], first.stderr).toEqual([0, false]);
  });

  test.each(sampled(WAYS, () => 'way', 1))(
    'is a draft before such a file is pushed by a run %s',
    async (_, args) => {
      await life.toHead(1);
      const run = await written('.npmrc', args);
      const before = life.github.requests.length;
      const { exitCode, said, stderr } = await published(run);
      expect(exitCode, stderr).toBe(0);
      expect(said?.pullRequest).toMatchObject({ number: 1, draft: true });
      const order = life.github.requests
        .slice(before)
        .flatMap(({ operation = '', method, body }) =>
          JSON.stringify(body ?? '').includes('convertPullRequestToDraft')
            ? ['converted']
            : operation === 'git-http/receive-pack' && method === 'POST'
              ? ['pushed']
              : [],
        );
      expect(order).toEqual(['converted', 'pushed']);
    },
  );

  test.each(sampled(WAYS, () => 'way'))(
    'is a draft with all others of its branch, by a run %s',
    async (_, args) => {
      await life.toHead(1);
      const run = await written('.npmrc', args);
      const wanted = { title: 'Also there', head: life.pull(1).pull?.head, base: 'stable' };
      await life.checkout.git('push', '-q', life.hosted.gitFolder, 'HEAD~1:refs/heads/stable');
      const { status, body } = await ask(life.github, token, `POST /repos/${NAME}/pulls`, wanted);
      expect(status, JSON.stringify(body)).toBe(201);
      const { exitCode, stderr } = await published(run);
      expect(exitCode, stderr).toBe(0);
      expect([1, 2].map((number) => life.pull(number).pull?.draft)).toEqual([true, true]);
    },
  );

  testAtNight.each(sampled(WAYS, () => 'way', 1))(
    'stays as it is where GitHub has no drafts, by a run %s',
    async (_, args) => {
      await life.toHead(1);
      const run = await written('.npmrc', args);
      life.hosted.settings.drafts = false;
      const head = await life.hosted.head(life.pull(1).pull?.head ?? '');
      const { exitCode, said } = await published(run);
      expect([exitCode, said?.outcome]).toEqual([8, 'policy_violation']);
      expect(said?.reason).toMatch(/GitHub refused to convert it: .*not supported.* Nothing was pushed\./);
      expect(await life.hosted.head(life.pull(1).pull?.head ?? '')).toBe(head);
    },
  );
});
