/** Who may do what in a repository, and whose code a pull request is. */

import * as z from 'zod';
import type { HeadCommit } from '../../domain/github/event.ts';
import { type Account, GitHubUser } from '../../domain/github/untrusted-text.ts';
import type { GitHub, GitHubAnswer } from '../../ports.ts';
import { ownerAndName } from './owner-and-name.ts';

/**
 * `admin`, `write`, `read` or `none`; higher and lower roles are among them. `user` is whom the login names today; null
 * for one who is no more. Takes a token that may read the repository's metadata.
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

/** The account of a login, bots included. */
export function askAccount(github: GitHub, login: string): Promise<GitHubAnswer<Account>> {
  return github.ask({
    route: 'GET /users/{username}',
    parameters: { username: login },
    schema: GitHubUser,
  });
}

/** The head of a pull request as it is now; null when its repository is gone. */
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
