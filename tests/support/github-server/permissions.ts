/** Which permission each operation needs, from the reference pages of the REST API, and whether a token has it. */

import { Refusal } from './refusal.ts';
import { mayPush, type Repository, roleOf, type Token } from './state/world.ts';

/** Alternatives, each enough. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'repos/get': ['metadata=read'],
  'repos/get-branch-rules': ['metadata=read'],
  'repos/get-repo-ruleset': ['metadata=read'],
  'repos/get-collaborator-permission-level': ['metadata=read'],
  'repos/list-commits': ['contents=read'],
  'repos/compare-commits-with-basehead': ['contents=read'],
  'git/get-ref': ['contents=read'],
  'git/get-commit': ['contents=read'],
  'git/create-blob': ['contents=write'],
  'git/create-tree': ['contents=write'],
  'git/create-commit': ['contents=write'],
  'git/create-ref': ['contents=write'],
  'git/update-ref': ['contents=write'],
  'git/delete-ref': ['contents=write'],
  'pulls/list': ['pull_requests=read'],
  'pulls/get': ['pull_requests=read'],
  'pulls/list-commits': ['pull_requests=read'],
  'issues/list-comments-for-repo': ['issues=read', 'pull_requests=read'],
  'pulls/list-files': ['pull_requests=read'],
  'pulls/list-reviews': ['pull_requests=read'],
  'pulls/list-review-comments': ['pull_requests=read'],
  'pulls/create-review': ['pull_requests=write'],
  'pulls/update-review': ['pull_requests=write'],
  'pulls/create-review-comment': ['pull_requests=write'],
  'pulls/update-review-comment': ['pull_requests=write'],
  'pulls/delete-review-comment': ['pull_requests=write'],
  'checks/create': ['checks=write'],
  'checks/update': ['checks=write'],
  'checks/list-for-ref': ['checks=read'],
  'actions/download-job-logs-for-workflow-run': ['actions=read'],
  'pulls/create': ['pull_requests=write'],
  'pulls/create-reply-for-review-comment': ['pull_requests=write'],
  'pulls/update': ['pull_requests=write'],
  'pulls/request-reviewers': ['pull_requests=write'],
  'issues/get': ['issues=read', 'pull_requests=read'],
  'issues/list-for-repo': ['issues=read', 'pull_requests=read'],
  'issues/create': ['issues=write'],
  'issues/update': ['issues=write', 'pull_requests=write'],
  'issues/list-comments': ['issues=read', 'pull_requests=read'],
  'issues/get-comment': ['issues=read', 'pull_requests=read'],
  'issues/create-comment': ['issues=write', 'pull_requests=write'],
  'issues/update-comment': ['issues=write', 'pull_requests=write'],
  'issues/delete-comment': ['issues=write', 'pull_requests=write'],
  'issues/list-labels-on-issue': ['issues=read', 'pull_requests=read'],
  'issues/add-labels': ['issues=write', 'pull_requests=write'],
  'issues/remove-label': ['issues=write', 'pull_requests=write'],
  'issues/add-assignees': ['issues=write', 'pull_requests=write'],
  'issues/list-milestones': ['issues=read', 'pull_requests=read'],
  'issues/get-milestone': ['issues=read', 'pull_requests=read'],
  'git-http/upload-pack': ['contents=read'],
  'git-http/receive-pack': ['contents=write'],
};

/** What users may write without a role, where they can see the repository. */
const OPEN_TO_ALL = [
  'issues/create-comment',
  'issues/create',
  'pulls/create',
  'pulls/create-reply-for-review-comment',
];

/** Throws the refusal of GitHub when the token does not reach for the operation. */
export function checkPermission(operation: string, token: Token | null, repository: Repository): void {
  const needed = NEEDED[operation] ?? [];
  const writes = needed.some((one) => one.endsWith('=write'));
  if (token === null) {
    if (writes) throw new Refusal(401, 'Requires authentication');
    return;
  }
  if (!writes && !repository.settings.private) return;
  if (needed.length > 0 && !needed.some((one) => has(token, one))) throw notAccessible(token, needed);
  const may = token.kind === 'installation' || mayPush(roleOf(repository, token.account));
  if (writes && !may && !OPEN_TO_ALL.includes(operation)) throw notAccessible(token, needed);
}

/** Whether the token sees that the repository exists. */
export function sees(token: Token | null, repository: Repository): boolean {
  if (!repository.settings.private) return true;
  if (token === null) return false;
  return token.repositories === null || token.repositories.includes(repository.fullName);
}

/** The 403 of a token that lacks a permission, which names those that would do. */
export function notAccessible(token: Token, needed: readonly string[]): Refusal {
  const by = token.kind === 'installation' ? 'integration' : 'personal access token';
  return new Refusal(
    403,
    `Resource not accessible by ${by}`,
    {},
    {
      'x-accepted-github-permissions': needed.join('; '),
    },
  );
}

function has(token: Token, needed: string): boolean {
  const [name = '', access] = needed.split('=');
  if (name === 'metadata') return true;
  const granted = token.permissions[name];
  return granted === 'write' || granted === access;
}
