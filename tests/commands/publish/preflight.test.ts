import { afterEach, beforeEach, expect, test } from 'vitest';
import { openGitHub } from '../../../src/adapters/github/client.ts';
import { type PreflightInput, preflightPublishing } from '../../../src/commands/publish/preflight.ts';
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

function preflight(settings: Partial<PreflightInput['settings']> = {}, repository = NAME, continues = false) {
  const permissions = { contents: 'write', pull_requests: 'write' } as const;
  const token = server.addToken({ kind: 'installation', permissions });
  const { signal } = new AbortController();
  const github = openGitHub({ apiUrl: server.url, token, version: '0', signal });
  const none = { base: null, branch: null, headRepository: null };
  return preflightPublishing({ github, repository, settings: { ...none, ...settings }, continues });
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
