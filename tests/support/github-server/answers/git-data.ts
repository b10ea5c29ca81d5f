/** Blobs, trees, commits and refs: the Git data API. */

import type { Answer, Call, Handler } from '../call.ts';
import { notFound, Refusal, unprocessable } from '../refusal.ts';
import type { Signature } from '../state/git-store.ts';
import { showGitCommit, showRef } from '../views.ts';
import { checkRefUpdate } from './ref-update.ts';

export const gitData: Readonly<Record<string, Handler>> = {
  'git/get-ref': getRef,
  'git/create-ref': createRef,
  'git/update-ref': updateRef,
  'git/delete-ref': deleteRef,
  'git/create-blob': createBlob,
  'git/create-tree': createTree,
  'git/get-commit': getCommit,
  'git/create-commit': createCommit,
};

async function getRef(call: Call): Promise<Answer> {
  const repository = call.repository();
  const name = `refs/${call.params.ref ?? ''}`;
  const sha = await repository.store.ref(name);
  if (sha === null) throw notFound();
  return { status: 200, body: showRef(call.world, repository, name, sha) };
}

async function createRef(call: Call): Promise<Answer> {
  const repository = call.repository();
  const [name, sha] = [String(call.body.ref), String(call.body.sha)];
  const { store } = repository;
  if (!/^refs\/[^/]+\/./.test(name) || !(await store.holds('check-ref-format', name)))
    throw unprocessable(`${name} is not a valid ref name.`);
  if ((await store.typeOf(sha)) !== 'commit') throw unprocessable('Object does not exist');
  if ((await store.ref(name)) !== null) throw unprocessable('Reference already exists');
  await checkRefUpdate(repository, call.token, name, sha);
  await move(call, name, sha, '0'.repeat(40));
  return { status: 201, body: showRef(call.world, repository, name, sha) };
}

async function updateRef(call: Call): Promise<Answer> {
  const repository = call.repository();
  const name = `refs/${call.params.ref ?? ''}`;
  const sha = String(call.body.sha);
  const { store } = repository;
  const old = await store.ref(name);
  if (old === null) throw unprocessable('Reference does not exist');
  if ((await store.typeOf(sha)) !== 'commit') throw unprocessable('Object does not exist');
  if (call.body.force !== true && !(await store.holds('merge-base', '--is-ancestor', old, sha)))
    throw unprocessable('Update is not a fast forward');
  await checkRefUpdate(repository, call.token, name, sha);
  await move(call, name, sha, old);
  return { status: 200, body: showRef(call.world, repository, name, sha) };
}

async function deleteRef(call: Call): Promise<Answer> {
  const repository = call.repository();
  const name = `refs/${call.params.ref ?? ''}`;
  if ((await repository.store.ref(name)) === null) throw unprocessable('Reference does not exist');
  await repository.store.text(['update-ref', '-d', name]);
  for (const { pull, ...issue } of repository.issues.values()) {
    const isHead = pull?.headRepository === repository.fullName && name === `refs/heads/${pull.head}`;
    const known = repository.issues.get(issue.number);
    if (!isHead || known?.state !== 'open') continue;
    known.state = 'closed';
    if (call.token !== null) known.closedBy = call.token.account;
  }
  return { status: 204 };
}

async function move(call: Call, name: string, sha: string, old: string): Promise<void> {
  if (!(await call.repository().store.holds('update-ref', name, sha, old)))
    throw unprocessable('Reference update failed');
}

async function createBlob(call: Call): Promise<Answer> {
  const repository = call.repository();
  const { content, encoding = 'utf-8' } = call.body;
  if (encoding !== 'utf-8' && encoding !== 'base64') throw unprocessable(`encoding must be utf-8 or base64`);
  const text = String(content);
  if (encoding === 'base64' && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text))
    throw unprocessable('content is not valid Base64');
  const sha = await repository.store.writeBlob(Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8'));
  const url = `${call.world.apiUrl}/repos/${repository.fullName}/git/blobs/${sha}`;
  return { status: 201, body: { sha, url }, headers: { location: url } };
}

/** New files at the top, which is all that anyone needs of it: everything else comes by git. */
async function createTree(call: Call): Promise<Answer> {
  const { store } = call.repository();
  const entries = call.body.tree as Record<string, string | null | undefined>[];
  const lines = await Promise.all(
    entries.map(async ({ path, mode, content }) => {
      if (call.body.base_tree !== undefined || path?.includes('/') !== false || typeof content !== 'string')
        throw new Refusal(501, 'This server makes trees of new files only');
      return `${mode} blob ${await store.writeBlob(Buffer.from(content))}\t${path}\n`;
    }),
  );
  const sha = await store.text(['mktree'], lines.join(''));
  const url = `${call.world.apiUrl}/repos/${call.repository().fullName}/git/trees/${sha}`;
  return { status: 201, body: { sha, url, truncated: false, tree: [] } };
}

async function getCommit(call: Call): Promise<Answer> {
  const repository = call.repository();
  const sha = call.params.commit_sha ?? '';
  if ((await repository.store.typeOf(sha)) !== 'commit') throw notFound();
  return { status: 200, body: showGitCommit(call.world, repository, await repository.store.commit(sha)) };
}

async function createCommit(call: Call): Promise<Answer> {
  const repository = call.repository();
  const { store } = repository;
  const { message, tree, parents = [], author, committer, signature } = call.body;
  if (signature !== undefined) throw new Refusal(501, 'Given signatures are not supported by this server');
  if ((await store.typeOf(String(tree))) !== 'tree') throw unprocessable('Tree SHA does not exist');
  for (const parent of parents as string[]) {
    if ((await store.typeOf(parent)) !== 'commit')
      throw unprocessable('Parent SHA does not exist or is not a commit object');
  }
  // Commits of an app carry GitHub's signature, unless the request says by whom they are.
  const signs = call.token?.kind === 'installation' && author === undefined && committer === undefined;
  const self = ownSignature(call);
  const by = { ...self, ...(author as Partial<Signature> | undefined) };
  const sha = await store.writeCommit(
    {
      tree: String(tree),
      parents: parents as string[],
      author: by,
      committer: signs
        ? { ...self, name: 'GitHub', email: 'noreply@github.com' }
        : { ...by, ...(committer as Partial<Signature> | undefined) },
      message: String(message),
    },
    signs,
  );
  return { status: 201, body: showGitCommit(call.world, repository, await store.commit(sha)) };
}

function ownSignature({ token, world }: Call): Signature {
  if (token === null) throw new Refusal(401, 'Requires authentication');
  const { login, id } = token.account;
  return { name: login, email: `${id}+${login}@users.noreply.github.com`, date: world.now() };
}
