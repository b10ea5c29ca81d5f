import { afterEach, beforeEach, expect, test } from 'vitest';
import { openGitHub } from '../../../src/adapters/github/client.ts';
import { OnGitHub } from '../../../src/adapters/github/request.ts';
import { obstacleIn } from '../../../src/commands/publish/place.ts';
import { type PreflightPlace, preflightPublishing } from '../../../src/commands/publish/preflight.ts';
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

function preflight(settings: Partial<PreflightPlace['settings']> = {}, repository = NAME, continues = false) {
  const permissions = { contents: 'write', pull_requests: 'write' } as const;
  const token = server.addToken({ kind: 'installation', permissions });
  const { signal } = new AbortController();
  const github = openGitHub({ apiUrl: server.url, token, version: '0', signal });
  const none = {
    ...{ base: null, branch: null, headRepository: null, commitMessage: null },
    ...{ author: null, committer: null, sign: 'auto' as const },
  };
  const upstream = new OnGitHub(github, repository);
  const fork = new OnGitHub(github, settings.headRepository ?? repository);
  const place = { repository, upstream, fork, settings: { ...none, ...settings } };
  return obstacleIn({ settings: { deadlineMs: 1 }, signal, workflows: [] }, () =>
    preflightPublishing(place, continues),
  );
}

const state = async () => [await shop.git('for-each-ref'), shop.pulls().length, shop.issues.size];

test('a pull request that is there already need not be opened', async () => {
  shop.settings.actionsMayOpenPulls = false;
  expect([(await preflight())?.exitCode, await preflight({}, NAME, true)]).toEqual([11, null]);
});

test('a token that may publish passes, and nothing is left that anybody sees', async () => {
  const before = await state();
  expect(await preflight()).toBeNull();
  expect(await state()).toEqual(before);
});

test('no repository, and a branch that stands in the way of another name', async () => {
  expect((await preflight({}, 'acme/none'))?.reason).toContain('Check --repository');
  await shop.git('branch', 'patchsmith', 'main');
  expect((await preflight())?.errorCode).toBe('ERR_BRANCH_NAME_TAKEN');
  expect(await preflight({ branch: 'bot/shop/x' })).toBeNull();
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
  const settings = { sign: 'required', commitMessage: 'SHOP-7 {title}' } as const;
  expect((await preflight(settings))?.reason).toContain('the committer noreply@github.com');
  shop.settings.rules = shop.settings.rules.map((rule) => ({ ...rule, bypass: 'always' }));
  expect(await preflight()).toBeNull();
  shop.settings.rules = [{ type: 'creation' }];
  expect((await preflight())?.reason).toContain('restrict who may create it');
});
