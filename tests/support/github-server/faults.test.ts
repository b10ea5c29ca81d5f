import { expect, test } from 'vitest';
import { ask, serving } from './ask.ts';
import type { Trouble } from './faults.ts';

async function started() {
  const github = await serving();
  const repository = await github.addRepository('acme/shop', { files: { 'a.txt': 'a\n' } });
  const token = github.addToken({ kind: 'installation', permissions: { contents: 'write' } });
  return { github, repository, token };
}

const line = 'POST /repos/acme/shop/git/blobs';

test('a fault hits the requests that it is meant for, and no others', async () => {
  const { github, token } = await started();
  github.faults.add({
    on: { operation: 'git/create-blob' },
    nth: 2,
    times: 2,
    trouble: { kind: 'status', status: 502 },
  });
  const statuses = [];
  for (let at = 0; at < 4; at += 1) {
    await ask(github, token, 'GET /repos/acme/shop');
    statuses.push((await ask(github, token, line, { content: 'x' })).status);
  }
  expect(statuses).toEqual([201, 502, 502, 201]);
});

test.each<[Trouble, number, Record<string, string | null>, string]>([
  [
    { kind: 'secondary-limit', status: 403, retryAfterSeconds: 7 },
    403,
    { 'retry-after': '7', 'x-ratelimit-remaining': '4999' },
    'secondary rate limit',
  ],
  [
    { kind: 'secondary-limit', status: 429, retryAfterSeconds: null },
    429,
    { 'retry-after': null },
    'secondary rate limit',
  ],
  [
    { kind: 'primary-limit', status: 403, resetInSeconds: 60 },
    403,
    { 'x-ratelimit-remaining': '0' },
    'API rate limit exceeded',
  ],
])('%j is worded as GitHub does', async (trouble, status, headers, message) => {
  const { github, token } = await started();
  github.faults.add({ trouble });
  const reply = await ask(github, token, line, { content: 'x' });
  expect(reply).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
  for (const [name, value] of Object.entries(headers)) expect(reply.headers.get(name)).toBe(value);
});

test('a connection is reset before anything is done, or after', async () => {
  const { github, repository, token } = await started();
  const sha = await repository.head('main');
  const create = (name: string) =>
    ask(github, token, 'POST /repos/acme/shop/git/refs', { ref: `refs/heads/${name}`, sha });
  github.faults.add({ trouble: { kind: 'reset' } });
  await expect(create('one')).rejects.toThrow('fetch failed');
  github.faults.add({ trouble: { kind: 'reset' }, carriedOut: true });
  await expect(create('two')).rejects.toThrow('fetch failed');
  expect([await repository.head('one'), await repository.head('two')]).toEqual([null, sha]);
});

test('hooks see a request before it is carried out and after', async () => {
  const { github, repository, token } = await started();
  const heads: unknown[] = [];
  github.before(async ({ operation }) => void heads.push(operation, await repository.head('new')));
  github.after(async () => void heads.push(await repository.head('new')));
  const sha = await repository.head('main');
  await ask(github, token, 'POST /repos/acme/shop/git/refs', { ref: 'refs/heads/new', sha });
  expect(heads).toEqual(['git/create-ref', null, sha]);
});

test('the request is remembered with what became of it', async () => {
  const { github, token } = await started();
  await ask(github, token, `${line}`, { content: 'x' });
  expect(github.requests).toMatchObject([
    {
      method: 'POST',
      path: '/repos/acme/shop/git/blobs',
      body: { content: 'x' },
      operation: 'git/create-blob',
      login: 'github-actions[bot]',
      status: 201,
    },
  ]);
});
