/** What the server knows: accounts, tokens, repositories, issues, pull requests and comments. */

import type { GitStore } from './git-store.ts';

export interface Account {
  readonly login: string;
  readonly id: number;
  readonly type: 'User' | 'Bot' | 'Organization';
}

export type Access = 'read' | 'write';

/** Names with underscores, as GitHub's API spells them: `contents`, `pull_requests`, `issues`, `workflows`. */
export type Permissions = Readonly<Record<string, Access>>;

export interface Token {
  readonly text: string;
  readonly kind: 'installation' | 'user';
  readonly account: Account;
  readonly permissions: Permissions;
  /** Full names of the private repositories that it can see; null: all. */
  readonly repositories: readonly string[] | null;
}

/** A role in a repository, by the old names that the API's `permission` has. */
export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read';

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

export interface Milestone {
  readonly id: number;
  readonly number: number;
  readonly title: string;
  readonly state: 'open' | 'closed';
}

export interface Comment {
  readonly id: number;
  body: string;
  readonly author: Account;
  /** The token's app, for comments of installations. */
  readonly byApp: boolean;
  /** Null: as it follows from the author's role. */
  readonly association: string | null;
  readonly createdAt: string;
  updatedAt: string;
}

/** Comments on lines of a pull request, the first of which began it. */
export interface Thread {
  readonly id: number;
  readonly path: string;
  readonly line: number | null;
  /** The first of several lines. */
  readonly startLine?: number | null;
  /** The commit it was made on; left out where a test made it, which is then always the head. */
  readonly commit?: string;
  resolvedBy: Account | null;
  readonly comments: Comment[];
}

export interface Pull {
  /** Full name of the repository of the head branch. */
  readonly headRepository: string;
  readonly head: string;
  base: string;
  draft: boolean;
  merged: boolean;
  maintainerCanModify: boolean;
  reviewers: Account[];
  teams: string[];
  readonly threads: Thread[];
  readonly reviews: {
    id: number;
    author: Account;
    state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
    body?: string;
    commit?: string;
  }[];
}

/** An issue; a pull request is one too. */
export interface Issue {
  readonly id: number;
  readonly number: number;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  /** Whoever closed it by a request; left out where a test closed it, which is then a person. */
  closedBy?: Account;
  readonly author: Account;
  readonly association: string | null;
  labels: Label[];
  assignees: Account[];
  milestone: Milestone | null;
  readonly locked: boolean;
  readonly comments: Comment[];
  readonly createdAt: string;
  updatedAt: string;
  /** Null for an issue proper. */
  readonly pull: Pull | null;
}

/** What a repository is set to; everything can be changed while the server runs. */
export interface RepositorySettings {
  private: boolean;
  archived: boolean;
  defaultBranch: string;
  /** Draft pull requests are not to be had in private repositories of a free plan. */
  drafts: boolean;
  /** Whether the Actions setting lets `github-actions[bot]` open pull requests. */
  actionsMayOpenPulls: boolean;
  /** Branches that nobody can update directly. */
  protectedBranches: readonly string[];
  /** Active rules of all branches but the default one. */
  rules: readonly {
    readonly type: string;
    readonly parameters?: object;
    readonly bypass?: 'always' | 'never';
  }[];
}

export interface Repository {
  readonly id: number;
  readonly fullName: string;
  readonly owner: Account;
  readonly settings: RepositorySettings;
  readonly store: GitStore;
  /** Full name of the repository that it was forked from. */
  readonly forkOf: string | null;
  /** Roles by login; the owner is an admin. */
  readonly roles: Map<string, Role>;
  readonly teams: Set<string>;
  /** SHA-256 of the contents that Git LFS stores. */
  readonly lfs: Set<string>;
  readonly labels: Label[];
  readonly milestones: Milestone[];
  readonly issues: Map<number, Issue>;
}

/** A run of a check on a commit. */
export interface Check {
  readonly id: number;
  readonly sha: string;
  readonly name: string;
  conclusion: string | null;
  readonly log: string;
  summary: string | null;
  /** Of one that was made by a request. */
  readonly by?: Account;
  readonly externalId?: string;
  title?: string;
  readonly annotations?: unknown[];
}

export class World {
  readonly checks: Check[] = [];
  readonly accounts = new Map<string, Account>();
  readonly tokens = new Map<string, Token>();
  readonly repositories = new Map<string, Repository>();
  /** Full names that repositories had once, and those that they have. */
  readonly renamed = new Map<string, string>();
  /** Base URL of the API that answers name in their links. */
  apiUrl = '';
  serverUrl = '';
  readonly clock: () => number;
  #lastId = 1000;

  constructor(clock: () => number) {
    this.clock = clock;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** To the second, as GitHub has it. */
  now(): string {
    return new Date(this.clock()).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  /** Logins are the same in any case. */
  account(login: string): Account | undefined {
    return this.accounts.get(login.toLowerCase());
  }

  /** The account of this login; a new one where there is none. `[bot]` at its end makes a bot. */
  accountNamed(login: string, id?: number, type?: Account['type']): Account {
    const known = this.account(login);
    if (known !== undefined) return known;
    const account: Account = {
      login,
      id: id ?? (login === 'github-actions[bot]' ? 41_898_282 : this.nextId()),
      type: type ?? (login.endsWith('[bot]') ? 'Bot' : 'User'),
    };
    this.accounts.set(login.toLowerCase(), account);
    return account;
  }

  repository(fullName: string): Repository | undefined {
    return this.repositories.get(fullName.toLowerCase());
  }
}

export function roleOf(repository: Repository, account: Account): Role | null {
  if (repository.owner.login === account.login) return 'admin';
  return repository.roles.get(account.login.toLowerCase()) ?? null;
}

export function mayPush(role: Role | null): boolean {
  return role === 'admin' || role === 'maintain' || role === 'write';
}

/** The comment author's standing in the repository, as the API words it. */
export function associationOf(repository: Repository, account: Account): string {
  if (repository.owner.login === account.login) return 'OWNER';
  if (!repository.roles.has(account.login.toLowerCase())) return 'NONE';
  return repository.owner.type === 'Organization' ? 'MEMBER' : 'COLLABORATOR';
}
