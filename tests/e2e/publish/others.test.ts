import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  closeGitHubs,
  expectRoute,
  find,
  type MadeRun,
  madeRun,
  onGitHub,
  publish,
  ROUTES,
} from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join('');

let made: MadeRun;

beforeAll(async () => {
  made = await madeRun({ 'a.txt': LINES, 'b.txt': 'b\n', 'gone.txt': 'gone\n' }, [
    {
      calls: [
        call('edit_file', { path: 'a.txt', find: 'line 2\n', replace: 'line two\n' }),
        call('run_command', { command: 'rm gone.txt' }),
      ],
    },
    { text: 'Done.' },
  ]);
});

// Each test starts several processes.

afterAll(closeGitHubs);
describe.each(sampled(ROUTES, () => 'route', 1))(
  'a commit of a person on the branch (by %s)',
  (via, sign) => {
    const args = [sign];

    test('is not overwritten, and its author is named', async () => {
      const there = await onGitHub(made);
      const { repository } = there;
      const first = await publish(there, { args });
      expect(first.exitCode, first.stderr).toBe(0);
      const branch = first.said?.branch ?? '';
      const person = await repository.commit(branch, { 'a.txt': 'mine\n' }, { author: 'Ann Onym' });
      const second = await publish(there, { args });
      expect([second.exitCode, second.said?.outcome]).toEqual([11, 'publish_failed']);
      expect(second.said?.errorCode).toBe('ERR_COMMITS_OF_OTHERS');
      expect(second.said?.reason).toContain('Ann Onym');
      expect(second.said?.reason).toContain(person.slice(0, 8));
      expect(await repository.head(branch)).toBe(person);
      expectRoute(there, via);
    });

    test('is not overwritten either when it comes while we publish', async () => {
      const there = await onGitHub(made);
      const { repository, github } = there;
      const first = await publish(there, { args });
      const branch = first.said?.branch ?? '';
      // The base has moved on, so that there is something to be done on our own branch.
      await repository.commit('main', { 'b.txt': 'B\n' });
      let person = '';
      github.before(async ({ operation }) => {
        if (person !== '' || (operation !== 'git/update-ref' && operation !== 'git-http/receive-pack'))
          return;
        person = await repository.commit(branch, { 'c.txt': 'mine\n' }, { author: 'Ann Onym' });
      });
      const second = await publish(there, { args });
      expect([second.exitCode, second.said?.outcome], second.stderr).toEqual([11, 'publish_failed']);
      expect(second.said?.reason).toContain('Ann Onym');
      expect(await repository.head(branch)).toBe(person);
    });

    testAtNight('is not overwritten when the branch appears in between', async () => {
      const there = await onGitHub(made);
      const { repository, github } = there;
      let person = '';
      github.before(async ({ operation, body }) => {
        if (person !== '' || (operation !== 'git/create-ref' && operation !== 'git-http/receive-pack'))
          return;
        const { ref } = (body ?? {}) as { ref?: string };
        const planned = ref?.replace('refs/heads/', '') ?? branchOf;
        person = await repository.commit(planned, { 'c.txt': 'mine\n' }, { author: 'Ann Onym' });
      });
      const branchOf = (await publish(there, { args: ['--dry-run'] })).said?.branch ?? '';
      const { exitCode, said, stderr } = await publish(there, { args });
      expect([exitCode, said?.outcome], stderr).toEqual([11, 'publish_failed']);
      expect(await repository.head(branchOf)).toBe(person);
      expect((await find(there)).pulls).toEqual([]);
    });
  },
);

describe('a base that has moved on', () => {
  test('elsewhere: the patch is rebuilt on it, and nothing is lost', async () => {
    const there = await onGitHub(made);
    const { repository } = there;
    const base = await repository.commit('main', { 'b.txt': 'B\n', 'new.txt': 'n\n' });
    const { exitCode, stderr, said } = await publish(there);
    expect(exitCode, stderr).toBe(0);
    const head = said?.commit?.sha ?? '';
    expect(await repository.git('rev-parse', `${head}^`)).toBe(base);
    expect(await repository.git('diff-tree', '-r', '--name-status', base, head)).toBe(
      'M\ta.txt\nD\tgone.txt',
    );
    expect(said?.base?.sha).toBe(base);
  });

  test('in other lines of the same file: they are merged, with a message', async () => {
    const there = await onGitHub(made);
    const { repository } = there;
    await repository.commit('main', { 'a.txt': LINES.replace('line 18\n', 'line eighteen\n') });
    const { exitCode, stderr, said } = await publish(there);
    expect(exitCode, stderr).toBe(0);
    expect(said?.merged).toEqual(['a.txt']);
    const content = await repository.git('show', `${said?.commit?.sha}:a.txt`);
    expect(content).toContain('line two');
    expect(content).toContain('line eighteen');
  });

  test('in the same lines: the files are named, nothing is made, and the patch is kept', async () => {
    const there = await onGitHub(made);
    const { repository } = there;
    await repository.commit('main', {
      'a.txt': LINES.replace('line 2\n', 'line zwo\n'),
      'gone.txt': 'not gone at all\n',
    });
    const { exitCode, stderr, said } = await publish(there);
    expect([exitCode, said?.outcome], stderr).toEqual([11, 'publish_failed']);
    expect(said?.conflicts.map(({ path }) => path).sort()).toEqual(['a.txt', 'gone.txt']);
    for (const { path } of said?.conflicts ?? []) expect(said?.reason).toContain(path);
    expect(said?.reason).toContain('changes.patch');
    expect(said?.errorCode).toBe('ERR_PATCH_CONFLICT');
    expect(await find(there)).toEqual({ branches: [], pulls: [], comments: 0 });
  });

  test('after the first publication: the branch moves forward, over a commit with both parents', async () => {
    const there = await onGitHub(made);
    const { repository } = there;
    const first = await publish(there);
    const base = await repository.commit('main', { 'b.txt': 'B\n' });
    const second = await publish(there);
    expect(second.exitCode, second.stderr).toBe(0);
    const head = second.said?.commit?.sha ?? '';
    expect(second.said).toMatchObject({
      commit: { operation: 'updated' },
      pullRequest: { number: first.said?.pullRequest?.number, operation: 'updated' },
    });
    expect((await repository.git('rev-list', '--parents', '-1', head)).split(' ')).toEqual([
      head,
      first.said?.commit?.sha,
      base,
    ]);
    expect(await repository.git('diff', '--name-only', base, head)).toBe('a.txt\ngone.txt');
    expect(there.github.requests.filter(({ body }) => (body as { force?: boolean })?.force === true)).toEqual(
      [],
    );
  });
});

test('a pull request that people moved to another base is updated there, and one that they closed is not', async () => {
  const there = await onGitHub(made);
  const { repository } = there;
  const first = await publish(there);
  const number = first.said?.pullRequest?.number ?? 0;
  await repository.commit('release', { 'b.txt': 'R\n' });
  const issue = repository.issues.get(number);
  if (issue?.pull) issue.pull.base = 'release';
  await repository.commit('main', { 'b.txt': 'B\n' });
  const second = await publish(there);
  expect(second.exitCode, second.stderr).toBe(0);
  expect(second.said?.pullRequest).toMatchObject({ number, operation: 'updated' });
  expect(second.said?.warnings).toContainEqual(
    expect.stringMatching(/^\[WARN_OTHER_BASE\] .*targets release, .* for main/),
  );
  expect([repository.pulls().length, issue?.pull?.base]).toEqual([1, 'release']);

  if (issue) issue.state = 'closed';
  const third = await publish(there);
  expect(third.said?.pullRequest).toMatchObject({ operation: 'created' });
  expect(repository.pulls().map(({ state, pull }) => [state, pull?.base])).toEqual([
    ['closed', 'release'],
    ['open', 'main'],
  ]);
});

testAtNight('work for another base does not get into the pull request of the first', async () => {
  const there = await onGitHub(made);
  const { repository, github } = there;
  await repository.git('branch', 'release', 'main');
  await repository.commit('main', { 'more.txt': 'more\n' });
  const release = await publish(there, { args: ['--base', 'release'] });
  expect(release.exitCode, release.stderr).toBe(0);
  const head = release.said?.pullRequest?.headSha ?? '';
  const main = await publish(there);
  expect([main.exitCode, main.said?.outcome], main.stderr).toEqual([11, 'publish_failed']);
  expect(main.said?.errorCode).toBe('ERR_BRANCH_OF_OTHER_WORK');
  expect(main.said?.reason).toMatch(/pull request #1 into release, .* --branch/);
  expect(await repository.head(release.said?.branch ?? '')).toBe(head);

  const other = await publish(there, { args: ['--branch', 'patchsmith/for-main'] });
  expect(other.exitCode, other.stderr).toBe(0);
  expect(repository.pulls().map(({ pull }) => [pull?.head, pull?.base])).toEqual([
    [release.said?.branch, 'release'],
    ['patchsmith/for-main', 'main'],
  ]);
  expect(github.invalid).toEqual([]);
});

testAtNight(
  'after a merge of its pull request and more work, a new one is opened from the same branch',
  async () => {
    const there = await onGitHub(made);
    const { repository, github } = there;
    const first = await publish(there);
    const branch = first.said?.branch ?? '';
    // Merged as a squash: the commits of the branch are not in the history of main.
    const pull = repository.issues.get(first.said?.pullRequest?.number ?? 0);
    await repository.commit('main', { 'a.txt': LINES.replace('line 2\n', 'line two\n'), 'gone.txt': null });
    if (pull?.pull) {
      pull.state = 'closed';
      pull.pull.merged = true;
    }
    await repository.commit('main', { 'a.txt': LINES, 'gone.txt': 'gone\n' }, { message: 'Revert' });
    const second = await publish(there);
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.said?.branch).toBe(branch);
    expect((await find(there)).pulls.map(({ state }) => state)).toEqual(['closed', 'open']);
    expect(await repository.git('diff', '--name-only', 'main', branch)).toBe('a.txt\ngone.txt');
    expect(github.invalid).toEqual([]);
  },
);
