/** `patchsmith run --publish`: from the plan to the pull request in one command, or to the reason why there is none. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/library.ts';
import type { Script } from '../../support/claude-server/script.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import { done, edit, type Place, place } from '../../support/jobs/publishing-job.ts';
import { resultOf } from '../../support/published.ts';
import { CLI, type CliEnd, runCli } from '../../support/runs/cli.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const leaveBlocked = { calls: [call('finish', { status: 'blocked', summary: 'The file is gone.' })] };

function environment(at: Place, more: Record<string, string> = {}): Record<string, string> {
  return {
    ...at.env,
    HOME: temporaryFolder(),
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: at.model.url,
    GITHUB_TOKEN: at.token,
    ...more,
  };
}

interface OneCommand extends CliEnd {
  readonly at: Place;
  readonly runDir: string;
}

async function runAndPublish(
  turns: Script,
  args: readonly string[] = [],
  given: { env?: (at: Place) => Record<string, string>; switches?: readonly string[] } = {},
): Promise<OneCommand> {
  const at = await place(turns);
  const runDir = join(temporaryFolder(), 'run');
  const words = ['run', '-m', 'Do it', '--run-dir', runDir, ...(given.switches ?? ['--publish']), ...args];
  const end = await runCli(words, { cwd: at.checkout.root, env: environment(at, given.env?.(at)) });
  return { ...end, at, runDir };
}

function resultIn(runDir: string): RunResult {
  return resultOf(runDir);
}

describe('run --publish', () => {
  test('ends with a pull request of exactly the tree that the run has proven, and the token is nowhere', async () => {
    const looking = {
      calls: [call('run_command', { command: 'env; cat /proc/*/environ; echo new > a.txt; true' })],
    };
    const { at, runDir, ...end } = await runAndPublish([looking, done], ['--title-prefix', 'bot: ']);
    expect([end.exitCode, end.stdout], end.stderr).toEqual([0, '']);
    const [pull] = at.hosted.pulls();
    expect(end.stderr.match(/^patchsmith: .*$/gm)).toEqual([
      'patchsmith: done (exit 0): 1 file changed, nothing to verify.',
      `patchsmith: done (exit 0): Pull request #${pull?.number} opened: ${at.github.serverUrl}/acme/shop/pull/${pull?.number}`,
    ]);
    expect(pull?.title).toBe('bot: Do it');
    const branch = pull?.pull?.head ?? '';
    expect(await at.hosted.git('rev-parse', `${branch}^{tree}`)).toBe(resultIn(runDir).treeSha);
    expect(at.github.invalid).toEqual([]);

    const written = ['result.json', 'events.jsonl', 'publish.json'].map((name) =>
      readFileSync(join(runDir, name), 'utf8'),
    );
    const asked = JSON.stringify(at.model.requests.map(({ body }) => body));
    expect([...written, asked, end.stderr].filter((text) => text.includes(at.token))).toEqual([]);
  });

  test('asks no model where others have committed to the branch of its plan', async () => {
    const first = await runAndPublish([edit, done]);
    const branch = first.at.hosted.pulls()[0]?.pull?.head ?? '';
    await first.at.hosted.commit(branch, { 'b.txt': 'theirs\n' }, { author: 'Ann' });
    const asked = first.at.model.requests.length;
    await first.at.checkout.git('checkout', '--quiet', '--force', 'main');
    const words = ['run', '-m', 'Do it', '--publish', '--run-dir', join(temporaryFolder(), 'run')];
    const end = await runCli(words, { cwd: first.at.checkout.root, env: environment(first.at) });
    expect([end.exitCode, first.at.model.requests.length], end.stderr).toEqual([11, asked]);
    expect(end.lastLine).toMatch(/has commits by others \(\w{8} by Ann\)/);
    expect(first.at.hosted.pulls()[0]?.comments.map(({ body }) => body.split('\n')[0])).toEqual([
      '**The run was not started**',
    ]);
  });

  test('prints one document with --output json: the result of the run together with the publication', async () => {
    const { at, runDir, ...end } = await runAndPublish([edit, done], ['--output', 'json']);
    expect(end.exitCode, end.stderr).toBe(0);
    const { publication, ...result } = JSON.parse(end.stdout);
    const kept = resultIn(runDir);
    expect(result).toEqual({ ...kept, reason: publication.reason });
    expect(publication).toEqual(JSON.parse(readFileSync(join(runDir, 'publish.json'), 'utf8')));
    expect(publication.pullRequest.number).toBe(at.hosted.pulls()[0]?.number);
  });

  test('makes a draft of what failed verification, and still ends with 9; the last line tells both', async () => {
    const { at, ...end } = await runAndPublish([edit, done], ['--verify', 'exit 3', '--fix-rounds', '0']);
    expect(end.exitCode, end.stderr).toBe(9);
    expect(end.lastLine).toMatch(
      /^patchsmith: verify_failed \(exit 9\) \[ERR_VERIFY_FAILED\]: .*exit 3.* Pull request #1 opened/,
    );
    expect(at.hosted.pulls().map(({ pull }) => pull?.draft)).toEqual([true]);
  });

  test('opens nothing for a run that was blocked, and ends as it', async () => {
    const { at, ...end } = await runAndPublish([edit, leaveBlocked], ['--output', 'json']);
    expect(end.exitCode, end.stderr).toBe(5);
    expect(end.lastLine).toMatch(
      /^patchsmith: blocked \(exit 5\) \[ERR_BLOCKED\]: The run ended as blocked, /,
    );
    expect(JSON.parse(end.stdout)).toMatchObject({
      outcome: 'blocked',
      exitCode: 5,
      publication: { pullRequest: null },
    });
    expect(at.hosted.pulls()).toEqual([]);
  });

  test('ends with the exit code of a refused publication after a good run, and keeps the patch', async () => {
    const workflow = {
      calls: [call('write_file', { path: '.github/workflows/x.yml', content: 'on: push\n' })],
    };
    const { at, runDir, ...end } = await runAndPublish([workflow, done], ['--output', 'json']);
    expect(end.exitCode, end.stderr).toBe(8);
    expect(end.lastLine).toMatch(
      /^patchsmith: policy_violation \(exit 8\) \[ERR_PROTECTED_PATH\]: .*\.github\/workflows\/x\.yml/,
    );
    expect(JSON.parse(end.stdout)).toMatchObject({
      outcome: 'policy_violation',
      exitCode: 8,
      publication: { outcome: 'policy_violation', exitCode: 8, pullRequest: null },
    });
    expect(resultIn(runDir)).toMatchObject({ outcome: 'done', exitCode: 0 });
    expect(at.hosted.pulls()).toEqual([]);
  });
});

describe('before a token of the model is spent, run --publish', () => {
  test('requires the GitHub token, and stores that failure as the result of the run', async () => {
    const { at, runDir, ...end } = await runAndPublish([edit, done], [], {
      env: () => ({ GITHUB_TOKEN: '' }),
    });
    expect(end.exitCode, end.stderr).toBe(2);
    expect(end.lastLine).toContain('there is no token: set GITHUB_TOKEN in the environment');
    expect(resultIn(runDir)).toMatchObject({ outcome: 'usage_error', status: 'finished' });
    expect(at.model.requests).toEqual([]);
  });

  test('finds mistakes in the settings of both together', async () => {
    const env = () => ({ GITHUB_REPOSITORY: '', ANTHROPIC_API_KEY: '' });
    const { at, ...end } = await runAndPublish([edit, done], [], { env });
    expect(end.exitCode, end.stderr).toBe(2);
    expect(end.stderr).toContain(
      '  [ERR_NO_REPOSITORY_NAME] there is no repository: name it with --repository',
    );
    expect(end.stderr).toContain('  [ERR_NO_KEY] ANTHROPIC_API_KEY is not set: ');
    expect(at.model.requests).toEqual([]);
  });

  test('refuses uncommitted work, which publish would refuse in the end', async () => {
    const uncommitted = (at: Place) => {
      writeFileSync(join(at.checkout.root, 'plan.md'), 'Do it\n');
      return {};
    };
    const { at, runDir, ...end } = await runAndPublish([edit, done], [], { env: uncommitted });
    expect(end.exitCode, end.stderr).toBe(2);
    expect(end.lastLine).toMatch(
      /^patchsmith: usage_error \(exit 2\) \[ERR_BASE_DIRTY\]: .*The work tree has uncommitted changes, /,
    );
    expect(resultIn(runDir)).toMatchObject({ outcome: 'usage_error', baseDirty: true, iterations: 0 });
    expect(at.model.requests).toEqual([]);
  });

  test('asks GitHub whether the token may publish', async () => {
    const weak = (at: Place) => ({
      GITHUB_TOKEN: at.github.addToken({ kind: 'installation', permissions: { contents: 'write' } }),
    });
    const { at, runDir, ...end } = await runAndPublish([edit, done], [], { env: weak });
    expect(end.exitCode, end.stderr).toBe(11);
    expect(end.lastLine).toMatch(
      /^patchsmith: publish_failed \(exit 11\) \[ERR_GITHUB_REFUSED\]: Publishing would fail: /,
    );
    expect(end.lastLine).toContain(
      'The token lacks pull-requests: write: add it to the permissions of the job',
    );
    expect(resultIn(runDir)).toMatchObject({ outcome: 'publish_failed', iterations: 0 });
    expect(readdirSync(runDir)).not.toContain('publish.json');
    expect(at.model.requests).toEqual([]);
  });
});

test('the settings of a publication are a mistake without --publish, and the message names it', async () => {
  const { at, ...end } = await runAndPublish(
    [edit, done],
    ['--label', 'bot', '--draft', 'never', '--dry-run'],
    {
      switches: [],
    },
  );
  expect(end.exitCode, end.stderr).toBe(2);
  for (const flag of ['--label', '--draft', '--dry-run'])
    expect(end.stderr).toContain(`  [ERR_FLAG_NOT_TAKEN] ${flag}: run takes it only together with --publish`);
  expect(at.model.requests).toEqual([]);
});

test('a signal between run and publication leaves a run that can be published, and says how', async () => {
  const at = await place([edit, done]);
  const runDir = join(temporaryFolder(), 'run');
  const stop = new AbortController();
  const given = { cwd: at.checkout.root, env: environment(at) };
  const flags = ['--title-prefix', "bot's: ", '--branch', 'bot/renew'];
  const words = ['run', '-m', 'Do it', '--run-dir', runDir, '--publish', ...flags, '--output', 'json'];
  const cut = await cliHere(words, {
    ...given,
    interrupt: stop.signal,
    onStderr(line) {
      if (line.startsWith('patchsmith: done')) stop.abort({ cause: 'signal', signal: 'SIGINT' });
    },
  });
  expect(cut.exitCode, cut.stderr).toBe(130);
  const [last = '', line = ''] = cut.stderr.trimEnd().split('\n').at(-1)?.split(' Publish it: ') ?? [];
  expect(last).toBe(
    'patchsmith: interrupted (exit 130) [ERR_INTERRUPTED]: Stopped by SIGINT after the run but before it was published.',
  );
  expect(JSON.parse(cut.stdout)).toMatchObject({ outcome: 'interrupted', exitCode: 130, publication: null });
  expect(at.hosted.pulls()).toEqual([]);

  const { cwd, env } = given;
  const published = await execa('sh', ['-c', `patchsmith() { "$NODE" "$CLI" "$@"; }\n${line}`], {
    ...{ cwd, env: { ...env, PATH: process.env.PATH, NODE: process.execPath, CLI } },
    ...{ extendEnv: false, reject: false, stdin: 'ignore' },
  });
  expect(published.exitCode, published.stderr).toBe(0);
  expect(at.hosted.pulls()).toMatchObject([
    { title: expect.stringMatching(/^bot's: /), pull: { head: 'bot/renew' } },
  ]);
});

testAtNight('a patch that is too large is refused by publish, and the run says so before', async () => {
  const at = await place([edit, done]);
  const runDir = join(temporaryFolder(), 'run');
  const words = ['run', '-m', 'Do it', '--run-dir', runDir, '--publish', '--max-patch-size', '9'];
  const end = await cliHere(words, { cwd: at.checkout.root, env: environment(at) });
  expect(end.exitCode, end.stderr).toBe(8);
  const [warning] = resultIn(runDir).warnings.filter((one) => one.includes('too large'));
  expect(warning).toMatch(
    /^\[WARN_TOO_LARGE_TO_PUBLISH\] The patch is too large to be published: it has \d+ bytes, at most 9 are allowed \(--max-patch-size\)\. Raise the limit of publish, or split the plan\.$/,
  );
});
