/** Puts an issue, or a pull request, into a repository: they share their numbers. */

import type { Account, Issue, Pull, Repository, World } from './world.ts';

export interface NewIssue {
  readonly title: string;
  readonly body: string | null;
  readonly author: Account;
  readonly association?: string | null;
  readonly locked?: boolean;
  readonly pull?: Pull;
}

export function newIssue(world: World, repository: Repository, given: NewIssue): Issue {
  const number = Math.max(0, ...repository.issues.keys()) + 1;
  const now = world.now();
  const issue: Issue = {
    id: world.nextId(),
    number,
    title: given.title,
    body: given.body,
    state: 'open',
    author: given.author,
    association: given.association ?? null,
    labels: [],
    assignees: [],
    milestone: null,
    locked: given.locked ?? false,
    comments: [],
    createdAt: now,
    updatedAt: now,
    pull: given.pull ?? null,
  };
  repository.issues.set(number, issue);
  return issue;
}
