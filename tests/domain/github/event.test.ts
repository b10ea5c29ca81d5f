import { describe, expect, test } from 'vitest';
import {
  type GitHubEvent,
  isByWriters,
  trustInCheckout,
  trustInPull,
  whoMustHaveWriteAccess,
} from '../../../src/domain/github/event.ts';

const SHA = 'a'.repeat(40);
const HEAD = 'b'.repeat(40);
const BASE = 'c'.repeat(40);
const OWN = 7;
const FORK = 8;
const mona = { login: 'mona', id: 1, type: 'User' };
const eve = { login: 'eve', id: 2, type: 'User' };

const event = (name: string, more: Partial<GitHubEvent> = {}): GitHubEvent => ({
  name,
  repository: 'acme/shop',
  repositoryId: OWN,
  commit: SHA,
  sender: mona,
  rerunBy: null,
  pullRequest: null,
  earlierRun: null,
  commentedPull: null,
  request: null,
  texts: [],
  review: null,
  ...more,
});

const pullRequest = (repositoryId: number | null) => ({
  number: 5,
  commit: HEAD,
  baseCommit: BASE,
  repositoryId,
});
const earlierRun = (repositoryId: number | null) => ({
  commit: HEAD,
  repositoryId,
  event: 'pull_request',
  actor: eve,
});

describe('the code that is checked out', () => {
  test.each<[string, GitHubEvent, string | null, string]>([
    ['a branch', event('push'), SHA, 'trusted'],
    ['another branch', event('schedule'), HEAD, 'trusted'],
    ['a labelled issue', event('issues'), SHA, 'trusted'],
    ['an own pull request', event('pull_request', { pullRequest: pullRequest(OWN) }), SHA, 'trusted'],
    ['a fork', event('pull_request', { pullRequest: pullRequest(FORK) }), HEAD, `untrusted ${BASE}`],
    [
      'the merge of a fork',
      event('pull_request', { pullRequest: pullRequest(FORK) }),
      SHA,
      `untrusted ${BASE}`,
    ],
    [
      'a fork that is gone',
      event('pull_request', { pullRequest: pullRequest(null) }),
      HEAD,
      `untrusted ${BASE}`,
    ],
    ['the base of a fork', event('pull_request', { pullRequest: pullRequest(FORK) }), BASE, 'trusted'],
    [
      'a review of a fork',
      event('pull_request_review', { pullRequest: pullRequest(FORK) }),
      HEAD,
      `untrusted ${BASE}`,
    ],
    [
      'the base, with secrets',
      event('pull_request_target', { pullRequest: pullRequest(FORK) }),
      SHA,
      'trusted',
    ],
    [
      'a fork, with secrets',
      event('pull_request_target', { pullRequest: pullRequest(FORK) }),
      HEAD,
      `privileged ${SHA}`,
    ],
    [
      'a merge, with secrets',
      event('pull_request_target', { pullRequest: pullRequest(OWN) }),
      'd'.repeat(40),
      `privileged ${SHA}`,
    ],
    [
      'an own head, with secrets',
      event('pull_request_target', { pullRequest: pullRequest(OWN) }),
      HEAD,
      'trusted',
    ],
    [
      'no commit, with secrets',
      event('pull_request_target', { pullRequest: pullRequest(OWN), commit: null }),
      null,
      'privileged null',
    ],
    [
      'an earlier run of a fork',
      event('workflow_run', { earlierRun: earlierRun(FORK) }),
      HEAD,
      `privileged ${SHA}`,
    ],
    ['an earlier run of its own', event('workflow_run', { earlierRun: earlierRun(OWN) }), HEAD, 'trusted'],
    [
      'the workflow after an earlier run',
      event('workflow_run', { earlierRun: earlierRun(FORK) }),
      SHA,
      'trusted',
    ],
    [
      'the default branch of a commented pull request',
      event('issue_comment', { commentedPull: 5 }),
      SHA,
      'trusted',
    ],
    [
      'another commit of a commented pull request',
      event('issue_comment', { commentedPull: 5 }),
      HEAD,
      `unsure ${SHA}`,
    ],
    ['a commented issue', event('issue_comment'), HEAD, 'trusted'],
  ])('%s', (_what, of, head, expected) => {
    const trust = trustInCheckout(of, head);
    const rules = trust.is === 'trusted' ? '' : ` ${trust.rules}`;
    expect(`${trust.is === 'untrusted' && trust.privileged ? 'privileged' : trust.is}${rules}`).toBe(
      expected,
    );
  });

  test.each([
    ['its own head', { commit: HEAD, repositoryId: OWN }, 'trusted'],
    ['an own head that has moved on', { commit: 'd'.repeat(40), repositoryId: OWN }, 'untrusted'],
    ['the head of a fork', { commit: HEAD, repositoryId: FORK }, 'untrusted'],
    ['a head that is gone', null, 'untrusted'],
  ])('of a commented pull request: %s', (_what, head, is) => {
    const trust = trustInPull(event('issue_comment', { commentedPull: 5 }), HEAD, { number: 5, head });
    expect(trust.is).toBe(is);
  });
});

describe('write access', () => {
  test.each(['push', 'schedule', 'workflow_dispatch', 'repository_dispatch', 'merge_group'])(
    'is what %s takes',
    (name) => {
      expect(isByWriters(event(name))).toBe(true);
      expect(whoMustHaveWriteAccess(event(name, { rerunBy: 'eve' }))).toEqual({ people: [], rerunBy: null });
    },
  );

  test.each(['issues', 'pull_request', 'pull_request_target', 'watch', 'an event of tomorrow'])(
    'is not what %s takes, so its sender is asked about',
    (name) => {
      expect(isByWriters(event(name))).toBe(false);
      expect(whoMustHaveWriteAccess(event(name)).people).toEqual([mona]);
    },
  );

  test('is asked of who caused the run before, too, and of no one twice', () => {
    expect(whoMustHaveWriteAccess(event('workflow_run', { earlierRun: earlierRun(FORK) })).people).toEqual([
      mona,
      eve,
    ]);
    const unknown = { ...earlierRun(FORK), actor: null };
    expect(whoMustHaveWriteAccess(event('workflow_run', { earlierRun: unknown })).people).toEqual([]);
    const twice = event('workflow_run', { sender: eve, earlierRun: earlierRun(FORK), rerunBy: 'mona' });
    expect(whoMustHaveWriteAccess(twice)).toEqual({ people: [eve], rerunBy: 'mona' });
  });
});
