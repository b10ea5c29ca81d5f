/**
 * A local GitHub that is as strict as the real one. Every request and every answer is held against GitHub's published
 * description of its API; behind it are real bare repositories, which git can fetch from and push to at the addresses
 * that github.com has. It breaks in every way the real one does. For tests.
 */

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Desk } from './desk.ts';
import type { Faults } from './faults.ts';
import { newIssue } from './state/new-issue.ts';
import { commitFiles, type FileContent, type NewRepository, newRepository } from './state/new-repository.ts';
import {
  type Account,
  type Comment,
  type Issue,
  type Permissions,
  type Repository,
  type RepositorySettings,
  type Thread,
  World,
} from './state/world.ts';

/** A request as it arrived, with what became of it. */
export interface SeenRequest {
  readonly method: string;
  /** Without the base path of an enterprise server, and without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined when there was none or no JSON. */
  readonly body: unknown;
  /** As the description names it, `git-http/…` for git's own protocol, `graphql/query` and `graphql/mutation`; null else. */
  readonly operation: string | null;
  /** Of the token's account; null when there was no token, or no good one. */
  login: string | null;
  /** What was answered; null as long as nothing was, or when the connection was reset. */
  status: number | null;
}

/** A request that does not fit the description, or an answer of this server that does not. */
export interface Invalid {
  /** Method and path. */
  readonly request: string;
  readonly side: 'request' | 'answer';
  readonly errors: readonly string[];
}

/** Whether a request is to change something. */
export function isWrite({ method, operation }: Pick<SeenRequest, 'method' | 'operation'>): boolean {
  return method !== 'GET' && operation !== 'graphql/query' && operation !== 'git-http/upload-pack';
}

export interface NewToken {
  readonly kind: 'installation' | 'user';
  readonly permissions?: Permissions;
  /** Default: `github-actions[bot]` for installations, `octocat` for users. */
  readonly login?: string;
  readonly id?: number;
  /** Full names of the private repositories that it can see. Default: all. */
  readonly repositories?: readonly string[];
  /** Default: one that is made up. */
  readonly text?: string;
}

/** A repository, for tests to look into and to change behind the client's back. */
export interface GitHubRepository {
  readonly fullName: string;
  /** The bare repository on disk. */
  readonly gitFolder: string;
  /** To be changed at will. */
  readonly settings: RepositorySettings;
  readonly issues: ReadonlyMap<number, Issue>;
  /** SHA-256 of the contents that Git LFS stores. */
  readonly lfs: Set<string>;
  /** Runs git in the bare repository; what it printed, without the newline at its end. */
  git(...args: string[]): Promise<string>;
  /** The commit of a branch; null when there is none. */
  head(branch: string): Promise<string | null>;
  /**
   * A person's commit, past the API; `null` deletes a file, a new branch starts at the default one. Returns the
   * commit's id.
   */
  commit(
    branch: string,
    files: Readonly<Record<string, FileContent | null>>,
    by?: { message?: string; author?: string },
  ): Promise<string>;
  /** All pull requests, by number. */
  pulls(): Issue[];
}

export type Hook = (request: SeenRequest) => void | Promise<void>;

export interface GitHub {
  /** Base URL of the API, as https://api.github.com is. */
  readonly url: string;
  /** The same API as an enterprise server has it, below `/api/v3`. */
  readonly enterpriseUrl: string;
  /** Where repositories are cloned from: `<serverUrl>/<owner>/<name>.git`. */
  readonly serverUrl: string;
  /** All requests so far, in the order of their arrival. */
  readonly requests: readonly SeenRequest[];
  /** Tests assert that this is empty. */
  readonly invalid: readonly Invalid[];
  readonly faults: Faults;
  addUser(login: string, id?: number): Account;
  addRepository(fullName: string, given?: NewRepository): Promise<GitHubRepository>;
  /** Returns the token's text. */
  addToken(given: NewToken): string;
  /** The repository is found under both names. */
  addFormerName(former: string, fullName: string): void;
  addIssue(
    fullName: string,
    given: {
      title: string;
      body?: string | null;
      author?: string;
      /** Default: as it follows from the author's role. */
      association?: string;
      labels?: readonly string[];
      locked?: boolean;
    },
  ): Issue;
  addComment(
    fullName: string,
    issue: number,
    given: { body: string; author: string; association?: string },
  ): Comment;
  /** A comment on a line of a pull request, which begins a thread. */
  addReview(
    fullName: string,
    pull: number,
    given: { path: string; line: number | null; body: string; author: string; association?: string },
  ): Thread;
  /** A check of a commit, run by GitHub Actions. */
  addCheck(given: { sha: string; name: string; conclusion: string; log?: string; summary?: string }): void;
  /** Called when a request has arrived and nothing has been done about it. */
  before(hook: Hook): void;
  /** Called when a request has been carried out and nothing has been answered: the moment to kill a client. */
  after(hook: Hook): void;
  /** Ends every connection and removes the repositories. Throws when an answer did not fit the description. */
  close(): Promise<void>;
}

/** `clock` in milliseconds. */
export async function startGitHub({ clock = Date.now }: { clock?: () => number } = {}): Promise<GitHub> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'patchsmith-github-')));
  const world = new World(clock);
  const desk = new Desk(world);
  const server = createServer((request, response) => desk.serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  world.serverUrl = `http://127.0.0.1:${port}`;
  world.apiUrl = world.serverUrl;
  const repositoryNamed = (fullName: string): Repository => {
    const repository = world.repository(fullName);
    if (repository === undefined) throw new Error(`There is no repository ${fullName} here`);
    return repository;
  };
  return {
    url: world.apiUrl,
    enterpriseUrl: `${world.apiUrl}/api/v3`,
    serverUrl: world.serverUrl,
    requests: desk.requests,
    invalid: desk.invalid,
    faults: desk.faults,
    addUser: (login, id) => world.accountNamed(login, id),
    addRepository: async (fullName, given = {}) =>
      handleOf(world, await newRepository(world, folder, fullName, given)),
    addFormerName: (former, fullName) => void world.renamed.set(former.toLowerCase(), fullName),
    addToken: ({ kind, permissions = {}, login, id, repositories, text }) => {
      const account = world.accountNamed(login ?? (kind === 'user' ? 'octocat' : 'github-actions[bot]'), id);
      const made = text ?? `${kind === 'user' ? 'ghp' : 'ghs'}_${'x'.repeat(30)}${world.nextId()}`;
      world.tokens.set(made, { text: made, kind, account, permissions, repositories: repositories ?? null });
      return made;
    },
    addIssue: (fullName, given) => {
      const repository = repositoryNamed(fullName);
      const issue = newIssue(world, repository, {
        title: given.title,
        body: given.body ?? null,
        author: world.accountNamed(given.author ?? 'octocat'),
        association: given.association ?? null,
        locked: given.locked ?? false,
      });
      issue.labels = (given.labels ?? []).map((name) => desk.label(repository, name));
      return issue;
    },
    addComment: (fullName, number, { body, author, association = null }) => {
      const issue = repositoryNamed(fullName).issues.get(number);
      if (issue === undefined) throw new Error(`There is no issue #${number} in ${fullName}`);
      const account = world.accountNamed(author);
      const now = world.now();
      const comment: Comment = {
        id: world.nextId(),
        body,
        author: account,
        byApp: account.type === 'Bot',
        association: association,
        createdAt: now,
        updatedAt: now,
      };
      issue.comments.push(comment);
      return comment;
    },
    addReview: (fullName, number, { path, line, body, author, association = null }) => {
      const { pull } = repositoryNamed(fullName).issues.get(number) ?? {};
      if (!pull) throw new Error(`There is no pull request #${number} in ${fullName}`);
      const account = world.accountNamed(author);
      const now = world.now();
      const comment: Comment = {
        id: world.nextId(),
        body,
        author: account,
        byApp: account.type === 'Bot',
        association,
        createdAt: now,
        updatedAt: now,
      };
      const thread: Thread = { id: world.nextId(), path, line, resolvedBy: null, comments: [comment] };
      pull.threads.push(thread);
      return thread;
    },
    addCheck: ({ log = '', summary = null, ...check }) =>
      void world.checks.push({ id: world.nextId(), log, summary, ...check }),
    before: (hook) => void desk.before.push(hook),
    after: (hook) => void desk.after.push(hook),
    close: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      const broken = desk.invalid.filter(({ side }) => side === 'answer');
      if (broken.length > 0) throw new Error(`Answers that GitHub would not give: ${JSON.stringify(broken)}`);
    },
  };
}

function handleOf(world: World, repository: Repository): GitHubRepository {
  const { store } = repository;
  return {
    fullName: repository.fullName,
    gitFolder: store.folder,
    settings: repository.settings,
    issues: repository.issues,
    lfs: repository.lfs,
    git: (...args) => store.text(args),
    head: (branch) => store.head(branch),
    commit: (branch, files, by = {}) => commitFiles(world, repository, branch, files, by),
    pulls: () => [...repository.issues.values()].filter(({ pull }) => pull !== null),
  };
}
