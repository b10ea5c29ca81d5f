/** The runner behind a proxy that is the only way out, as on self-hosted runners of companies. */

import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { startGitHub } from '../../support/github-server/server.ts';
import { listening } from '../../support/http/listening.ts';
import { closeGitHubs, madeRun, NAME, onGitHub, publish } from '../../support/jobs/publishing.ts';
import { type ConnectProxy, startConnectProxy } from '../../support/machine/connect-proxy.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

afterAll(closeGitHubs);

const PASSWORD = 'p@ss-word of the proxy';
const LOGIN = `builder:${PASSWORD}`;
const FORMS = [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(LOGIN).toString('base64')];

async function behindProxy(
  servers: Record<string, string>,
): Promise<ConnectProxy & { env: Record<string, string> }> {
  const proxy = await startConnectProxy({ servers, login: LOGIN });
  onTestFinished(() => proxy.close());
  const HTTPS_PROXY = `http://builder:${encodeURIComponent(PASSWORD)}@${proxy.host}`;
  return { ...proxy, env: { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: proxy.certificate } };
}

/** Looks at its own variables and those of whoever started it. */
const LOOK = `env; tr '\\0' '\\n' < /proc/$PPID/environ | grep -i proxy; echo looked`;

test.each(sampled(['auto', 'off'], () => 'sandbox'))(
  'a run reaches GitHub and the model through it, and its password reaches nobody (--sandbox %s)',
  async (sandbox) => {
    const github = await startGitHub();
    onTestFinished(() => github.close());
    await github.addRepository(NAME, { files: { 'a.txt': 'a\n' }, collaborators: { mona: 'write' } });
    const { number } = github.addIssue(NAME, { title: 'Do it', author: 'mona' });
    const turns = [
      {
        calls: [
          call('run_command', { command: LOOK }),
          call('write_file', { path: 'b.txt', content: 'b\n' }),
        ],
      },
      { text: `Done, by way of ${FORMS.join(' and ')}.` },
    ];
    const model = await startClaudeServer({ turns, apiKey: KEY });
    onTestFinished(() => model.close());
    const { env, asked } = await behindProxy({
      'model.example.test': model.url,
      'github.example.test': github.url,
    });
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const runDir = join(temporaryFolder(), 'run');
    const args = ['run', '--plan-from-issue', String(number), '--sandbox', sandbox, '--run-dir', runDir];
    const ended = await runCli([...args, '--output', 'json'], {
      cwd: root,
      // A process reads NODE_EXTRA_CA_CERTS when it starts.
      built: true,
      env: {
        ...env,
        HOME: temporaryFolder(),
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: 'https://model.example.test',
        GITHUB_API_URL: 'https://github.example.test',
        GITHUB_SERVER_URL: github.serverUrl,
        GITHUB_REPOSITORY: NAME,
        GITHUB_TOKEN: github.addToken({ kind: 'user', login: 'mona', permissions: {} }),
      },
    });
    expect([ended.exitCode, JSON.parse(ended.stdout || '{}').outcome], ended.stderr).toEqual([0, 'done']);
    expect([...new Set(asked)].sort()).toEqual(['github.example.test:443', 'model.example.test:443']);
    expect(JSON.stringify(model.requests[1])).toContain('looked');
    const kept = ['result.json', 'events.jsonl'].map((name) => readFileSync(join(runDir, name), 'utf8'));
    const toldOfTools = JSON.stringify(model.requests[1]?.body);
    for (const form of FORMS)
      expect(
        [...kept, ended.stdout, ended.stderr, toldOfTools].filter((text) => text.includes(form)),
      ).toEqual([]);
  },
);

test('a plain http gateway is reached through HTTP_PROXY if that is permitted, with a warning in the result', async () => {
  const model = await startClaudeServer({ turns: [{ text: 'Nothing to do.' }], apiKey: KEY });
  onTestFinished(() => model.close());
  const asked: string[] = [];
  const proxy = createServer((incoming, answer) => {
    const { method, headers } = incoming;
    const { host, pathname, search } = new URL(incoming.url ?? '');
    asked.push(host);
    const outgoing = request(`${model.url}${pathname}${search}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  const port = await listening(proxy);
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const cli = (...args: string[]) =>
    runCli(['run', '-m', 'x', '--sandbox', 'off', '--output', 'json', ...args], {
      cwd: root,
      env: {
        HOME: temporaryFolder(),
        HTTP_PROXY: `http://127.0.0.1:${port}`,
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: 'http://gateway.example.test',
      },
    });
  const refused = await cli();
  expect([refused.exitCode, refused.lastLine]).toEqual([
    2,
    expect.stringContaining('permit it with --allow-insecure-base-url'),
  ]);
  expect(asked).toEqual([]);
  const ended = await cli('--allow-insecure-base-url');
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(JSON.parse(ended.stdout).warnings).toEqual([
    expect.stringMatching(
      /^\[WARN_PLAIN_HTTP\] The key and the whole conversation go to http:\/\/gateway\.example\.test /,
    ),
  ]);
  expect([...new Set(asked)]).toEqual(['gateway.example.test']);
});

testAtNight('a pull request is made through it', async () => {
  const made = await madeRun({ 'a.txt': 'a\n' }, [
    { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] },
    { text: 'Done.' },
  ]);
  const place = await onGitHub(made);
  const { env, asked } = await behindProxy({ 'github.example.test': place.github.url });
  const { said, exitCode, stderr } = await publish(place, {
    env: { ...env, GITHUB_API_URL: 'https://github.example.test' },
    built: true,
  });
  expect([exitCode, said?.outcome, said?.pullRequest?.number], stderr).toEqual([0, 'done', 1]);
  expect(asked.length).toBeGreaterThan(0);
});

test('exceptions are reached directly, and an unreachable proxy is named as the cause', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const env = { HTTPS_PROXY: 'http://127.0.0.1:9' };
  const direct = await scriptedRun({ repository, turns: [{ text: 'Done.' }], env });
  expect(direct.exitCode, direct.stderr).toBe(0);
  const lost = await scriptedRun({
    repository,
    turns: [],
    args: ['--outage-wait', '1s'],
    env: { ...env, ANTHROPIC_BASE_URL: 'https://model.example.test' },
  });
  expect([lost.exitCode, lost.result.outcome]).toEqual([4, 'provider_error']);
  expect(lost.result.reason).toContain('ECONNREFUSED 127.0.0.1:9 (HTTPS_PROXY is 127.0.0.1:9)');
});
