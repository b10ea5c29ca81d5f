/** The few questions that are asked by GraphQL. What is refused comes with status 200, as from GitHub. */

import type { Issue, Repository, Token, World } from './state/world.ts';
import { nodeId } from './views.ts';

export function graphql(world: World, token: Token, body: unknown): unknown {
  const { query = '', variables = {} } = (body ?? {}) as {
    query?: string;
    variables?: Record<string, unknown>;
  };
  switch (query) {
    case 'query { viewer { login databaseId } }':
      return { data: { viewer: { login: token.account.login, databaseId: token.account.id } } };
    case 'mutation ($id: ID!) { convertPullRequestToDraft(input: { pullRequestId: $id }) { pullRequest { isDraft } } }':
      return converted(world, token, String(variables.id));
    default:
      return refused('PARSE', 'This server knows no such query');
  }
}

/** As the requests of a server are named. */
export function graphqlKind(body: unknown): string {
  const { query = '' } = (body ?? {}) as { query?: string };
  return query.startsWith('mutation ') ? 'graphql/mutation' : 'graphql/query';
}

function converted(world: World, token: Token, id: string): unknown {
  const found = pullOf(world, id);
  if (found === null)
    return refused('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
  const { contents, pull_requests } = token.permissions;
  if (contents !== 'write' || pull_requests !== 'write')
    return refused(
      'FORBIDDEN',
      `Resource not accessible by ${token.kind === 'user' ? 'personal access token' : 'integration'}`,
    );
  if (!found.repository.settings.drafts)
    return refused('UNPROCESSABLE', 'Draft pull requests are not supported in this repository.');
  if (found.issue.pull !== null) found.issue.pull.draft = true;
  return { data: { convertPullRequestToDraft: { pullRequest: { isDraft: true } } } };
}

function pullOf(world: World, id: string): { repository: Repository; issue: Issue } | null {
  for (const repository of world.repositories.values())
    for (const issue of repository.issues.values())
      if (issue.pull !== null && nodeId('PR', issue.id) === id) return { repository, issue };
  return null;
}

function refused(type: string, message: string): unknown {
  return { data: null, errors: [{ type, message }] };
}
