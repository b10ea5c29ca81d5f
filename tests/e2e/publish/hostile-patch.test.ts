/** Patches and servers that no run and no GitHub would make. */

import { createHash } from 'node:crypto';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../support/files/repository.ts';
import { isWrite } from '../../support/github-server/server.ts';
import {
  closeGitHubs,
  find,
  type MadeRun,
  madeRun,
  type OnGitHub,
  onGitHub,
  publish,
} from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const LONG = 'x\n'.repeat(200_000);

const FILES = {
  ...{ 'a.txt': 'a\n', 'long.txt': LONG, 'papers/notes.md': 'Be kind.\n' },
  ...{ 'same.txt': 'on: push\n', '.github/workflows/ci.yml': 'on: push\n' },
};

async function withLinks({ root, git }: Repository): Promise<void> {
  symlinkSync('docs/notes.md', join(root, 'CLAUDE.md'));
  symlinkSync('papers', join(root, 'docs'));
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Links');
}

let made: MadeRun;
beforeAll(async () => {
  const turns = [{ calls: [call('write_file', { path: 'a.txt', content: 'b\n' })] }, { text: 'Done.' }];
  made = await madeRun(FILES, turns, { prepare: withLinks });
});
afterAll(closeGitHubs);
const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const blob = (text: string) => hash('sha1', `blob ${Buffer.byteLength(text)}\0${text}`);
const NONE = '0'.repeat(40);

function section(name: string, index: string, hunk: string, names = [`a/${name}`, `b/${name}`]): string {
  return `diff --git a/${name} b/${name}\n${index}\n--- ${names[0]}\n+++ ${names[1]}\n${hunk}`;
}

interface Forgery {
  readonly patch: string;
  readonly kinds: Readonly<Record<string, string>>;
  readonly tree?: string;
}

/** The artifact with another patch, and a result that agrees with it. */
function forge({ artifact }: OnGitHub, { patch, kinds, tree = NONE }: Forgery): void {
  const path = join(artifact, 'result.json');
  const result = JSON.parse(readFileSync(path, 'utf8'));
  const changed = Object.entries(kinds).map(([name, kind]) => ({
    path: name,
    kind,
    additions: 1,
    deletions: 1,
  }));
  const written = { ...result.patch, bytes: Buffer.byteLength(patch), sha256: hash('sha256', patch) };
  writeFileSync(join(artifact, 'changes.patch'), patch);
  writeFileSync(path, JSON.stringify({ ...result, treeSha: tree, changedFiles: changed, patch: written }));
}

/** The tree that git makes of the base with these entries of its index. */
async function treeWith(there: OnGitHub, ...entries: string[]): Promise<string> {
  const { git } = made.repository;
  await git('read-tree', 'HEAD');
  for (const entry of entries) await git('update-index', '--add', '--cacheinfo', entry);
  const tree = await git('write-tree', '--missing-ok');
  await git('read-tree', 'HEAD');
  expect(there.github.invalid).toEqual([]);
  return tree;
}

test('a patch that changes another file than the result lists changes nothing', async () => {
  const there = await onGitHub(made);
  const index = `index ${blob('on: push\n')}..${blob('on: evil\n')} 100644`;
  const hunk = '@@ -1 +1 @@\n-on: push\n+on: evil\n';
  const names = ['a/.github/workflows/ci.yml', 'b/.github/workflows/ci.yml'];
  const tree = await treeWith(there, `100644,${blob('on: evil\n')},.github/workflows/ci.yml`);
  forge(there, { patch: section('same.txt', index, hunk, names), kinds: { 'same.txt': 'modify' }, tree });
  const { exitCode, said } = await publish(there);
  expect([exitCode, said?.errorCode]).toEqual([11, 'ERR_PATCH_BROKEN']);
  expect(there.github.requests.filter(isWrite)).toEqual([]);
});

test('a file that a protected name leads to through two links is protected', async () => {
  const there = await onGitHub(made);
  const index = `index ${blob('Be kind.\n')}..${blob('Be evil.\n')} 100644`;
  const tree = await treeWith(there, `100644,${blob('Be evil.\n')},papers/notes.md`);
  const patch = section('papers/notes.md', index, '@@ -1 +1 @@\n-Be kind.\n+Be evil.\n');
  forge(there, { patch, kinds: { 'papers/notes.md': 'modify' }, tree });
  const { exitCode, said } = await publish(there);
  expect([exitCode, said?.reason]).toEqual([8, expect.stringContaining('protected files: CLAUDE.md.')]);
});

test('so is one that is the last of many, beside links which give each of them fifty names', async () => {
  const command =
    'for i in $(seq 10 58); do ln -s . a$i; echo b > b$i; done; echo Be evil. > papers/notes.md';
  const turns = [{ calls: [call('run_command', { command })] }, { text: 'Done.' }];
  const there = await onGitHub(await madeRun(FILES, turns, { prepare: withLinks }));
  const { exitCode, said, stderr } = await publish(there);
  expect([exitCode, said?.errorCode], stderr).toEqual([8, 'ERR_PROTECTED_PATH']);
});

test('another commit of a submodule is published with a flag', async () => {
  const there = await onGitHub(made);
  const commit = '1'.repeat(40);
  const index = `new file mode 160000\nindex ${NONE}..${commit}`;
  const hunk = `@@ -0,0 +1 @@\n+Subproject commit ${commit}\n`;
  const tree = await treeWith(there, `160000,${commit},lib`);
  forge(there, {
    patch: section('lib', index, hunk, ['/dev/null', 'b/lib']),
    kinds: { lib: 'create' },
    tree,
  });
  const { exitCode, said, stderr } = await publish(there);
  expect(exitCode, stderr).toBe(0);
  expect(said?.flags).toEqual([{ path: 'lib', flag: 'submodules', detail: '' }]);
});

test('a patch that takes git hours ends at the deadline', async () => {
  const there = await onGitHub(made);
  const index = `index ${blob(LONG)}..${'2'.repeat(40)} 100644`;
  const hunk = `@@ -2,80001 +2,80001 @@\n${' x\n'.repeat(79_000)}-y\n+z\n${' x\n'.repeat(1_000)}`;
  forge(there, { patch: section('long.txt', index, hunk), kinds: { 'long.txt': 'modify' } });
  const started = Date.now();
  const { exitCode, said } = await publish(there, { args: ['--deadline', '3s'] });
  expect([exitCode, said?.outcome]).toEqual([124, 'deadline']);
  expect(Date.now() - started).toBeLessThan(6_000);
});

test.each([
  ['runId', { runId: 'x --> @mona' }, 'is not the id of a run'],
  ['baseBranch', { baseBranch: 'a:b' }, 'is not a branch name'],
])('a result whose %s is markup or a refspec is refused before GitHub is asked', async (_, part, why) => {
  const there = await onGitHub(made);
  const path = join(there.artifact, 'result.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...part }));
  const { exitCode, said } = await publish(there);
  expect([exitCode, said?.reason]).toEqual([2, expect.stringContaining(why)]);
  expect(there.github.requests).toEqual([]);
});

const ANSWERS = [
  ['GET', 'git-http/upload-pack', 302],
  ['POST', 'git-http/upload-pack', 307],
  ['GET', 'git-http/receive-pack', 302],
  ['POST', 'git-http/receive-pack', 403],
] as const;

test.each(sampled(ANSWERS, ([method]) => method))(
  'a %s to %s that is answered with %i takes the token to no other place',
  async (method, operation, status) => {
    const there = await onGitHub(made);
    const elsewhere = await onGitHub(made);
    const basic = Buffer.from(`x-access-token:${there.token}`).toString('base64');
    const headers = {
      location: `${elsewhere.github.serverUrl}/acme/shop.git/info/refs`,
      'content-type': 'text/plain',
    };
    const rawBody = `remote: error: Basic ${basic} is not ${there.token}\n`;
    const trouble = { kind: 'status', status, headers, rawBody } as const;
    there.github.faults.add({ on: { method, operation }, times: 99, trouble });
    const { exitCode, said, stderr } = await publish(there);
    expect([exitCode, said?.errorCode], stderr).toEqual([11, 'ERR_GITHUB_REFUSED']);
    expect(elsewhere.github.requests).toEqual([]);
    const told = `${stderr}${JSON.stringify(said)}`;
    expect([told.includes(there.token), told.includes(basic)]).toEqual([false, false]);
    expect(await find(there)).toEqual({ branches: [], pulls: [], comments: 0 });
  },
);
