import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWrite } from '../../support/github-server/server.ts';
import {
  closeGitHubs,
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

let made: MadeRun;

beforeAll(async () => {
  const files = { 'a.txt': 'old\n', 'kept.txt': 'kept\n', 'logo.bin': Buffer.from([0, 1, 2]) };
  made = await madeRun(files, [
    {
      calls: [
        call('write_file', { path: 'a.txt', content: 'new\n' }),
        call('run_command', { command: "printf '\\000\\377\\001' > logo.bin" }),
      ],
    },
    { text: 'Done.' },
  ]);
});

// Each test starts several processes.

afterAll(closeGitHubs);
/** One branch with one commit of the run's tree, one pull request from it, one comment. */
async function expectOneOfEach(there: Awaited<ReturnType<typeof onGitHub>>): Promise<void> {
  const { branches, pulls, comments } = await find(there);
  expect(branches).toEqual([
    {
      name: expect.stringMatching(/^patchsmith\/issue-1-[0-9a-f]{8}$/),
      tree: made.result.treeSha,
      commits: 1,
    },
  ]);
  expect(pulls).toEqual([{ number: 2, head: branches[0]?.name, state: 'open' }]);
  expect(comments).toBe(1);
  expect(there.github.invalid).toEqual([]);
}

describe('one branch, one pull request and one comment', () => {
  test('are there when a run is published twice, and the second time changes nothing', async () => {
    const there = await onGitHub(made, { issue: true });
    const first = await publish(there);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.said).toMatchObject({
      outcome: 'done',
      commit: { operation: 'created', verified: null, tree: made.result.treeSha },
      pullRequest: { number: 2, operation: 'created', draft: true },
      comment: { operation: 'created' },
    });
    await expectOneOfEach(there);
    const sent = there.github.requests.length;
    const second = await publish(there);
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.said).toMatchObject({
      outcome: 'done',
      commit: { operation: 'none', sha: first.said?.commit?.sha },
      pullRequest: { number: 2, operation: 'none' },
    });
    const writes = there.github.requests.slice(sent).filter(isWrite);
    expect(writes.filter(({ operation }) => operation !== 'issues/update-comment')).toEqual([]);
    await expectOneOfEach(there);
  });

  describe('are there after one more try, when the first was killed', () => {
    const asked = ['--label', 'bot', '--assignee', 'ann', '--reviewer', 'ben', '--milestone', 'v1'];
    const people = { collaborators: { ann: 'write', ben: 'write' }, milestones: ['v1'] } as const;
    const writes = [
      'git-http/receive-pack',
      'pulls/create',
      'issues/add-labels',
      'issues/add-assignees',
      'issues/update',
      'pulls/request-reviewers',
      'issues/create-comment',
    ];

    test('at any of its writes, of which there are no others than these', async () => {
      const there = await onGitHub(made, { issue: true, ...people });
      const { exitCode, stderr } = await publish(there, { args: asked });
      expect(exitCode, stderr).toBe(0);
      const sent = there.github.requests.filter(isWrite);
      expect(sent.map(({ operation }) => operation)).toEqual(writes);
    });

    const kindOf = (operation: string) =>
      operation.startsWith('git-http/') ? 'git' : /create/.test(operation) ? operation : 'more';

    test.each(sampled(writes, kindOf, 3))('at %s', async (operation) => {
      const there = await onGitHub(made, { issue: true, ...people });
      const killed = await publish(there, {
        args: asked,
        killAt: (request) => isWrite(request) && request.operation === operation,
      });
      expect([killed.exitCode, killed.said]).toEqual([undefined, null]);
      const again = await publish(there, { args: asked });
      expect(again.exitCode, again.stderr).toBe(0);
      await expectOneOfEach(there);
      expect(there.repository.issues.get(2)).toMatchObject({
        labels: [{ name: 'bot' }],
        assignees: [{ login: 'ann' }],
        milestone: { title: 'v1' },
        pull: { reviewers: [{ login: 'ben' }] },
      });
    });
  });

  testAtNight('are there when two publish at once', async () => {
    const there = await onGitHub(made, { issue: true });
    const both = await Promise.all([publish(there), publish(there)]);
    expect(
      both.map(({ exitCode }) => exitCode),
      both.map(({ stderr }) => stderr).join('\n'),
    ).toEqual([0, 0]);
    await expectOneOfEach(there);
  });

  test.each(sampled(ROUTES, () => 'route', 1))(
    'are there when two go hand in hand by %s: each waits for the other before every write',
    async (_, sign) => {
      const there = await onGitHub(made, { issue: true });
      const args = [sign];
      const gate = pairs();
      there.github.before(async ({ method, operation }) => {
        if (isWrite({ method, operation })) await gate.meet(operation ?? '');
      });
      const both = await Promise.all(
        [publish(there, { args }), publish(there, { args })].map((one) => one.finally(() => gate.open())),
      );
      expect(
        both.map(({ exitCode }) => exitCode),
        both.map(({ stderr }) => stderr).join('\n'),
      ).toEqual([0, 0]);
      await expectOneOfEach(there);
    },
  );
});

/** Lets requests of an operation through by twos, until it is opened. */
function pairs(): { meet: (operation: string) => Promise<void>; open: () => void } {
  const waiting = new Map<string, () => void>();
  let isOpen = false;
  return {
    meet: (operation) => {
      const other = waiting.get(operation);
      waiting.delete(operation);
      other?.();
      if (isOpen || other !== undefined) return Promise.resolve();
      return new Promise((resolve) => waiting.set(operation, resolve));
    },
    open: () => {
      isOpen = true;
      for (const resolve of waiting.values()) resolve();
      waiting.clear();
    },
  };
}
