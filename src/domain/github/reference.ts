/** How people refer to an issue or a comment: by its number, or by the address of its page. */

import { withoutUsers } from '../text/uri.ts';

/** `repository` is OWNER/NAME. */
export interface IssueReference {
  readonly repository: string;
  readonly number: number;
}

/** A comment on an issue or pull request. */
export interface CommentReference {
  readonly repository: string;
  readonly id: number;
}

/** What names without an address refer to. `serverUrl` is GitHub's address for people. */
export interface Surroundings {
  readonly repository: string | null;
  readonly serverUrl: string;
}

/** `7`, `#7` or `https://github.com/OWNER/NAME/issues/7`. Returns a string to say what is wrong. */
export function issueReference(given: string, around: Surroundings): IssueReference | string {
  const short = /^#?([1-9]\d{0,9})$/.exec(given);
  if (short) return withRepository(around, (repository) => ({ repository, number: Number(short[1]) }));
  const page = pageOf(given, around);
  if (typeof page === 'string') return page;
  return { repository: page.repository, number: page.number };
}

/** `123456` or `https://github.com/OWNER/NAME/issues/7#issuecomment-123456`. Returns a string to say what is wrong. */
export function commentReference(given: string, around: Surroundings): CommentReference | string {
  const short = /^([1-9]\d{0,15})$/.exec(given);
  if (short) return withRepository(around, (repository) => ({ repository, id: Number(short[1]) }));
  const page = pageOf(given, around);
  if (typeof page === 'string') return page;
  const id = /^#issuecomment-([1-9]\d{0,15})$/.exec(page.hash)?.[1];
  if (id === undefined)
    return `${withoutUsers(JSON.stringify(given))} is not the address of a comment, which ends with #issuecomment- and a number`;
  return { repository: page.repository, id: Number(id) };
}

function withRepository<T>({ repository }: Surroundings, make: (repository: string) => T): T | string {
  return repository === null
    ? 'a number alone does not name a repository: give the address of the page, or set GITHUB_REPOSITORY'
    : make(repository);
}

function pageOf(
  given: string,
  { serverUrl }: Surroundings,
): { repository: string; number: number; hash: string } | string {
  const wrong = `${withoutUsers(JSON.stringify(given))} is neither a number nor an address such as ${serverUrl}/OWNER/NAME/issues/7`;
  if (!URL.canParse(given)) return wrong;
  const url = new URL(given);
  const server = new URL(serverUrl);
  if (url.origin !== server.origin) return wrong;
  const path = url.pathname.slice(server.pathname.replace(/\/$/, '').length);
  const match = /^\/([\w-]+\/[\w.-]+)\/(?:issues|pull)\/([1-9]\d{0,9})\/?$/.exec(path);
  if (match?.[1] === undefined) return wrong;
  return { repository: match[1], number: Number(match[2]), hash: url.hash };
}
