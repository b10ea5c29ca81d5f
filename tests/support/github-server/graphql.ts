/**
 * GraphQL, carried out against GitHub's published schema (npm package `@octokit/graphql-schema`): what does not fit it is refused
 * as GitHub refuses it. Only the little that the client asks for has values. Refusals come with status 200.
 */

import { readFileSync } from 'node:fs';
import { buildSchema, graphql as carryOut, type GraphQLSchema } from 'graphql';
import {
  associationOf,
  type Comment,
  type Issue,
  type Repository,
  type Thread,
  type Token,
  type World,
} from './state/world.ts';
import { nodeId } from './views.ts';

// Read once in a process: it is 1.5 MB, and never changes.
let published: GraphQLSchema | undefined;

function schema(): GraphQLSchema {
  if (published !== undefined) return published;
  // The package's own module would read it twice more, as JSON, and exports nothing else.
  const path = new URL('../../../node_modules/@octokit/graphql-schema/schema.graphql', import.meta.url);
  published = buildSchema(readFileSync(path, 'utf8'), {
    assumeValid: true,
    assumeValidSDL: true,
    noLocation: true,
  });
  return published;
}

export async function graphql(world: World, token: Token, body: unknown): Promise<unknown> {
  const { query: source = '', variables: variableValues = {} } = (body ?? {}) as {
    query?: string;
    variables?: Record<string, unknown>;
  };
  const answer = await carryOut({ schema: schema(), source, variableValues, rootValue: root(world, token) });
  const errors = answer.errors?.map(({ message, originalError, path }) => {
    const type = originalError instanceof Refused ? originalError.type : 'INVALID';
    return { type, message, ...(path === undefined ? {} : { path }) };
  });
  return { data: answer.data ?? null, ...(errors === undefined ? {} : { errors }) };
}

/** As the requests of a server are named. */
export function graphqlKind(body: unknown): string {
  const { query = '' } = (body ?? {}) as { query?: string };
  return query.startsWith('mutation ') ? 'graphql/mutation' : 'graphql/query';
}

class Refused extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

function root(world: World, token: Token) {
  return {
    viewer: () => ({ login: token.account.login, databaseId: token.account.id }),
    repository: ({ owner, name }: { owner: string; name: string }) => {
      const repository = world.repository(`${owner}/${name}`);
      if (repository === undefined)
        throw new Refused('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`);
      return { pullRequest: ({ number }: { number: number }) => pullRequest(repository, token, number) };
    },
    convertPullRequestToDraft: ({ input }: { input: { pullRequestId: string } }) => {
      const { repository, issue } = pullOf(world, input.pullRequestId);
      mustWrite(token);
      if (!repository.settings.drafts)
        throw new Refused('UNPROCESSABLE', 'Draft pull requests are not supported in this repository.');
      if (issue.pull !== null) issue.pull.draft = true;
      return { pullRequest: { isDraft: true } };
    },
    resolveReviewThread: ({ input }: { input: { threadId: string } }) => {
      for (const repository of world.repositories.values())
        for (const { pull } of repository.issues.values())
          for (const thread of pull?.threads ?? []) {
            if (nodeId('PRRT', thread.id) !== input.threadId) continue;
            mustWrite(token);
            thread.resolvedBy = token.account;
            return { thread: { isResolved: true } };
          }
      throw noNode(input.threadId);
    },
  };
}

function pullRequest(repository: Repository, token: Token, number: number) {
  const { pull } = repository.issues.get(number) ?? {};
  if (pull === undefined || pull === null)
    throw new Refused('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
  if (repository.settings.private && !['read', 'write'].includes(token.permissions.pull_requests ?? ''))
    throw notAccessible(token);
  return {
    reviewThreads: ({ first = 0, after = null }: { first?: number; after?: string | null }) => {
      if (first < 1 || first > 100)
        throw new Refused(
          'EXCESSIVE_PAGINATION',
          'Requesting records exceeds the `first` limit of 100 records.',
        );
      const from = after === null ? 0 : Number(after);
      const shown = pull.threads.slice(from, from + first);
      const end = from + shown.length;
      return {
        pageInfo: {
          hasNextPage: end < pull.threads.length,
          endCursor: shown.length === 0 ? null : String(end),
        },
        nodes: shown.map((thread) => showThread(repository, thread)),
      };
    },
  };
}

function showThread(repository: Repository, { id, path, line, resolvedBy, comments }: Thread) {
  return {
    id: nodeId('PRRT', id),
    isResolved: resolvedBy !== null,
    path,
    line,
    comments: ({ last = 100 }: { last?: number }) => ({
      nodes: comments.slice(-last).map((comment) => showComment(repository, comment)),
    }),
  };
}

function showComment(repository: Repository, { id, body, author, association }: Comment) {
  const { login, type } = author;
  return {
    databaseId: id,
    body,
    authorAssociation: association ?? associationOf(repository, author),
    // Bots are called without the end of their login here.
    author: { __typename: type, login: login.replace(/\[bot\]$/, ''), databaseId: author.id },
  };
}

function mustWrite(token: Token): void {
  const { contents, pull_requests } = token.permissions;
  if (contents !== 'write' || pull_requests !== 'write') throw notAccessible(token);
}

function notAccessible({ kind }: Token): Refused {
  const by = kind === 'user' ? 'personal access token' : 'integration';
  return new Refused('FORBIDDEN', `Resource not accessible by ${by}`);
}

function pullOf(world: World, id: string): { repository: Repository; issue: Issue } {
  for (const repository of world.repositories.values())
    for (const issue of repository.issues.values())
      if (issue.pull !== null && nodeId('PR', issue.id) === id) return { repository, issue };
  throw noNode(id);
}

function noNode(id: string): Refused {
  return new Refused('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
}
