/** Commits of others on a plan's branch are found before anything is paid for. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { obstacleIn, openPlace } from '../../../src/commands/publish/place.ts';
import { type BranchWork, refuseForeign } from '../../../src/commands/publish/plan-branch.ts';
import { resolveSettings } from '../../../src/config/resolve.ts';
import { branchOf, planId } from '../../../src/domain/github/publishing/identity.ts';
import { sha256Of } from '../../../src/files/hash.ts';
import { type GitHub, type GitHubRepository, startGitHub } from '../../support/github-server/server.ts';

const NAME = 'acme/shop';
let server: GitHub;
let shop: GitHubRepository;
let token: string;

beforeEach(async () => {
  server = await startGitHub();
  shop = await server.addRepository(NAME, { files: { 'a.txt': 'a\n' } });
  token = server.addToken({
    kind: 'installation',
    permissions: { contents: 'write', pull_requests: 'write' },
  });
});

afterEach(async () => {
  expect(server.invalid).toEqual([]);
  await server.close();
});

const plan = (source: BranchWork['plan']['source']) => ({ source, title: '', sha256: '' });
const ofFile = plan({ kind: 'file', path: 'plans/weekly.md' });

async function obstacle(work: BranchWork, flags: Record<string, unknown> = {}) {
  const { signal: interrupt } = new AbortController();
  const resolved = resolveSettings({
    flags: { 'github-server-url': server.serverUrl, 'github-api-url': server.url, ...flags },
    env: {},
    file: null,
    nearest: () => '',
  });
  if (resolved.status !== 'ok') throw new Error(JSON.stringify(resolved));
  const { settings } = resolved;
  const given = { repository: NAME, settings, token, version: '0', env: {}, interrupt, say: () => {} };
  const place = await openPlace(given);
  return obstacleIn(place, () => refuseForeign(place, work));
}

const branchFor = (work: BranchWork) => {
  const full = { ...work.plan, allow: [], protect: [] };
  return branchOf(full, planId(full, NAME, sha256Of));
};

test('commits of the base that the default branch lacks do not count as commits by others', async () => {
  const work = { plan: ofFile, base: 'next', hasIssue: false };
  await shop.commit('next', { 'n.txt': 'n\n' });
  await shop.git('branch', branchFor(work), 'next');
  expect(await obstacle(work)).toBeNull();
  expect((await obstacle({ ...work, base: null }))?.exitCode).toBe(11);
  // A branch of its own for each run is nobody's yet.
  expect(await obstacle({ ...work, base: null }, { 'branch-suffix': 'random' })).toBeNull();
});
