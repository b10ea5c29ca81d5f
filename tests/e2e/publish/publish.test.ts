import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Publication } from '../../../src/domain/github/publishing/publication.ts';
import { RunResult } from '../../../src/domain/run/result.ts';
import {
  makeRepository,
  type Repository,
  removeFolders,
  temporaryFolder,
} from '../../support/files/repository.ts';
import {
  type GitHub,
  type GitHubRepository,
  isWrite,
  type NewToken,
  startGitHub,
} from '../../support/github-server/server.ts';
import { SECOND_MS } from '../../support/jobs/publishing.ts';
import { runCli } from '../../support/runs/cli.ts';
import { runHere } from '../../support/runs/in-process.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

const FILES = {
  'README.md': '# Shop\n',
  'src/total.js': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n',
  'src/old name.js': 'a\nb\nc\nd\ne\nf\ng\n',
  'tool.sh': 'echo\n',
  'gone/only.txt': 'bye\n',
  'docs/guide.md': 'guide\n',
};

/** What the run does: all that a patch can hold. */
const COMMANDS = [
  'sed -i s/two/zwei/ src/total.js',
  'mv "src/old name.js" "src/new näme.js" && sed -i s/^a$/A/ "src/new näme.js"',
  'chmod +x tool.sh',
  'rm gone/only.txt',
  'ln -s README.md link',
  "printf 'x\\0y\\377' > picture.bin",
  "printf 'no newline, CRLF\\r\\nlast' > crlf.txt",
  ': > empty',
].join(' && ');

let github: GitHub;
let upstream: GitHubRepository;
let repository: Repository;
let run: FinishedRun;

beforeAll(async () => {
  repository = await makeRepository(FILES);
});
beforeEach(async () => {
  github = await startGitHub();
  upstream = await github.addRepository('octo/shop', {
    from: repository.root,
    collaborators: { maintainer: 'write' },
    labels: ['bot'],
    milestones: ['Next'],
  });
  run = await finished(COMMANDS);
});
afterEach(async () => {
  await github.close();
  expect(github.invalid).toEqual([]);
});
afterAll(removeFolders);

/** Runs that were made, by what they did. */
const runs = new Map<string, FinishedRun>();

/** A run in the repository, with a run directory of this test alone. */
async function finished(command: string, args: readonly string[] = ['--verify', 'test -f README.md']) {
  const key = JSON.stringify([command, args]);
  const made = runs.get(key) ?? (await newRun(command, args));
  runs.set(key, made);
  const runDir = temporaryFolder();
  for (const name of ['result.json', 'changes.patch'])
    writeFileSync(join(runDir, name), readFileSync(join(made.runDir, name)));
  return { ...made, runDir };
}

async function newRun(command: string, args: readonly string[]): Promise<FinishedRun> {
  const made = await scriptedRun({
    repository,
    args: ['--sandbox', 'off', ...args],
    turns: [
      { calls: [call('run_command', { command })] },
      { calls: [call('finish', { status: 'done', summary: 'Changed what was asked for.' })] },
    ],
  });
  // The work tree is as it was, for further runs.
  await repository.git('reset', '--hard', '--quiet');
  await repository.git('clean', '-fdq');
  return made;
}

interface Published {
  readonly exitCode: number | undefined;
  readonly told: Publication;
  readonly stderr: string;
}

const BOT = 'github-actions[bot]';

const ENOUGH: NewToken = {
  kind: 'installation',
  permissions: { contents: 'write', pull_requests: 'write', issues: 'write' },
};

/** From a folder that is no checkout and knows nothing of the repository. */
async function publish(
  args: readonly string[] = [],
  { token = ENOUGH }: { token?: NewToken } = {},
): Promise<Published> {
  const secret = github.addToken(token);
  const { exitCode, stdout, stderr } = await runHere(['publish', run.runDir, '--output', 'json', ...args], {
    cwd: run.runDir,
    secondMs: SECOND_MS,
    env: {
      GITHUB_TOKEN: secret,
      GITHUB_REPOSITORY: upstream.fullName,
      GITHUB_API_URL: github.url,
      GITHUB_SERVER_URL: github.serverUrl,
    },
  });
  expect(`${stdout}${stderr}`).not.toContain(secret);
  if (stdout === '') throw new Error(stderr);
  return { exitCode, told: Publication.parse(JSON.parse(stdout)), stderr };
}

const writes = () => github.requests.filter(isWrite).map(({ method, path }) => `${method} ${path}`);

/** Changes the result of the run behind its back. */
function tamper(change: (result: RunResult) => unknown): void {
  const path = join(run.runDir, 'result.json');
  const result = RunResult.parse(JSON.parse(readFileSync(path, 'utf8')));
  change(result);
  writeFileSync(path, JSON.stringify(result));
}

describe('a finished run', () => {
  test('becomes a branch with exactly the tree that it has proven, and a pull request', async () => {
    const { exitCode, told } = await publish();
    expect({ exitCode, reason: told.reason, warnings: told.warnings }).toMatchObject({ exitCode: 0 });
    const [pull] = upstream.pulls();
    const branch = told.branch ?? '';
    expect(branch).toMatch(/^patchsmith\/do-it-[0-9a-f]{8}$/);
    expect(await upstream.git('rev-parse', `${branch}^{tree}`)).toBe(run.result.treeSha);
    expect(await upstream.git('rev-parse', `${branch}^`)).toBe(run.result.baseSha);
    expect(told).toMatchObject({
      outcome: 'done',
      repository: 'octo/shop',
      base: { branch: 'main', sha: run.result.baseSha },
      commit: {
        sha: await upstream.head(branch),
        tree: run.result.treeSha,
        operation: 'created',
        verified: true,
      },
      pullRequest: { number: pull?.number, operation: 'created', branch, draft: false, draftReasons: [] },
      comment: null,
      merged: [],
      conflicts: [],
    });
    expect(await upstream.git('log', '-1', '--format=%B', branch)).toBe(
      `Do it\n\nPatchsmith-Run: ${run.result.runId}\nPatchsmith-Tree: ${run.result.treeSha}\nPatchsmith-Base: main\n`.trim(),
    );
    expect(Publication.parse(JSON.parse(readFileSync(join(run.runDir, 'publish.json'), 'utf8')))).toEqual(
      told,
    );
  });

  test('of the same plan adds a commit to the same branch and pull request', async () => {
    const first = await publish();
    run = await finished('echo more > more.txt');
    const second = await publish();
    expect(second.told.branch).toBe(first.told.branch);
    expect(second.told.pullRequest).toMatchObject({
      number: first.told.pullRequest?.number,
      operation: 'updated',
    });
    const branch = second.told.branch ?? '';
    expect(await upstream.git('rev-parse', `${branch}^`)).toBe(first.told.commit?.sha);
    expect(await upstream.git('rev-parse', `${branch}^{tree}`)).toBe(run.result.treeSha);
  });

  test('is told call by call with --dry-run, and nothing is written', async () => {
    const { exitCode, told, stderr } = await publish([
      '--dry-run',
      '--label',
      'bot',
      '--reviewer',
      'maintainer',
    ]);
    expect({ exitCode, writes: writes(), dryRun: told.dryRun }).toEqual({
      exitCode: 0,
      writes: [],
      dryRun: true,
    });
    expect(told.reason).toBe(
      'Nothing was changed (--dry-run). The calls that it would take are listed above.',
    );
    const calls = stderr.split('\n').flatMap((line) => /^would (\w+ \S+)/.exec(line)?.[1] ?? []);
    expect(calls).toEqual([
      'POST /repos/octo/shop/git/blobs',
      'POST /repos/octo/shop/git/trees',
      'POST /repos/octo/shop/git/commits',
      'POST /repos/octo/shop/git/refs',
      'POST /repos/octo/shop/pulls',
      'POST /repos/octo/shop/issues/0/labels',
      'POST /repos/octo/shop/pulls/0/requested_reviewers',
    ]);
  });

  test('gets reviewers, assignees and a prefix, and later labels and a milestone', async () => {
    await publish(['--reviewer=maintainer', '--assignee=maintainer', '--title-prefix=[bot]']);
    const args = ['--label=bot', '--label=new one', '--milestone=Next', '--title-prefix=[bot]'];
    const { exitCode, told } = await publish(args);
    expect({ exitCode, warnings: told.warnings.slice(1) }).toEqual({ exitCode: 0, warnings: [] });
    const [pull] = upstream.pulls();
    expect(pull).toMatchObject({
      title: '[bot] Do it',
      labels: [{ name: 'bot' }, { name: 'new one' }],
      assignees: [{ login: 'maintainer' }],
      milestone: { title: 'Next' },
    });
  });

  test('of which nothing was verified, or not all passed, becomes a draft', async () => {
    run = await finished('echo 1 > a', []);
    expect((await publish()).told.pullRequest).toMatchObject({ draft: true });
    run = await finished('echo 2 > a', ['--verify', 'test -f missing', '--fix-rounds', '0']);
    expect(run.result.outcome).toBe('verify_failed');
    expect((await publish(['--branch', 'other'])).told.pullRequest).toMatchObject({ draft: true });
  });
});

describe('a pull request that was ready, of which verification fails later,', () => {
  const red = async () => {
    run = await finished('echo 1 > a', ['--verify', 'test -f b', '--fix-rounds', '0']);
  };

  test('is turned back into a draft, and is not made ready again behind the back of people', async () => {
    await publish(['--branch', 'work']);
    const ready = run;
    expect(upstream.pulls()[0]?.pull?.draft).toBe(false);
    await red();
    expect((await publish(['--branch', 'work'])).told).toMatchObject({
      pullRequest: { number: 1, draft: true, draftReasons: ['verification failed'] },
      warnings: [],
    });
    expect(upstream.pulls()[0]).toMatchObject({
      pull: { draft: true },
      body: expect.stringContaining('> Draft, since verification failed.'),
    });
    run = ready;
    expect((await publish(['--branch', 'work'])).told.pullRequest).toMatchObject({
      draft: true,
      draftReasons: [],
    });
    expect(upstream.pulls()[0]?.body).toContain('> Still a draft, though nothing of this run keeps it one.');
  });

  test('says that it should be a draft where GitHub does not turn it into one', async () => {
    await publish(['--branch', 'work']);
    await red();
    upstream.settings.drafts = false;
    const { told } = await publish(['--branch', 'work']);
    expect(told.pullRequest).toMatchObject({ draft: false, draftReasons: ['verification failed'] });
    expect(told.warnings).toEqual([
      expect.stringMatching(/should be a draft: .*not supported in this repository/),
    ]);
    expect(upstream.pulls()[0]?.body).toContain('> This should be a draft, since verification failed.');
  });
});

test('the default branch is no branch for a pull request', async () => {
  expect((await publish(['--branch', 'main'])).told).toMatchObject({ outcome: 'usage_error', exitCode: 2 });
});

test('a person’s token makes commits that are not verified: --sign required refuses before the branch moves', async () => {
  const token: NewToken = { kind: 'user', login: 'maintainer', permissions: ENOUGH.permissions ?? {} };
  const { exitCode, told } = await publish(['--sign', 'required'], { token });
  expect(exitCode).toBe(11);
  expect(told.reason).toContain('--sign required: GitHub does not show the commit as verified');
  expect(await upstream.head(told.branch ?? '')).toBe(null);
});

describe('--via push', () => {
  test('makes the same tree by git, and is found again', async () => {
    const first = await publish(['--via', 'push']);
    expect(first.told.reason).toContain('opened');
    expect(first.told.commit).toMatchObject({ verified: null, operation: 'created' });
    const branch = first.told.branch ?? '';
    expect(await upstream.git('rev-parse', `${branch}^{tree}`)).toBe(run.result.treeSha);
    expect(await upstream.git('log', '-1', '--format=%P|%an <%ae>', branch)).toBe(
      `${run.result.baseSha}|github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>`,
    );
    run = await finished('echo more > more.txt');
    const second = await publish(['--via', 'push']);
    expect(await upstream.git('rev-parse', `${branch}^`)).toBe(first.told.commit?.sha);
    expect(second.told.pullRequest).toMatchObject({ operation: 'updated' });
  });

  test('does not overwrite a branch that moves meanwhile', async () => {
    const branch = (await publish()).told.branch ?? '';
    run = await finished('echo more > more.txt');
    let theirs = '';
    github.before(async ({ path }) => {
      if (path.endsWith('git-receive-pack') && theirs === '')
        theirs = await upstream.commit(branch, { 'mine.txt': 'human work\n' });
    });
    expect((await publish(['--via', 'push'])).exitCode).toBe(11);
    expect(await upstream.head(branch)).toBe(theirs);
  });

  test('tells what the server refuses, and the mend', async () => {
    run = await finished('mkdir -p .github/workflows && echo on: push > .github/workflows/ci.yml');
    const { exitCode, told } = await publish(['--via', 'push', '--protected', 'draft']);
    expect(exitCode).toBe(11);
    expect(told.reason).toContain('.github/workflows/ci.yml, which takes the permission workflows: write');
    run = await finished(COMMANDS);
    const token: NewToken = { ...ENOUGH, permissions: { contents: 'read', pull_requests: 'write' } };
    expect((await publish(['--via', 'push'], { token })).told.reason).toContain('contents: write');
  });

  test('is told by --dry-run, and cannot sign', async () => {
    const { stderr } = await publish(['--via', 'push', '--dry-run']);
    expect(stderr).toContain(`would git push ${github.serverUrl}/octo/shop.git`);
    expect(writes()).toEqual([]);
    const { exitCode, lastLine } = await runCli(
      ['publish', run.runDir, '--via', 'push', '--sign', 'required'],
      {
        cwd: run.runDir,
      },
    );
    expect({ exitCode, lastLine }).toMatchObject({
      exitCode: 2,
      lastLine: expect.stringContaining('use --via api'),
    });
  });
});

test.each(['api', 'push'])('the branch is made in a fork with --head-repo, by %s', async (via) => {
  await github.addRepository('ann/shop', { forkOf: 'octo/shop' });
  const token: NewToken = { kind: 'user', login: 'ann', permissions: ENOUGH.permissions ?? {} };
  const { exitCode, told } = await publish(['--head-repo', 'ann/shop', '--via', via], { token });
  expect({ exitCode, reason: told.reason }).toMatchObject({ exitCode: 0 });
  expect(await upstream.head(told.branch ?? '')).toBe(null);
  const again = await publish(['--head-repo', 'ann/shop', '--via', via], { token });
  expect(again.told.pullRequest).toEqual({ ...told.pullRequest, operation: 'none' });
});

test('a fork of the same owner is told apart from the repository itself', async () => {
  const fork = await github.addRepository('octo/shop-fork', { forkOf: 'octo/shop' });
  const first = await publish();
  const branch = first.told.branch ?? '';
  const upstreamHead = await upstream.head(branch);
  const args = ['--head-repo', 'octo/shop-fork'];
  const token: NewToken = { kind: 'user', login: 'octo', permissions: ENOUGH.permissions ?? {} };
  const second = await publish(args, { token });
  expect({ exitCode: second.exitCode, reason: second.told.reason }).toMatchObject({ exitCode: 0 });
  expect(second.told.pullRequest).toMatchObject({ operation: 'created' });
  expect(upstream.pulls().map(({ pull }) => pull?.headRepository)).toEqual(['octo/shop', 'octo/shop-fork']);
  const again = await publish(['--head-repo', 'Octo/Shop-Fork'], { token });
  expect(again.told.pullRequest).toEqual({ ...second.told.pullRequest, operation: 'none' });

  // Upstream's branch of that name is ours alone, and says nothing of the fork's.
  const person = await fork.commit(branch, { 'README.md': 'mine\n' }, { author: 'Ann Onym' });
  const third = await publish(args, { token });
  expect([third.exitCode, third.told.reason]).toEqual([11, expect.stringContaining('Ann Onym')]);
  expect([await fork.head(branch), await upstream.head(branch)]).toEqual([person, upstreamHead]);
});

describe('an issue that asked for the work', () => {
  const ask = () => {
    const { number } = github.addIssue('octo/shop', { title: 'Total is wrong', author: 'maintainer' });
    const source = {
      kind: 'issue' as const,
      repository: 'octo/shop',
      number,
      url: `${github.serverUrl}/octo/shop/issues/${number}`,
      author: 'maintainer',
    };
    tamper((result) => Object.assign(result.plan ?? {}, { source }));
    return number;
  };

  test('is named by branch and pull request, and gets one comment that is kept up to date', async () => {
    const number = ask();
    const first = await publish();
    expect(first.told.branch).toMatch(new RegExp(`^patchsmith/issue-${number}-`));
    expect(first.told.comment).toMatchObject({ operation: 'created' });
    expect(upstream.pulls()[0]?.body).toMatch(new RegExp(`Fixes .*#${number}`));
    expect((await publish()).told.comment?.operation).not.toBe('created');
    expect(upstream.issues.get(number)?.comments.length).toBe(1);
  });

  test('a comment with our mark by somebody else is left alone', async () => {
    const number = ask();
    const first = await publish();
    const made = upstream.issues.get(number)?.comments[0];
    const [marker = ''] = /<!-- patchsmith:\w+ -->/.exec(made?.body ?? '') ?? [];
    upstream.issues.get(number)?.comments.splice(0);
    github.addComment('octo/shop', number, { body: `${marker} mine`, author: 'ann' });
    expect((await publish()).told.comment).toMatchObject({ operation: 'created' });
    expect(
      upstream.issues.get(number)?.comments.map(({ author, body }) => [author.login, body === made?.body]),
    ).toEqual([
      ['ann', false],
      ['github-actions[bot]', expect.any(Boolean)],
    ]);
    expect(first.exitCode).toBe(0);
  });

  test('a comment of another bot that ends with our mark is left alone, and a commit by git is of our own', async () => {
    const number = ask();
    const app: NewToken = { ...ENOUGH, login: 'fixer[bot]', id: 4_711 };
    const first = await publish(['--via', 'push'], { token: app });
    const made = upstream.issues.get(number)?.comments.splice(0)[0];
    github.addComment('octo/shop', number, { body: made?.body ?? '', author: BOT });
    const second = await publish(['--via', 'push'], { token: app });
    expect(second.told.comment).toMatchObject({ operation: 'created' });
    expect(upstream.issues.get(number)?.comments.map(({ author }) => author.login)).toEqual([
      BOT,
      'fixer[bot]',
    ]);
    expect(await upstream.git('log', '-1', '--format=%an <%ae>', first.told.branch ?? '')).toBe(
      'fixer[bot] <4711+fixer[bot]@users.noreply.github.com>',
    );
  });

  test('a comment of another bot that quotes our mark is left alone', async () => {
    const number = ask();
    const first = await publish();
    const made = upstream.issues.get(number)?.comments[0];
    const [marker = ''] = /<!-- patchsmith:\w+ -->/.exec(made?.body ?? '') ?? [];
    expect(made?.body.trimEnd().endsWith(marker)).toBe(true);
    upstream.issues.get(number)?.comments.splice(0);
    const quote = `> ${marker}\n\nSummarised.`;
    github.addComment('octo/shop', number, { body: quote, author: 'digest[bot]' });
    expect((await publish()).told.comment).toMatchObject({ operation: 'created' });
    expect(upstream.issues.get(number)?.comments.map(({ body }) => body === quote)).toEqual([true, false]);
    expect(first.exitCode).toBe(0);
  });

  test('of two that were made at the same time only our own goes, and not that of another bot', async () => {
    const number = ask();
    await publish();
    const text = upstream.issues.get(number)?.comments[0]?.body ?? '';
    upstream.issues.get(number)?.comments.splice(0);
    let added = false;
    github.before(async ({ operation }) => {
      if (added || operation !== 'issues/create-comment') return;
      added = true;
      github.addComment('octo/shop', number, { body: text, author: 'other[bot]' });
      github.addComment('octo/shop', number, { body: text.replaceAll('\n', '\r\n'), author: BOT });
    });
    expect((await publish()).told.comment?.operation).toBe('updated');
    expect(upstream.issues.get(number)?.comments.map(({ author }) => author.login)).toEqual([
      'other[bot]',
      BOT,
    ]);
  });

  test.each(['api', 'push'])('without an answer to who we are nothing is guessed (%s)', async (via) => {
    const number = ask();
    const trouble = { kind: 'status', status: 401 } as const;
    github.faults.add({ on: { operation: 'users/get-authenticated' }, times: 99, trouble });
    const { exitCode, told } = await publish(['--via', via]);
    expect([exitCode, told.outcome, told.comment]).toEqual([11, 'publish_failed', null]);
    expect(told.commit === null).toBe(via === 'push');
    expect(upstream.issues.get(number)?.comments).toEqual([]);
  });
});

describe('a run directory is hostile input:', () => {
  const refused = async (pattern: RegExp, args: readonly string[] = []) => {
    const { exitCode, told } = await publish(args);
    expect(told.reason).toMatch(pattern);
    expect([1, 2, 7, 8, 11]).toContain(exitCode);
    expect(writes()).toEqual([]);
  };

  test('a patch that is not the one of the result', async () => {
    writeFileSync(join(run.runDir, 'changes.patch'), `${run.patch}\n`);
    await refused(/is larger than|is not the patch that the run wrote/);
  });

  test('a patch behind a link', async () => {
    const path = join(run.runDir, 'changes.patch');
    writeFileSync(`${path}.real`, run.patch);
    unlinkSync(path);
    symlinkSync(`${path}.real`, path);
    await refused(/is a link/);
  });

  test('a file that the result does not list, and one that the patch does not have', async () => {
    tamper((result) => result.changedFiles.pop());
    await refused(/which the result does not list/);
    tamper((result) => result.changedFiles.push({ path: 'zzz', kind: 'create', additions: 1, deletions: 0 }));
    await refused(/the result says|does not list/);
  });

  test('names that are none: ids that are paths, a branch that is an option', async () => {
    tamper((result) => Object.assign(result, { baseSha: '../../../user' }));
    await refused(/"..\/..\/..\/user" is no id/);
    tamper((result) => Object.assign(result, { baseSha: result.treeSha, baseBranch: '--upload-pack=x' }));
    await refused(/"--upload-pack=x" is no name of a branch/);
    expect(github.requests).toEqual([]);
  });

  test('another tree than the patch makes', async () => {
    tamper((result) => Object.assign(result, { treeSha: '1'.repeat(40) }));
    await refused(/it is not what the run has proven/);
  });

  test('a run that was not finished, and one that ended without success', async () => {
    const { patch } = run.result;
    tamper((result) => Object.assign(result, { status: 'running', outcome: null }));
    await refused(/process ended without a result/);
    tamper((result) => Object.assign(result, { outcome: 'limit_reached', patch }));
    await refused(/--publish-unfinished/);
    expect((await publish(['--publish-unfinished'])).told.pullRequest).toMatchObject({ draft: true });
  });

  test('more than the caps, and what the globs do not allow', async () => {
    await refused(/--max-patch-files/, ['--max-patch-files', '2']);
    await refused(/--max-patch-size/, ['--max-patch-size', '100']);
    await refused(/do not allow changes to: .*README|do not allow changes to/, ['--allow', 'docs/**']);
    await refused(/do not allow changes to: gone\/only.txt/, ['--protect', 'gone']);
  });

  test('a publish.json that cannot be written is a warning', async () => {
    // Not even the administrator replaces a folder by a file.
    mkdirSync(join(run.runDir, 'publish.json', 'x'), { recursive: true });
    const { exitCode, told } = await publish();
    expect({ exitCode, warning: told.warnings.at(-1) }).toEqual({
      exitCode: 0,
      warning: expect.stringContaining('publish.json cannot be written'),
    });
  });
});
