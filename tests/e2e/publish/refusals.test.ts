import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWrite } from '../../support/github-server/server.ts';
import {
  closeGitHubs,
  find,
  JOB_PERMISSIONS,
  type MadeRun,
  madeRun,
  NAME,
  onGitHub,
  publish,
  ROUTES,
} from '../../support/jobs/publishing.ts';
import { call, done } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

const FILES = { 'a.txt': 'a\n', '.github/workflows/ci.yml': 'on: push\n' };

let made: MadeRun;
let workflow: MadeRun;

beforeAll(async () => {
  made = await madeRun(FILES, [{ calls: [call('write_file', { path: 'a.txt', content: 'b\n' })] }, done]);
  workflow = await madeRun(FILES, [
    { calls: [call('run_command', { command: 'echo "jobs: {}" >> .github/workflows/ci.yml' })] },
    done,
  ]);
});

// Each test starts several processes.

afterAll(closeGitHubs);
const nothing = { branches: [], pulls: [], comments: 0 };

describe('a refusal by GitHub is reported with the missing permission', () => {
  test.each(
    sampled(
      [
        ['contents', 'contents: write', { contents: 'read' }],
        ['pull_requests', 'pull-requests: write', { pull_requests: 'read' }],
        ['issues', 'issues: write', { issues: 'read', pull_requests: 'read' }],
      ] as const,
      () => 'permission',
    ),
  )('%s', async (_, permission, lacking) => {
    const there = await onGitHub(made, { issue: true });
    const token = there.github.addToken({
      kind: 'installation',
      permissions: { ...JOB_PERMISSIONS, ...lacking },
    });
    const { exitCode, said, stderr } = await publish({ ...there, token });
    expect([exitCode, said?.outcome], stderr).toEqual([11, 'publish_failed']);
    expect(said?.reason).toContain(permission === 'issues: write' ? 'pull-requests: write' : permission);
    expect(there.github.invalid).toEqual([]);
  });

  test.each(sampled(ROUTES, () => 'route'))(
    'a workflow in the patch (by %s): file and permission, and how to mend it',
    async (_, sign) => {
      const there = await onGitHub(workflow);
      const args = ['--protected', 'allow', sign];
      const { exitCode, said } = await publish(there, { args });
      expect([exitCode, said?.outcome]).toEqual([11, 'publish_failed']);
      expect(said?.reason).toContain('.github/workflows/ci.yml');
      expect(said?.reason).toContain('workflows: write');
      expect(await find(there)).toEqual(nothing);
      const token = there.github.addToken({
        kind: 'installation',
        login: 'our-app[bot]',
        permissions: { ...JOB_PERMISSIONS, workflows: 'write' },
      });
      const again = await publish({ ...there, token }, { args });
      expect(again.exitCode, again.stderr).toBe(0);
    },
  );

  testAtNight('no drafts in this repository', async () => {
    const there = await onGitHub(made, { drafts: false });
    const { exitCode, said } = await publish(there);
    expect([exitCode, said?.outcome]).toEqual([11, 'publish_failed']);
    expect(said?.reason).toContain('--draft never');
    const ready = await publish(there, { args: ['--draft', 'never'] });
    expect(ready.exitCode, ready.stderr).toBe(0);
  });

  test('reviewers and milestones that do not exist: the pull request is there anyway', async () => {
    const there = await onGitHub(made, { collaborators: { ben: 'write' }, teams: ['core'] });
    const { exitCode, said } = await publish(there, {
      args: ['nobody', 'ben']
        .map((login) => `--reviewer=${login}`)
        .concat(
          ['none', '@acme/core'].map((slug) => `--team-reviewer=${slug}`),
          ['--milestone=v9', '--label=bot'],
        ),
    });
    expect([exitCode, said?.outcome, said?.pullRequest?.number]).toEqual([0, 'done', 1]);
    expect(said?.warnings.slice(1)).toEqual([
      expect.stringMatching(/^\[WARN_PULL_REQUEST_INCOMPLETE\] .*v9/),
      expect.stringMatching(/ did not request a review from nobody, none: .*collaborator/),
    ]);
    expect(there.repository.issues.get(1)).toMatchObject({
      labels: [{ name: 'bot' }],
      pull: { reviewers: [{ login: 'ben' }], teams: ['core'] },
    });
  });
});

test('a token that the base has lost meanwhile, and that the patch would bring back, is withheld', async () => {
  const lines = [
    'ghp_0123456789abcdefghijABCDEFGHIJ012345',
    ...Array.from({ length: 20 }, (_, at) => `line ${at}`),
  ];
  const text = (all: readonly string[]) => `${all.join('\n')}\n`;
  const [token = '', ...rest] = lines;
  const moves = await madeRun({ 'a.txt': text(lines) }, [
    { calls: [call('run_command', { command: 'sed 1d a.txt > b && head -n1 a.txt >> b && mv b a.txt' })] },
    done,
  ]);
  const there = await onGitHub(moves);
  await there.repository.commit('main', { 'a.txt': text(rest) });
  const { exitCode, stderr, said } = await publish(there);
  expect([exitCode, said?.outcome], stderr).toEqual([8, 'policy_violation']);
  expect(said?.reason).toContain('a.txt');
  expect(JSON.stringify(said)).not.toContain(token);
  expect(await find(there)).toEqual(nothing);
});

test('a part that would turn a folder of the current base into a repository is withheld', async () => {
  const part = await madeRun({ 'a.txt': 'a\n', 'evil/config': '[core]\n' }, [
    { calls: [call('write_file', { path: 'evil/refs/x', content: 'x\n' })] },
    done,
  ]);
  const there = await onGitHub(part);
  await there.repository.commit('main', { 'evil/HEAD': 'ref: refs/heads/main\n', 'evil/objects/x': 'x\n' });
  const { exitCode, stderr, said } = await publish(there);
  expect([exitCode, said?.outcome], stderr).toEqual([8, 'policy_violation']);
  expect(said?.reason).toContain(
    'treats as a repository, whose configuration can name programs that git runs: evil.',
  );
  expect(await find(there)).toEqual(nothing);
});

test.each(sampled(ROUTES, () => 'route'))(
  'a new file with a name that is not UTF-8 is published (by %s)',
  async (_, sign) => {
    const bytes = await madeRun(FILES, [
      { calls: [call('run_command', { command: `echo x > "$(printf 'n\\377')"` })] },
      done,
    ]);
    const there = await onGitHub(bytes);
    expect((await publish(there, { args: [sign] })).said?.commit?.tree).toBe(bytes.result.treeSha);
  },
);

function edit(folder: string, name: string, from: string | RegExp, to: string): void {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8');
  const changed = text.replaceAll(typeof from === 'string' ? from : new RegExp(from, 'g'), to);
  if (changed === text) throw new Error(`There is no ${String(from)} in ${name}`);
  writeFileSync(path, changed);
}

test.each(sampled(ROUTES, () => 'route', 1))(
  'an enterprise server is asked at its own addresses (by %s)',
  async (_, sign) => {
    const there = await onGitHub(made, { issue: true });
    const { github } = there;
    const env = { GITHUB_API_URL: github.enterpriseUrl };
    const { exitCode, stderr, said } = await publish(there, { env, args: [sign] });
    expect(exitCode, stderr).toBe(0);
    expect(said?.pullRequest?.url).toBe(`${github.serverUrl}/${NAME}/pull/2`);
  },
);

test('a run that began with a commit that GitHub does not have is refused with the reason', async () => {
  const there = await onGitHub(made);
  edit(there.artifact, 'result.json', made.result.baseSha ?? '', '1'.repeat(40));
  const { exitCode, stderr, said } = await publish(there);
  expect([exitCode, said?.errorCode], stderr).toEqual([11, 'ERR_PATCH_CONFLICT']);
  expect(said?.reason).toContain('Push that commit');
});

test('a dry run says what it would do, and does none of it', async () => {
  const there = await onGitHub(made, { issue: true });
  const { exitCode, stderr, said } = await publish(there, { args: ['--dry-run'] });
  expect(exitCode, stderr).toBe(0);
  expect(said?.dryRun).toBe(true);
  expect(there.github.requests.filter(isWrite)).toEqual([]);
  expect(stderr).toContain('would git push ');
  for (const call of ['pulls', 'issues/1/comments']) expect(stderr).toMatch(new RegExp(`POST .*${call}`));
  expect(await find(there)).toEqual(nothing);
});

test('the token is in nothing that is reported or kept', async () => {
  const there = await onGitHub(made, { issue: true });
  const token = there.github.addToken({ kind: 'installation', permissions: { contents: 'read' } });
  for (const args of [[], ['--sign', 'required'], ['--dry-run']]) {
    const { stderr, said } = await publish({ ...there, token }, { args });
    expect(stderr + JSON.stringify(said)).not.toContain(token);
  }
  const kept = join(there.artifact, 'publish.json');
  expect(existsSync(kept)).toBe(true);
  expect(readFileSync(kept, 'utf8')).not.toContain(token);
});

test('a fork: the branch is made there, and the pull request comes from it', async () => {
  const there = await onGitHub(made);
  const { github } = there;
  const fork = await github.addRepository('robot/shop', { forkOf: NAME });
  const token = github.addToken({ kind: 'user', login: 'robot', permissions: JOB_PERMISSIONS });
  for (const operation of ['created', 'none'] as const) {
    const { exitCode, stderr, said } = await publish(
      { ...there, token },
      { args: ['--head-repo', 'robot/shop'] },
    );
    expect(exitCode, stderr).toBe(0);
    expect(said?.pullRequest).toMatchObject({ number: 1, operation });
    expect(await fork.head(said?.branch ?? '')).toBe(said?.commit?.sha);
  }
  expect(there.repository.pulls().map(({ pull }) => pull?.headRepository)).toEqual(['robot/shop']);
  expect((await find(there)).branches).toEqual([]);
});
