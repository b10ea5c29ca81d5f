/** Finds out whose a token is, what accounts may do in a repository, and whose code a pull request contains. */

import * as z from 'zod';
import type { HeadCommit } from '../../domain/github/event.ts';
import { type Account, GitHubUser } from '../../domain/github/untrusted-text.ts';
import type { GitHub, GitHubAnswer } from '../../ports/github.ts';
import { GitHubRefused, ownerAndName } from './request.ts';

/**
 * `admin`, `write`, `read` or `none`; other roles are mapped to these. `user` is the account that has the login today; null
 * if it no longer exists. Needs a token that may read the repository's metadata.
 */
export function askPermission(
  github: GitHub,
  repository: string,
  login: string,
): Promise<GitHubAnswer<{ permission: string; user: Account | null }>> {
  return github.ask({
    route: 'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
    parameters: { ...ownerAndName(repository), username: login },
    schema: z.object({ permission: z.string(), user: GitHubUser.nullable() }),
  });
}

/** The account with a login, including bots. */
export function askAccount(github: GitHub, login: string): Promise<GitHubAnswer<Account>> {
  return github.ask({
    route: 'GET /users/{username}',
    parameters: { username: login },
    schema: GitHubUser,
  });
}

/** The current head of a pull request; null if its repository no longer exists. */
export async function askPullHead(
  github: GitHub,
  repository: string,
  number: number,
): Promise<GitHubAnswer<HeadCommit | null>> {
  const pull = await github.ask({
    route: 'GET /repos/{owner}/{repo}/pulls/{pull_number}',
    parameters: { ...ownerAndName(repository), pull_number: number },
    schema: z.object({ head: z.object({ sha: z.string(), repo: z.object({ id: z.int() }).nullable() }) }),
  });
  if (pull.status !== 'ok') return pull;
  const { sha, repo } = pull.data.head;
  return { status: 'ok', data: repo === null ? null : { commit: sha, repositoryId: repo.id } };
}

const TokenAccount = z.object({ login: z.string(), id: z.int() });

const Viewer = z.object({ viewer: z.object({ login: z.string(), databaseId: z.int() }) });

/**
 * The token's account. REST refuses app tokens, so GraphQL is asked for those; null if that does not tell either. Throws
 * `GitHubRefused` without an answer.
 */
export async function ownAccount(github: GitHub): Promise<z.infer<typeof TokenAccount> | null> {
  const me = await github.ask({ route: 'GET /user', schema: TokenAccount });
  if (me.status === 'ok') return me.data;
  const { status, message } = me.refusal;
  // Rate limits are 403 too, and say nothing about the token.
  if ((status !== 403 || /rate limit/i.test(message)) && status !== 404) throw new GitHubRefused(me.refusal);
  const query = 'query { viewer { login databaseId } }';
  const seen = await github.query({ query, variables: {}, schema: Viewer });
  if (seen.status !== 'ok') return null;
  const { login, databaseId } = seen.data.viewer;
  return { login: login.endsWith('[bot]') ? login : `${login}[bot]`, id: databaseId };
}
