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
  test('makes a commit that git reads back, of every mode', async () => {
    const { github, repository, token } = await started();
    const base = (await repository.head('main')) ?? '';
    const blob = async (content: Buffer) =>
      (
        await ask(github, token, `POST ${git}/blobs`, {
          content: content.toString('base64'),
          encoding: 'base64',
        })
      ).body.sha;
    const binary = Buffer.from([0, 255, 13, 10, 254]);
    const tree = await ask(github, token, `POST ${git}/trees`, {
      base_tree: base,
      tree: [
        { path: 'src/b.ts', mode: '100644', type: 'blob', sha: null },
        { path: 'bin/run', mode: '100755', type: 'blob', sha: await blob(binary) },
        { path: 'a "b"\n☃', mode: '100644', type: 'blob', content: 'odd\r\nname' },
        { path: 'link', mode: '120000', type: 'blob', sha: await blob(Buffer.from('src/a.ts')) },
        { path: 'vendor', mode: '160000', type: 'commit', sha: '1'.repeat(40) },
      ],
    });
    expect(tree.status).toBe(201);
    const commit = await ask(github, token, `POST ${git}/commits`, {
      message: 'Add things\n\nPatchsmith-Run: 1',
      tree: tree.body.sha,
      parents: [base],
    });
    expect(commit.body.verification).toMatchObject({ verified: true, reason: 'valid' });
    const ref = await ask(github, token, `POST ${git}/refs`, { ref: 'refs/heads/new', sha: commit.body.sha });
    expect(ref.status).toBe(201);
    expect(await repository.git('rev-parse', 'new^{tree}')).toBe(tree.body.sha);
    expect(
      (await repository.git('ls-tree', '-r', '-z', 'new')).split('\0').map((line) => line.slice(0, 6)),
    ).toEqual(['100644', '100644', '100755', '120000', '100644', '160000', '']);
    expect(await repository.git('log', '-1', '--format=%an <%ae> | %cn <%ce> | %B', 'new')).toMatch(
      /^github-actions\[bot\] <\d+\+github-actions\[bot\]@users\.noreply\.github\.com> \| GitHub <noreply@github\.com> \| Add things\n\nPatchsmith-Run: 1$/,
    );
    expect(await repository.git('fsck', '--strict')).toBe('');
    const read = await ask(github, token, `GET ${git}/blobs/${await blob(binary)}`);
    expect(Buffer.from(read.body.content, 'base64')).toEqual(binary);
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
    ['GET', `/blobs/${'1'.repeat(40)}`, undefined, 404, 'Not Found'],
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

  test.each([
    [{ path: 'gone.ts', mode: '100644', type: 'blob', sha: null }, 'GitRPC::BadObjectState'],
    [
      { path: '../x', mode: '100644', type: 'blob', content: 'x' },
      'tree.path contains a malformed path component',
    ],
    [{ path: '.git/config', mode: '100644', content: 'x' }, 'tree.path contains a malformed path component'],
    [
      { path: 'x', mode: '100644', type: 'blob', sha: '1'.repeat(40) },
      `tree.sha ${'1'.repeat(40)} is not a valid blob`,
    ],
    [{ path: 'x', content: 'x' }, 'Must supply a valid tree.mode'],
    [
      { path: 'x', mode: '100644' },
      'Must supply either tree.sha or tree.content. Request will be rejected if both are present.',
    ],
  ])('a tree entry %j is refused', async (entry, message) => {
    const { github, repository, token } = await started();
    const body = { base_tree: await repository.head('main'), tree: [entry] };
    expect(await ask(github, token, `POST ${git}/trees`, body)).toMatchObject({
      status: 422,
      body: { message },
    });
  });

  test('a folder takes the place of a file, and a file that of a folder', async () => {
    const { github, repository, token } = await started();
    const { body } = await ask(github, token, `POST ${git}/trees`, {
      base_tree: await repository.head('main'),
      tree: [
        { path: 'README.md', mode: '100644', type: 'blob', sha: null },
        { path: 'README.md/inner', mode: '100644', type: 'blob', content: 'i' },
        { path: 'src', mode: '100644', type: 'blob', content: 's' },
      ],
    });
    expect(await repository.git('ls-tree', '-r', '--name-only', body.sha)).toBe('README.md/inner\nsrc');
  });

  test('without the permission for workflows, none can be written, by tree or by ref', async () => {
    const { github, repository, token } = await started();
    const base = await repository.head('main');
    const body = {
      base_tree: base,
      tree: [{ path: '.github/workflows/x.yml', mode: '100644', type: 'blob', content: 'on: push' }],
    };
    const refused = { status: 403, body: { message: 'Resource not accessible by integration' } };
    expect(await ask(github, token, `POST ${git}/trees`, body)).toMatchObject(refused);
    const all = github.addToken({ kind: 'installation', permissions: { ...writes, workflows: 'write' } });
    const tree = (await ask(github, all, `POST ${git}/trees`, body)).body.sha;
    const commit = await ask(github, token, `POST ${git}/commits`, { message: 'm', tree, parents: [base] });
    const ref = { ref: 'refs/heads/w', sha: commit.body.sha };
    expect(await ask(github, token, `POST ${git}/refs`, ref)).toMatchObject(refused);
    expect(await ask(github, all, `POST ${git}/refs`, ref)).toMatchObject({ status: 201 });
  });
});
