import { describe, expect, test } from 'vitest';
import { ask, serving } from './ask.ts';
import type { GitHub, GitHubRepository } from './server.ts';

const writes = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;

async function started(): Promise<{ github: GitHub; repository: GitHubRepository; token: string }> {
  const github = await serving();
  const repository = await github.addRepository('acme/shop', {
    files: { 'README.md': 'hello\n', 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' },
  });
  return { github, repository, token: github.addToken({ kind: 'installation', permissions: writes }) };
}

const git = '/repos/acme/shop/git';

describe('the Git data API', () => {
  test('makes a commit that git reads back', async () => {
    const { github, repository, token } = await started();
    const base = await repository.head('main');
    const tree = await ask(github, token, `POST ${git}/trees`, {
      tree: [{ path: 'a', mode: '100644', type: 'blob', content: 'odd\r\n' }],
    });
    expect(tree.status).toBe(201);
    const message = 'Add things\n\nPatchsmith-Run: 1';
    const made = { message, tree: tree.body.sha, parents: [base] };
    const commit = await ask(github, token, `POST ${git}/commits`, made);
    expect(commit.body.verification).toMatchObject({ verified: true, reason: 'valid' });
    const ref = await ask(github, token, `POST ${git}/refs`, { ref: 'refs/heads/new', sha: commit.body.sha });
    expect(ref.status).toBe(201);
    expect(await repository.git('ls-tree', '-r', '--name-only', 'new')).toBe('a');
    expect(await repository.git('log', '-1', '--format=%an <%ae> | %cn <%ce> | %B', 'new')).toMatch(
      /^github-actions\[bot\] <\d+\+github-actions\[bot\]@users\.noreply\.github\.com> \| GitHub <noreply@github\.com> \| Add things\n\nPatchsmith-Run: 1$/,
    );
    expect(await repository.git('fsck', '--strict')).toBe('');
    expect(github.invalid).toEqual([]);
  });

  test('signs what a bot commits in its own name, and nothing else', async () => {
    const { github, repository, token } = await started();
    github.addUser('octocat');
    const person = github.addToken({ kind: 'user', login: 'acme', permissions: writes });
    const tree = await repository.git('rev-parse', 'main^{tree}');
    const made = { message: 'm', tree, parents: [await repository.head('main')] };
    const author = { name: 'x', email: 'x@example.com' };
    const verified = async (by: string, body: object) =>
      (await ask(github, by, `POST ${git}/commits`, body)).body.verification.verified;
    expect(await verified(token, made)).toBe(true);
    expect(await verified(token, { ...made, author })).toBe(false);
    expect(await verified(person, made)).toBe(false);
  });

  test('moves a branch only forward', async () => {
    const { github, repository, token } = await started();
    const first = await repository.head('main');
    const second = await repository.commit('main', { 'new.txt': 'n\n' });
    const to = (sha: unknown, force?: boolean) =>
      ask(github, token, `PATCH ${git}/refs/heads/main`, { sha, ...(force === undefined ? {} : { force }) });
    expect(await to(first)).toMatchObject({ status: 422, body: { message: 'Update is not a fast forward' } });
    expect(await to(first, true)).toMatchObject({ status: 200 });
    expect(await to(second, false)).toMatchObject({ status: 200, body: { object: { sha: second } } });
    expect(await repository.head('main')).toBe(second);
  });

  test.each([
    ['POST', '/refs', { ref: 'refs/heads/main', sha: 'HEAD' }, 422, 'Reference already exists'],
    ['POST', '/refs', { ref: 'refs/heads/x', sha: '1'.repeat(40) }, 422, 'Object does not exist'],
    ['POST', '/refs', { ref: 'main', sha: 'HEAD' }, 422, 'main is not a valid ref name.'],
    ['PATCH', '/refs/heads/none', { sha: 'HEAD' }, 422, 'Reference does not exist'],
    ['GET', '/ref/heads/none', undefined, 404, 'Not Found'],
    ['POST', '/blobs', { content: '*', encoding: 'base64' }, 422, 'content is not valid Base64'],
    ['POST', '/commits', { message: 'm', tree: 'HEAD' }, 422, 'Tree SHA does not exist'],
  ])('%s %s of %j is answered %i', async (method, path, given, status, message) => {
    const { github, repository, token } = await started();
    const head = (await repository.head('main')) ?? '';
    const body = given === undefined ? undefined : JSON.parse(JSON.stringify(given).replaceAll('HEAD', head));
    expect(await ask(github, token, `${method} ${git}${path}`, body)).toMatchObject({
      status,
      body: { message },
    });
  });

  test('without the permission for workflows, no ref gets one', async () => {
    const { github, repository, token } = await started();
    const sha = await repository.commit('w', { '.github/workflows/x.yml': 'on: push' });
    await repository.git('update-ref', '-d', 'refs/heads/w');
    const all = github.addToken({ kind: 'installation', permissions: { ...writes, workflows: 'write' } });
    const ref = { ref: 'refs/heads/w', sha };
    const refused = { status: 403, body: { message: 'Resource not accessible by integration' } };
    expect(await ask(github, token, `POST ${git}/refs`, ref)).toMatchObject(refused);
    expect(await ask(github, all, `POST ${git}/refs`, ref)).toMatchObject({ status: 201 });
  });
});
