import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../files/temp-folder.ts';
import { ask, serving } from './ask.ts';
import type { GitHubRepository } from './server.ts';

const writes = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;
const pulls = '/repos/acme/shop/pulls';

async function started(given = {}) {
  const github = await serving();
  const repository = await github.addRepository('acme/shop', { files: { 'a.txt': 'a\n' }, ...given });
  const token = github.addToken({ kind: 'installation', permissions: writes });
  return { github, repository, token };
}

/** A commit without parents. */
function orphan({ git }: GitHubRepository): Promise<string> {
  const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return git(...person, 'commit-tree', '-m', 'orphan', 'main^{tree}');
}

describe('whoever asks', () => {
  test('is refused with a token that does not exist, or without one where one is needed', async () => {
    const { github } = await started();
    expect(await ask(github, 'nonsense', 'GET /repos/acme/shop')).toMatchObject({
      status: 401,
      body: { message: 'Bad credentials' },
    });
    expect(await ask(github, null, 'GET /repos/acme/shop')).toMatchObject({ status: 200 });
    const blob = await ask(github, null, 'POST /repos/acme/shop/git/blobs', { content: '' });
    expect(blob).toMatchObject({ status: 401, body: { message: 'Requires authentication' } });
  });

  test('reports which permission is missing', async () => {
    const { github } = await started();
    const token = github.addToken({ kind: 'installation', permissions: { contents: 'read' } });
    const reply = await ask(github, token, 'POST /repos/acme/shop/issues/1/comments', { body: 'x' });
    expect(reply).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
    expect(reply.headers.get('x-accepted-github-permissions')).toBe('issues=write; pull_requests=write');
  });

  test('does not learn of private repositories that the token cannot see', async () => {
    const { github, token } = await started({ private: true });
    const other = github.addToken({ kind: 'installation', permissions: writes, repositories: [] });
    expect(await ask(github, other, 'GET /repos/acme/shop')).toMatchObject({ status: 404 });
    expect(await ask(github, token, 'GET /repos/acme/shop')).toMatchObject({
      status: 200,
      body: { private: true, default_branch: 'main', permissions: { push: true, admin: false } },
    });
  });

  test('is no one, when it is an installation', async () => {
    const { github, token } = await started();
    const person = github.addToken({ kind: 'user', login: 'octocat', id: 583231 });
    expect(await ask(github, token, 'GET /user')).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
    expect(await ask(github, person, 'GET /user')).toMatchObject({
      status: 200,
      body: { login: 'octocat', id: 583231, type: 'User' },
    });
  });

  test('can write nothing into an archived repository', async () => {
    const { github, repository, token } = await started();
    repository.settings.archived = true;
    expect(await ask(github, token, 'POST /repos/acme/shop/git/blobs', { content: '' })).toMatchObject({
      status: 403,
      body: { message: 'Repository was archived so is read-only.' },
    });
  });
});

describe('what is not described', () => {
  test.each([
    ['GET /repos/acme/shop/nothing', undefined, 404],
    ['POST /repos/acme/shop/git/blobs', { contents: '' }, 422],
    ['POST /repos/acme/shop/git/blobs', { content: 1 }, 422],
    ['POST /repos/acme/shop/git/blobs', { content: '', more: 1 }, 422],
    ['POST /repos/acme/shop/git/blobs', '{', 400],
    ['POST /repos/acme/shop/git/trees', { tree: [{ path: 'x', mode: '100600', content: '' }] }, 422],
    ['GET /repos/acme/shop/pulls?state=all&colour=red', undefined, 422],
    ['GET /repos/acme/shop/pulls?state=merged', undefined, 422],
    ['GET /repos/acme/shop/issues/one', undefined, 422],
  ])('%s with %j is refused and remembered', async (line, body, status) => {
    const { github, token } = await started();
    expect((await ask(github, token, line, body)).status).toBe(status);
    expect(github.invalid.map(({ side }) => side)).toEqual(['request']);
  });
});

describe('pull requests', () => {
  const asked = { title: 'T', head: 'topic', base: 'main', body: 'B' };

  test('are opened once for a branch, and found by owner and branch', async () => {
    const { github, repository, token } = await started();
    await repository.git('branch', 'topic', 'main');
    expect((await ask(github, token, `POST ${pulls}`, asked)).body.errors).toEqual([
      { resource: 'PullRequest', code: 'custom', message: 'No commits between main and topic' },
    ]);
    const sha = await repository.commit('topic', { 'b.txt': 'b\n' });
    const made = await ask(github, token, `POST ${pulls}`, { ...asked, draft: true });
    expect(made).toMatchObject({
      status: 201,
      body: { number: 1, draft: true, head: { ref: 'topic', sha }, base: { ref: 'main' }, state: 'open' },
    });
    expect((await ask(github, token, `POST ${pulls}`, asked)).body).toMatchObject({
      message: 'Validation Failed',
      errors: [{ message: 'A pull request already exists for acme:topic.' }],
    });
    const found = async (query: string) =>
      (await ask(github, token, `GET ${pulls}?${query}`)).body.map((one: { number: number }) => one.number);
    expect(await found('head=acme:topic')).toEqual([1]);
    expect(await found('head=acme:other')).toEqual([]);
    expect(await found('head=other')).toEqual([1]);
    expect(await found('state=closed')).toEqual([]);
    expect(github.invalid).toEqual([]);
  });

  test('are refused for branches that do not exist, long texts, and where Actions may not', async () => {
    const { github, repository, token } = await started({ drafts: false });
    const errors = async (body: object) =>
      (await ask(github, token, `POST ${pulls}`, body)).body.errors?.[0].field;
    expect(await errors(asked)).toBe('head');
    await repository.commit('other', { 'b.txt': 'b\n' });
    await repository.commit('topic', { 'b.txt': 'b\n' });
    await repository.git('update-ref', 'refs/heads/topic', await orphan(repository));
    expect((await ask(github, token, `POST ${pulls}`, asked)).body.errors[0].message).toBe(
      'The topic branch has no history in common with main',
    );
    await repository.git('branch', '--force', 'topic', 'other');
    expect(await errors({ ...asked, base: 'nothing' })).toBe('base');
    expect(await errors({ ...asked, body: 'x'.repeat(65_537) })).toBe('body');
    expect((await ask(github, token, `POST ${pulls}`, { ...asked, draft: true })).body.message).toBe(
      'Draft pull requests are not supported in this repository.',
    );
    repository.settings.actionsMayOpenPulls = false;
    expect(await ask(github, token, `POST ${pulls}`, asked)).toMatchObject({
      status: 403,
      body: { message: 'GitHub Actions is not permitted to create or approve pull requests.' },
    });
  });

  test('come from forks too', async () => {
    const { github, token } = await started();
    const fork = await github.addRepository('ann/shop', { forkOf: 'acme/shop' });
    const sha = await fork.commit('topic', { 'b.txt': 'b\n' });
    const ann = github.addToken({ kind: 'user', login: 'ann', permissions: writes });
    expect(await ask(github, ann, `POST ${pulls}`, { ...asked, head: 'ann:topic' })).toMatchObject({
      status: 201,
      body: { head: { label: 'ann:topic', sha, repo: { full_name: 'ann/shop', fork: true } } },
    });
    expect(await ask(github, ann, 'POST /repos/acme/shop/git/blobs', { content: '' })).toMatchObject({
      status: 403,
    });
    const compared = await ask(github, token, 'GET /repos/acme/shop/compare/main...ann:topic');
    expect(compared.body).toMatchObject({ status: 'ahead', ahead_by: 1, commits: [{ sha }] });
  });

  test('ask collaborators for a review, and no one else', async () => {
    const { github, repository, token } = await started({ collaborators: { ann: 'write' }, teams: ['core'] });
    await repository.commit('topic', { 'b.txt': 'b\n' });
    await ask(github, token, `POST ${pulls}`, asked);
    const line = `POST ${pulls}/1/requested_reviewers`;
    expect((await ask(github, token, line, { reviewers: ['bob'] })).body.message).toContain(
      'Reviews may only be requested from collaborators.',
    );
    const done = await ask(github, token, line, { reviewers: ['ann'], team_reviewers: ['core'] });
    expect(done).toMatchObject({
      status: 201,
      body: { requested_reviewers: [{ login: 'ann' }], requested_teams: [{ slug: 'core' }] },
    });
    const ann = github.addUser('ann');
    repository.issues.get(1)?.pull?.reviews.push({ id: 1, author: ann, state: 'APPROVED' });
    expect((await ask(github, token, `GET ${pulls}/1/reviews`)).body).toMatchObject([
      { user: { login: 'ann' }, state: 'APPROVED' },
    ]);
    expect(github.invalid).toEqual([]);
  });
});

test('two histories are compared, with messages, in order', async () => {
  const { github, repository, token } = await started();
  await repository.commit('topic', { 'b.txt': 'b\n' }, { message: 'One\n\nTrailer: 1' });
  await repository.commit('topic', { 'a.txt': 'A\n' }, { message: 'Two' });
  await repository.commit('main', { 'c.txt': 'c\n' });
  const { body } = await ask(github, token, 'GET /repos/acme/shop/compare/main...topic');
  expect(body).toMatchObject({
    status: 'diverged',
    ahead_by: 2,
    behind_by: 1,
    commits: [{ commit: { message: 'One\n\nTrailer: 1' } }, { commit: { message: 'Two' } }],
    files: [
      { filename: 'a.txt', status: 'modified' },
      { filename: 'b.txt', status: 'added' },
    ],
  });
  expect(github.invalid).toEqual([]);
});

describe('issues', () => {
  test('have comments in pages, which their authors change and delete', async () => {
    const { github, token } = await started();
    github.addIssue('acme/shop', { title: 'Do it', body: 'Please', author: 'ann', labels: ['patch'] });
    for (let at = 0; at < 3; at += 1) github.addComment('acme/shop', 1, { body: `c${at}`, author: 'ann' });
    const made = await ask(github, token, 'POST /repos/acme/shop/issues/1/comments', { body: 'mine' });
    expect(made).toMatchObject({
      status: 201,
      body: { user: { login: 'github-actions[bot]', type: 'Bot' }, performed_via_github_app: {} },
    });
    const first = await ask(github, token, 'GET /repos/acme/shop/issues/1/comments?per_page=3');
    expect(first.body.map((one: { body: string }) => one.body)).toEqual(['c0', 'c1', 'c2']);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await ask(github, token, `GET ${next.replace(github.url, '')}`);
    expect(second.body.map((one: { body: string }) => one.body)).toEqual(['mine']);
    const line = `/repos/acme/shop/issues/comments/${made.body.id}`;
    expect((await ask(github, token, `PATCH ${line}`, { body: 'new' })).body.body).toBe('new');
    expect((await ask(github, token, `DELETE ${line}`)).status).toBe(204);
    expect((await ask(github, token, `GET ${line}`)).status).toBe(404);
    expect((await ask(github, token, 'GET /repos/acme/shop/issues/1')).body).toMatchObject({
      comments: 3,
      user: { login: 'ann' },
      labels: [{ name: 'patch' }],
      author_association: 'NONE',
    });
    expect(github.invalid).toEqual([]);
  });

  test('get labels that did not exist, people who can be assigned, and milestones that exist', async () => {
    const { github, token } = await started({ collaborators: { ann: 'triage' }, milestones: ['v1'] });
    github.addIssue('acme/shop', { title: 'Do it' });
    const issue = '/repos/acme/shop/issues/1';
    expect((await ask(github, token, `POST ${issue}/labels`, { labels: ['new'] })).body).toMatchObject([
      { name: 'new' },
    ]);
    expect(
      (await ask(github, token, `POST ${issue}/assignees`, { assignees: ['ann', 'bob'] })).body,
    ).toMatchObject({
      assignees: [{ login: 'ann' }],
    });
    expect((await ask(github, token, `PATCH ${issue}`, { milestone: 2 })).body.errors[0].field).toBe(
      'milestone',
    );
    expect((await ask(github, token, `PATCH ${issue}`, { milestone: 1 })).body.milestone.title).toBe('v1');
    expect((await ask(github, token, `PATCH ${issue}`, { assignees: ['bob'] })).status).toBe(422);
    expect(github.invalid).toEqual([]);
  });
});

test('roles are reported, and apps have none', async () => {
  const { github, token } = await started({ collaborators: { ann: 'maintain' } });
  github.addUser('bob');
  const role = async (login: string) =>
    (await ask(github, token, `GET /repos/acme/shop/collaborators/${encodeURIComponent(login)}/permission`))
      .body;
  expect(await role('ann')).toMatchObject({ permission: 'write', role_name: 'maintain' });
  expect(await role('acme')).toMatchObject({ permission: 'admin' });
  expect(await role('bob')).toMatchObject({ permission: 'read' });
  expect(await role('github-actions[bot]')).toMatchObject({ message: 'github-actions[bot] is not a user' });
  expect(await role('nobody')).toMatchObject({ message: 'Not Found' });
});

test('files are read at a revision', async () => {
  const { github, repository, token } = await started();
  const first = await repository.head('main');
  await repository.commit('main', { 'a.txt': 'new\n', 'd/e.txt': 'e\n' });
  const path = '/repos/acme/shop/contents';
  const text = async (query: string) =>
    Buffer.from((await ask(github, token, `GET ${path}/a.txt${query}`)).body.content, 'base64').toString();
  expect([await text(''), await text(`?ref=${first}`)]).toEqual(['new\n', 'a\n']);
  expect((await ask(github, token, `GET ${path}/d`)).body).toMatchObject([{ path: 'd/e.txt', type: 'file' }]);
  expect((await ask(github, token, `GET ${path}/none`)).status).toBe(404);
  const headers = { accept: 'application/vnd.github.raw+json' };
  expect((await ask(github, token, `GET ${path}/a.txt`, undefined, { headers })).body).toBe('new\n');
  expect(github.invalid).toEqual([]);
});

describe('git itself', () => {
  const push = (folder: string, url: string, authorization: string | null) =>
    execa('git', ['push', '--quiet', url, 'HEAD:refs/heads/topic'], {
      cwd: folder,
      reject: false,
      env: {
        GIT_TERMINAL_PROMPT: '0',
        GIT_CONFIG_COUNT: authorization === null ? '0' : '1',
        GIT_CONFIG_KEY_0: 'http.extraHeader',
        GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
      },
    });
  const basic = (token: string) => `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;

  test('clones, commits and pushes at the address of the repository', async () => {
    const { github, repository, token } = await started();
    const folder = tempFolder();
    const url = `${github.serverUrl}/acme/shop.git`;
    await execa('git', ['clone', '--quiet', '--depth=1', '--filter=blob:none', url, '.'], { cwd: folder });
    const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    await execa('git', [...person, 'commit', '--quiet', '--allow-empty', '-m', 'empty'], { cwd: folder });
    expect((await push(folder, url, null)).exitCode).not.toBe(0);
    const readOnly = github.addToken({ kind: 'installation', permissions: { contents: 'read' } });
    expect((await push(folder, url, basic(readOnly))).stderr).toContain('403');
    expect(await push(folder, url, basic(token))).toMatchObject({ exitCode: 0 });
    const { stdout } = await execa('git', ['rev-parse', 'HEAD'], { cwd: folder });
    expect(await repository.head('topic')).toBe(stdout);
    await execa('git', [...person, 'commit', '--quiet', '--amend', '--allow-empty', '-m', 'other'], {
      cwd: folder,
    });
    expect((await push(folder, url, basic(token))).stderr).toContain('(non-fast-forward)');
  });

  test('is refused a workflow without its permission, a protected branch, and what rules forbid', async () => {
    const { github, repository, token } = await started({
      files: { '.github/workflows/a.yml': 'on: push\n' },
    });
    const folder = tempFolder();
    const url = `${github.serverUrl}/acme/shop.git`;
    await execa('git', ['clone', '--quiet', url, '.'], { cwd: folder });
    const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    await execa('git', ['mv', '.github/workflows/a.yml', '.github/workflows/b.yml'], { cwd: folder });
    await execa('git', [...person, 'commit', '--quiet', '-m', 'move'], { cwd: folder });
    expect((await push(folder, url, basic(token))).stderr).toContain(
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/b.yml` without `workflows` permission',
    );
    repository.settings.protectedBranches = ['topic'];
    const all = github.addToken({ kind: 'installation', permissions: { ...writes, workflows: 'write' } });
    expect((await push(folder, url, basic(all))).stderr).toContain('GH006: Protected branch update failed');
    repository.settings.protectedBranches = [];
    repository.settings.rules = [{ type: 'required_signatures' }];
    expect((await push(folder, url, basic(all))).stderr).toContain('Commits must have verified signatures.');
    const pattern = { operator: 'starts_with', pattern: 'move', negate: true };
    repository.settings.rules = [{ type: 'commit_message_pattern', parameters: pattern }];
    expect((await push(folder, url, basic(all))).stderr).toContain('GH013: Repository rule violations');
    repository.settings.rules = [{ type: 'creation', bypass: 'always' }, { type: 'required_linear_history' }];
    expect(await push(folder, url, basic(all))).toMatchObject({ exitCode: 0 });
  });
});

test('an enterprise server has the same API below its own path', async () => {
  const { github, token } = await started();
  const base = github.enterpriseUrl;
  expect(await ask(github, token, 'GET /repos/acme/shop', undefined, { base })).toMatchObject({
    status: 200,
  });
  expect(github.requests.map(({ path }) => path)).toEqual(['/repos/acme/shop']);
});
