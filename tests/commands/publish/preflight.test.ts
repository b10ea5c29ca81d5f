/** What GitHub would refuse is found before anything is paid for: permissions, rules, and commits of others on a plan's branch. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { obstacleIn, openPlace } from '../../../src/commands/publish/place.ts';
import { type BranchWork, refuseForeign } from '../../../src/commands/publish/plan-branch.ts';
import { preflightPublishing } from '../../../src/commands/publish/preflight.ts';
import { resolveSettings } from '../../../src/config/resolve.ts';
import { branchOf, planId } from '../../../src/domain/github/publishing/identity.ts';
import { sha256Of } from '../../../src/files/hash.ts';
import { type GitHub, type GitHubRepository, startGitHub } from '../../support/github-server/server.ts';

const NAME = 'acme/shop';
let server: GitHub;
let shop: GitHubRepository;

beforeEach(async () => {
  server = await startGitHub();
  shop = await server.addRepository(NAME, { files: { 'a.txt': 'a\n' } });
});

afterEach(async () => {
  expect(server.invalid).toEqual([]);
  await server.close();
});

async function placeWith(flags: Record<string, unknown>, repository = NAME) {
  const permissions = { contents: 'write', pull_requests: 'write' } as const;
  const token = server.addToken({ kind: 'installation', permissions });
  const { signal: interrupt } = new AbortController();
  const resolved = resolveSettings({
    flags: { 'github-server-url': server.serverUrl, 'github-api-url': server.url, ...flags },
    env: {},
    file: null,
  });
  if (resolved.status !== 'ok') throw new Error(JSON.stringify(resolved));
  const { settings } = resolved;
  return openPlace({ repository, settings, token, version: '0', env: {}, interrupt, say: () => {} });
}

async function preflight(flags: Record<string, unknown> = {}, repository = NAME, continues = false) {
  const place = await placeWith(flags, repository);
  return obstacleIn(place, () => preflightPublishing(place, continues));
}

async function obstacle(work: BranchWork, flags: Record<string, unknown> = {}) {
  const place = await placeWith(flags);
  return obstacleIn(place, () => refuseForeign(place, work));
}

test('a pull request that is there already need not be opened', async () => {
  shop.settings.actionsMayOpenPulls = false;
  expect([(await preflight())?.exitCode, await preflight({}, NAME, true)]).toEqual([11, null]);
});

test('what the rules of the branch would refuse is said before, unless the token may bypass them', async () => {
  shop.settings.rules = [
    { type: 'required_signatures' },
    { type: 'commit_message_pattern', parameters: { operator: 'regex', pattern: '^SHOP-[0-9]+ ' } },
    { type: 'committer_email_pattern', parameters: { operator: 'ends_with', pattern: '@acme.example' } },
    { type: 'branch_name_pattern', parameters: { operator: 'starts_with', pattern: 'x', negate: true } },
    { type: 'deletion' },
    { type: 'commit_message_pattern', parameters: { operator: 'regex', pattern: '(?i' } },
  ];
  const refused = await preflight();
  expect(refused?.exitCode).toBe(11);
  expect(refused?.reason).toBe(
    `The branch patchsmith/x of ${NAME} would be refused, since its rules require signed commits: use --sign required, with GITHUB_TOKEN or the token of a GitHub App; and want the commit message to match "^SHOP-[0-9]+ ": set it with --commit-message; and want the committer 41898282+github-actions[bot]@users.noreply.github.com to end with "@acme.example": set it with --committer.`,
  );
  const flags = { sign: 'required', 'commit-message': 'SHOP-7 {title}' };
  expect((await preflight(flags))?.reason).toContain('the committer noreply@github.com');
  shop.settings.rules = shop.settings.rules.map((rule) => ({ ...rule, bypass: 'always' }));
  expect(await preflight()).toBeNull();
  shop.settings.rules = [{ type: 'creation' }];
  expect((await preflight())?.reason).toContain('restrict who may create it');
});

test('commits of the base that the default branch lacks do not count as commits by others', async () => {
  const plan = { source: { kind: 'file', path: 'plans/weekly.md' }, title: '', sha256: '' } as const;
  const work = { plan, base: 'next', hasIssue: false };
  const full = { ...plan, allow: [], protect: [] };
  await shop.commit('next', { 'n.txt': 'n\n' });
  await shop.git('branch', branchOf(full, planId(full, NAME, sha256Of)), 'next');
  expect(await obstacle(work)).toBeNull();
  expect((await obstacle({ ...work, base: null }))?.exitCode).toBe(11);
  // A branch of its own for each run is nobody's yet.
  expect(await obstacle({ ...work, base: null }, { 'branch-suffix': 'random' })).toBeNull();
});
