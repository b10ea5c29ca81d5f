import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openGitHub } from '../../../src/adapters/github/client/client.ts';
import { type PreflightInput, preflightPublishing } from '../../../src/commands/publish/preflight.ts';
import {
  type GitHub,
  type GitHubRepository,
  type NewToken,
  startGitHub,
} from '../../support/github-server/server.ts';

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

const ALL = { contents: 'write', pull_requests: 'write' } as const;

function preflight(
  permissions: NewToken['permissions'] = ALL,
  settings: Partial<PreflightInput['settings']> = {},
  repository = NAME,
) {
  const token = server.addToken({ kind: 'installation', permissions });
  const { signal } = new AbortController();
  const github = openGitHub({ apiUrl: server.url, token, version: '0', signal });
  return preflightPublishing({
    github,
    repository,
    settings: { base: null, branch: null, headRepository: null, ...settings },
  });
}

const state = async () => [await shop.git('for-each-ref'), shop.pulls().length, shop.issues.size];

test('a pull request that is there already need not be opened', async () => {
  shop.settings.actionsMayOpenPulls = false;
  const token = server.addToken({ kind: 'installation', permissions: ALL });
  const { signal } = new AbortController();
  const github = openGitHub({ apiUrl: server.url, token, version: '0', signal });
  const settings = { base: null, branch: null, headRepository: null };
  const asked = (continues: boolean) =>
    preflightPublishing({ github, repository: NAME, settings, continues });
  expect([(await asked(false))?.exitCode, await asked(true)]).toEqual([11, null]);
});

test('a token that may publish passes, and nothing is left that anybody sees', async () => {
  const before = await state();
  expect(await preflight()).toBeNull();
  expect(await state()).toEqual(before);
});

describe('before anything is spent it is reported', () => {
  test.each([
    ['contents: write', { pull_requests: 'write', contents: 'read' }],
    ['pull-requests: write', { contents: 'write' }],
  ] as const)('that the token lacks %s', async (needed, permissions) => {
    const before = await state();
    const said = await preflight(permissions);
    expect(said).toMatchObject({ exitCode: 11, errorCode: 'ERR_GITHUB_REFUSED' });
    expect(said?.reason).toContain(`The token lacks ${needed}: add it to the permissions of the job`);
    expect(await state()).toEqual(before);
  });

  test('that the settings of the repository keep Actions from opening pull requests', async () => {
    shop.settings.actionsMayOpenPulls = false;
    expect((await preflight())?.reason).toContain('Allow GitHub Actions to create and approve pull requests');
  });

  test('that the repository is archived', async () => {
    shop.settings.archived = true;
    expect(await preflight()).toMatchObject({
      reason: 'The repository acme/shop is archived, so nothing can be published in it.',
      errorCode: 'ERR_REPOSITORY_CLOSED',
    });
  });

  test('that there is no such repository or branch', async () => {
    expect((await preflight(ALL, {}, 'acme/none'))?.reason).toContain('Check --repository');
    expect(await preflight(ALL, { base: 'next' })).toMatchObject({
      reason: 'There is no branch next in acme/shop. Name one with --base.',
      errorCode: 'ERR_BRANCH_MISSING',
    });
  });

  test('that a branch stands in the way of all below it', async () => {
    await shop.git('branch', 'patchsmith', 'main');
    expect(await preflight()).toMatchObject({
      reason: expect.stringContaining('has a branch patchsmith, so it cannot have branches below it'),
      errorCode: 'ERR_BRANCH_NAME_TAKEN',
    });
    expect(await preflight(ALL, { branch: 'bot/shop/x' })).toBeNull();
  });
});
