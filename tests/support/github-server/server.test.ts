import { describe, expect, test } from 'vitest';
import { ask, serving } from './ask.ts';

const writes = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;

async function started(given = {}) {
  const github = await serving();
  const repository = await github.addRepository('acme/shop', { files: { 'a.txt': 'a\n' }, ...given });
  const token = github.addToken({ kind: 'installation', permissions: writes });
  return { github, repository, token };
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

test('an enterprise server has the same API below its own path', async () => {
  const { github, token } = await started();
  const base = github.enterpriseUrl;
  expect(await ask(github, token, 'GET /repos/acme/shop', undefined, { base })).toMatchObject({
    status: 200,
  });
  expect(github.requests.map(({ path }) => path)).toEqual(['/repos/acme/shop']);
});
