import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import type { Script } from '../../support/claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { type ActionEnd, runAction, valuesIn } from '../../support/jobs/action-runner.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { holdingEvents } from '../../support/runs/valid-events.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

/** NODE_24 names the program of the runtime that action.yml asks for, where it can be had. */
const node24 = process.env.NODE_24 ?? '';
const RUNTIMES = [
  ['the node of these tests', process.execPath],
  ...(existsSync(node24) ? [['node 24', node24]] : []),
];

/** A copy of what a runner checks out of the action: the manifest and dist/, and no packages. */
function checkedOutAction(): string {
  const folder = temporaryFolder();
  for (const name of [
    'action.yml',
    'dist/action.js',
    'dist/action-post.js',
    'dist/action-program.js',
    'dist/documents.js',
    'dist/launcher',
    'dist/rg',
  ])
    cpSync(name, join(folder, name), { recursive: true });
  return folder;
}

async function run(
  turns: Script,
  inputs: Record<string, string>,
  node: string,
): Promise<ActionEnd & { server: ClaudeServer; root: string }> {
  const { root } = await makeRepository({ 'a.txt': 'old\nneedle\n' });
  const server = await startClaudeServer({ turns, apiKey: KEY });
  try {
    const all = { 'api-key': KEY, 'base-url': server.url, ...inputs };
    const env = {
      ACTIONS_RUNTIME_TOKEN: 'canary-of-the-runtime-token',
      GITHUB_TOKEN: 'canary-of-another-token',
    };
    return {
      ...(await runAction({ workspace: root, inputs: all, env, node, action: checkedOutAction() })),
      server,
      root,
    };
  } finally {
    await server.close();
  }
}

describe.each(RUNTIMES)('with %s', (_, node = '') => {
  test('it runs from nothing but its checkout, with a plan that has front matter, and searches', async () => {
    const plan = '---\nverify:\n  - grep -q new a.txt\n---\n\nDo it\n';
    const turns = [
      { calls: [call('search', { pattern: '(?x) ne{2} dle' })] },
      { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
      { text: 'All done.' },
    ];
    const ended = await run(turns, { plan }, node);
    expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
    expect(JSON.stringify(ended.server.requests[1]?.body)).toContain('a.txt:2:needle');
    expect(ended.summary).toContain('grep -q new a.txt');
    expect(ended.post.exitCode).toBe(0);
  });

  testAtNight(
    'commands cannot read a key or a token in any environment, also without a sandbox',
    async () => {
      // The secrets, and not the pattern that finds them; reversed, so that no redaction hides them.
      const look = `
      cat /proc/{$PPID,self}/{environ,cmdline} 2> /dev/null | tr '\\0' '\\n' |
        grep -a '[0]123456789abcdef\\|[c]anary-of' | rev > found
      tr '\\0' '\\n' < /proc/$PPID/environ | grep -c '^INPUT_API-KEY=\\**$\\|^INPUT_GITHUB-TOKEN=\\**$' >> found
      env | grep -c 'INPUT_\\|GITHUB_\\|ACTIONS_\\|STATE_\\|RUNNER_' >> found; true`;
      const turns = [{ calls: [call('run_command', { command: look })] }, { text: 'Done.' }];
      const inputs = { plan: 'Do it', sandbox: 'off', 'github-token': 'canary-of-the-token' };
      const ended = await run(turns, inputs, node);
      expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
      expect(readFileSync(join(ended.root, 'found'), 'utf8')).toBe('2\n0\n');
      expect(ended.stdout).toContain(
        '::warning title=Input::[WARN_TOKEN_NOT_USED] GITHUB_TOKEN of the environment',
      );
    },
  );
});

testAtNight('it runs by hand as its page says', async () => {
  const page = readFileSync('docs/action.md', 'utf8');
  const [, command = ''] = /## Try it on your machine\n.*?```sh\n(.*?)```/s.exec(page) ?? [];
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const outputs = join(temporaryFolder(), 'outputs');
  const turns = [{ calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] }, { text: 'Done.' }];
  const server = await startClaudeServer({ turns, apiKey: KEY });
  try {
    const { PATH, HOME } = process.env;
    const line = command.replace('/path/to/a/checkout', root).replace('/tmp/outputs', outputs);
    const env = {
      ...{ PATH, HOME, RUNNER_TEMP: temporaryFolder() },
      ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    };
    const ended = await holdingEvents({ args: [], cwd: '/', env }, () =>
      execa('bash', ['-c', line], { env, extendEnv: false, reject: false, stdin: 'ignore' }),
    );
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(valuesIn(readFileSync(outputs, 'utf8')).outcome).toBe('done');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n');
  } finally {
    await server.close();
  }
});
