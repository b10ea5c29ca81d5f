import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectionLines } from '../../src/commands/start-check.ts';
import type { HostContext } from '../../src/host/context.ts';
import { startClaudeServer } from '../support/claude-server/server.ts';
import { removeFolders, temporaryFolder } from '../support/files/repository.ts';
import { startGitHub } from '../support/github-server/server.ts';
import { KEY } from '../support/runs/scripted-run.ts';

afterAll(removeFolders);

/** What `doctor` finds, as `part status said`. */
async function found(env: Record<string, string>, flags: Record<string, string> = {}): Promise<string[]> {
  const context = {
    env,
    cwd: temporaryFolder(),
    interrupt: new AbortController().signal,
    version: '0.0.0',
    hide: () => {},
    redact: (text: string) => text,
  } as unknown as HostContext;
  const lines = await connectionLines(context, { operands: [], flags, switches: new Set(), problems: [] });
  return lines.map(({ part, status, said }) => `${part} ${status} ${said}`);
}

async function model(): Promise<{ url: string; host: string; asked: () => number }> {
  const server = await startClaudeServer({ turns: [], apiKey: KEY });
  onTestFinished(() => server.close());
  return { url: server.url, host: new URL(server.url).host, asked: () => server.requests.length };
}

describe('what doctor finds out about the model', () => {
  test('key, price and model are as they should be, and no tokens are used', async () => {
    const { url, host, asked } = await model();
    expect(await found({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url })).toEqual([
      'key ok ANTHROPIC_API_KEY is set; asked with below',
      'price ok known for claude-sonnet-5-5',
      `model ok ${host} accepts the key and has claude-sonnet-5-5; no tokens were used`,
      expect.stringContaining('publishing skipped set GITHUB_TOKEN and pass --repository'),
    ]);
    expect(asked()).toBe(0);
  });

  test('a key that is refused is wrong, and is not repeated', async () => {
    const { url, host } = await model();
    const lines = await found({ ANTHROPIC_API_KEY: 'sk-ant-other', ANTHROPIC_BASE_URL: url });
    expect(lines).toContain(`model failed ${host} does not take the key (status 401)`);
    expect(lines.join()).not.toContain('sk-ant-other');
  });

  test('a gateway without that endpoint is not an error, but one that cannot be reached is', async () => {
    const { url, host } = await model();
    expect(
      await found({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }, { model: 'our-model' }),
    ).toContain(`model note ${host} did not say whether it has our-model (status 404)`);
    const other = await startClaudeServer({ turns: [], apiKey: KEY });
    await other.close();
    const lines = await found({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: other.url });
    expect(lines).toContain(`model failed ${new URL(other.url).host} cannot be reached: ECONNREFUSED`);
  });

  test('without a key there is no request', async () => {
    const lines = await found({});
    expect(lines).toEqual([
      expect.stringMatching(/^key note ANTHROPIC_API_KEY is not set/),
      'price ok known for claude-sonnet-5-5',
      'model skipped not asked for without a key',
      expect.stringContaining('publishing skipped'),
    ]);
  });

  test('a provider that cannot be asked is reported as such', async () => {
    const lines = await found({}, { provider: 'bedrock', model: 'anthropic.claude-x' });
    expect(lines.at(2)).toBe('model skipped bedrock is not asked: it has no request that uses no tokens');
  });
});

test.each([
  [
    { contents: 'write', pull_requests: 'write' },
    'publishing ok the token may push branches and open pull requests in acme/shop',
  ],
  [{ contents: 'read', pull_requests: 'write' }, /^publishing failed Publishing would fail: .*contents/],
] as const)('with a token and a repository its permissions %o are looked up', async (permissions, says) => {
  const github = await startGitHub();
  onTestFinished(() => github.close());
  await github.addRepository('acme/shop', { files: { 'a.txt': 'a\n' } });
  const token = github.addToken({ kind: 'installation', permissions });
  const env = { GITHUB_TOKEN: token, GITHUB_API_URL: github.url };
  const lines = await found(env, { repository: 'acme/shop' });
  expect(lines.at(-1)).toMatch(says);
});
