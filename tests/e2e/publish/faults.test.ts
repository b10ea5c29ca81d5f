import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault, Trouble } from '../../support/github-server/faults.ts';
import {
  closeGitHubs,
  find,
  type MadeRun,
  madeRun,
  onGitHub,
  publish,
} from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

let made: MadeRun;

beforeAll(async () => {
  made = await madeRun({ 'a.txt': 'a\n', 'logo.bin': Buffer.from([0, 1]) }, [
    {
      calls: [
        call('write_file', { path: 'a.txt', content: 'b\n' }),
        call('run_command', { command: "printf '\\000\\377' > logo.bin" }),
      ],
    },
    { text: 'Done.' },
  ]);
});

// Each test starts several processes.

afterAll(closeGitHubs);
const READS = ['repos/get', 'git/get-ref', 'git-http/upload-pack', 'pulls/list', 'issues/list-comments'];
const WRITES = ['git-http/receive-pack', 'pulls/create', 'issues/create-comment'];
/** With `--sign required`. */
const SIGNED_WRITES = [
  'git-http/receive-pack',
  'git/create-commit',
  'git/create-ref',
  'pulls/create',
  'issues/create-comment',
];

/** Publishes with these faults, and if that fails, again without them; the end is one of each. */
async function publishThrough(...faults: Fault[]) {
  return publishWith([], ...faults);
}

async function publishWith(args: string[], ...faults: Fault[]) {
  const there = await onGitHub(made, { issue: true });
  for (const fault of faults) there.github.faults.add(fault);
  const first = await publish(there, { args });
  expect((await find(there)).pulls.length).toBeLessThanOrEqual(1);
  there.github.faults.clear();
  const last = first.exitCode === 0 ? first : await publish(there, { args });
  expect(last.exitCode, last.stderr).toBe(0);
  expect(await find(there)).toMatchObject({
    branches: [{ tree: made.result.treeSha, commits: 1 }],
    pulls: [{ state: 'open' }],
    comments: 1,
  });
  expect(there.github.invalid).toEqual([]);
  return { ...there, first };
}

describe.concurrent('a passing fault', () => {
  const passing: [string, Trouble, boolean][] = [
    [
      '502 before anything is done',
      { kind: 'status', status: 502, rawBody: '<html>Bad gateway</html>' },
      false,
    ],
    ['502 although it was done', { kind: 'status', status: 502, message: 'Server Error' }, true],
    ['a reset before anything is done', { kind: 'reset' }, false],
    ['a reset although it was done', { kind: 'reset' }, true],
  ];

  test.each(sampled(passing, () => 'passing', 3))(
    '%s, of every write once, is passed over without doing anything twice',
    async (_, trouble, carriedOut) => {
      const faultsOf = (writes: string[]) =>
        writes.map((operation) => ({ on: { operation, method: 'POST' }, trouble, carriedOut }));
      const signed = await publishWith(['--sign', 'required'], ...faultsOf(SIGNED_WRITES));
      expect(signed.first.exitCode, signed.first.stderr).toBe(0);
      const { first, github } = await publishThrough(...faultsOf(WRITES));
      expect(first.exitCode, first.stderr).toBe(0);
      const made = (operation: string) =>
        github.requests.filter((request) => request.operation === operation && request.status === 201).length;
      expect(made('pulls/create') + made('issues/create-comment')).toBeLessThanOrEqual(2);
    },
  );

  test('of every read once is passed over', async () => {
    const trouble: Trouble = { kind: 'status', status: 503 };
    const { first } = await publishThrough(...READS.map((operation) => ({ on: { operation }, trouble })));
    expect(first.exitCode, first.stderr).toBe(0);
  });
});

const HEAD_INVALID = { resource: 'PullRequest', field: 'head', code: 'invalid' };

describe.concurrent('what GitHub has not heard of everywhere yet', () => {
  const unsettled: readonly [string, string, Readonly<Record<string, unknown>>][] = [
    ['git/create-commit', 'Tree SHA does not exist', {}],
    ['git/create-ref', 'Object does not exist', {}],
    ['git/create-ref', 'Reference update failed', {}],
    ['pulls/create', 'Validation Failed', { errors: [HEAD_INVALID] }],
    ['issues/add-labels', "Could not resolve to a node with the global id of 'PR_kw'.", {}],
    ['issues/add-assignees', "Could not resolve to a node with the global id of 'PR_kw'.", {}],
    ['pulls/request-reviewers', "Could not resolve to a node with the global id of 'PR_kw'.", {}],
  ];
  const people = { collaborators: { ann: 'write', ben: 'write' } } as const;
  const args = ['--label', 'bot', '--assignee', 'ann', '--reviewer', 'ben', '--sign', 'required'];

  test.each(sampled(unsettled, ([operation]) => operation.split('/', 1).join()))(
    '%s: "%s" is waited for, within bounds',
    async (operation, message, more) => {
      const trouble: Trouble = { kind: 'status', status: 422, message, more };
      const there = await onGitHub(made, { issue: true, ...people });
      there.github.faults.add({ on: { operation }, times: 3, trouble });
      const passing = await publish(there, { args });
      expect(passing.exitCode, passing.stderr).toBe(0);
      expect(passing.said?.warnings.join()).not.toContain('422');
      expect(there.github.invalid).toEqual([]);

      const lasting = await onGitHub(made, { issue: true, ...people });
      lasting.github.faults.add({ on: { operation }, times: 99, trouble });
      const isLeftOut = /labels|assignees|reviewers/.test(operation);
      expect(await publish(lasting, { args })).toMatchObject({ exitCode: isLeftOut ? 0 : 11 });
      const asked = lasting.github.requests.filter((one) => one.operation === operation).length;
      expect(asked).toBeGreaterThan(3);
      expect(asked).toBeLessThan(20);
    },
  );
});

describe.concurrent('rate limits', () => {
  test('a 429 in any words is waited for as long as it says', async () => {
    const on = { operation: 'pulls/create' };
    const trouble: Trouble = {
      kind: 'status',
      status: 429,
      rawBody: '<html>Whoa there!</html>',
      headers: { 'retry-after': '1' },
    };
    const { first } = await publishThrough({ on, trouble });
    expect(first.exitCode, first.stderr).toBe(0);
  });

  test.each(
    sampled<[string, Trouble]>(
      [
        ['a secondary limit of one second', { kind: 'secondary-limit', status: 403, retryAfterSeconds: 1 }],
        ['a secondary limit by 429', { kind: 'secondary-limit', status: 429, retryAfterSeconds: 1 }],
        ['a primary limit that ends soon', { kind: 'primary-limit', status: 403, resetInSeconds: 1 }],
      ],
      () => 'waited for',
    ),
  )('%s is waited for', async (_, trouble) => {
    const { first } = await publishThrough({ on: { operation: 'pulls/create' }, trouble });
    expect(first.exitCode, first.stderr).toBe(0);
  });

  test.each(
    sampled<[string, Trouble]>(
      [
        ['a secondary limit of an hour', { kind: 'secondary-limit', status: 403, retryAfterSeconds: 3600 }],
        ['a primary limit of half an hour', { kind: 'primary-limit', status: 429, resetInSeconds: 1800 }],
      ],
      () => 'too long',
    ),
  )('%s is not waited for, and what was made is told', async (_, trouble) => {
    const { first } = await publishThrough({ on: { operation: 'pulls/create' }, times: 99, trouble });
    expect([first.exitCode, first.said?.outcome], first.stderr).toEqual([11, 'publish_failed']);
    expect(first.said).toMatchObject({ commit: { operation: 'created' }, pullRequest: null });
    expect(first.said?.reason).toMatch(/rate limit/i);
  });
});

describe.concurrent('a fault that stays', () => {
  // Each is asked for four times, which takes a quarter of a minute.
  const operations = ['repos/get', 'git-http/upload-pack', ...WRITES];

  test.each(sampled(operations, (operation) => (WRITES.includes(operation) ? 'write' : 'read')))(
    'at %s ends as publish_failed, and publishing again mends it',
    async (operation) => {
      const { first } = await publishThrough({
        on: { operation },
        times: 99,
        trouble: { kind: 'status', status: 500 },
      });
      expect([first.exitCode, first.said?.outcome], first.stderr).toEqual([11, 'publish_failed']);
      expect(first.stderr).not.toMatch(/\n\s+at /);
    },
  );

  test.each(sampled([403, 404, 422], () => 'final'))(
    'a %i at the pull request ends as publish_failed at once',
    async (status) => {
      const { first, github } = await publishThrough({
        on: { operation: 'pulls/create' },
        times: 99,
        trouble: { kind: 'status', status },
      });
      expect([first.exitCode, first.said?.outcome], first.stderr).toEqual([11, 'publish_failed']);
      const asked = github.requests.filter(
        (one) => one.operation === 'pulls/create' && one.status === status,
      );
      expect(asked).toHaveLength(1);
    },
  );
});

test('an answer that never comes ends at the deadline', async () => {
  const there = await onGitHub(made);
  there.github.faults.add({
    on: { operation: 'git-http/upload-pack' },
    times: 99,
    trouble: { kind: 'stall' },
  });
  const { exitCode, said, stderr } = await publish(there, { args: ['--deadline', '3s'] });
  expect([exitCode, said?.outcome], stderr).toEqual([124, 'deadline']);
});
