/** Repositories on GitHub, requests whose refusal ends the current work, paginated lists, and dry runs. */

import * as z from 'zod';
import type { GitHub, GitHubAnswer, GitHubList, GitHubRefusal, GitHubRequest } from '../../ports/github.ts';

/** A repository together with the means to query it. */
export interface OnGitHub {
  readonly github: GitHub;
  readonly owner: string;
  readonly repo: string;
}

/** `repository` is OWNER/NAME. */
export function ownerAndName(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}

/** The id of a git object on GitHub, which only supports SHA-1. */
export const GitHubObjectId = z.string().regex(/^[0-9a-f]{40}$/);

/** GitHub refuses or does not answer. Caught where a publication ends. */
export class GitHubRefused extends Error {
  readonly refusal: GitHubRefusal;

  constructor(refusal: GitHubRefusal) {
    super(`${refusal.route}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

/** The answer. Throws `GitHubRefused` if the object does not exist. */
export async function getOrThrow<T>(
  { github, owner, repo }: OnGitHub,
  request: GitHubRequest<T>,
): Promise<T> {
  return dataOf(await github.ask({ ...request, parameters: { owner, repo, ...request.parameters } }));
}

/** The answer; null if no such thing exists any more. Throws `GitHubRefused` for any other refusal. */
export async function getOrNull<T>(
  { github, owner, repo }: OnGitHub,
  request: GitHubRequest<T>,
): Promise<T | null> {
  const answer = await github.ask({ ...request, parameters: { owner, repo, ...request.parameters } });
  if (answer.status === 'ok') return answer.data;
  if (answer.refusal.status === 404 || answer.refusal.status === 410) return null;
  throw new GitHubRefused(answer.refusal);
}

/** All entries of a list. Throws `GitHubRefused` when there is no answer, or there are more than 10,000. */
export async function paginate<T>({ github, owner, repo }: OnGitHub, list: GitHubList<T>): Promise<T[]> {
  return dataOf(await github.list({ ...list, parameters: { owner, repo, ...list.parameters } }));
}

function dataOf<T>(answer: GitHubAnswer<T>): T {
  if (answer.status === 'refused') throw new GitHubRefused(answer.refusal);
  return answer.data;
}

/** A GitHub that is only read from: `tell` is called for each write with one line, of method, path and body. */
export function dryRun(github: GitHub, tell: (line: string) => void): GitHub {
  return {
    ask(request) {
      const { route, parameters = {}, schema, planned } = request;
      if (route.startsWith('GET ')) return github.ask(request);
      if (schema !== undefined && planned === undefined)
        throw new Error(`${route} does not say what it plans.`);
      const inPath = new Set<string>();
      const path = route.replace(/\{(\w+)\}/g, (_, name: string) => {
        inPath.add(name);
        return encodeURIComponent(String(parameters[name]));
      });
      const body = Object.fromEntries(Object.entries(parameters).filter(([name]) => !inPath.has(name)));
      tell(Object.keys(body).length === 0 ? path : `${path} ${JSON.stringify(body, shortened)}`);
      return Promise.resolve({ status: 'ok', data: planned as never });
    },
    list: (asked) => github.list(asked),
    query(asked) {
      const { query, variables, planned } = asked;
      if (query.startsWith('query ')) return github.query(asked);
      if (planned === undefined) throw new Error(`${query} does not say what it plans.`);
      tell(`POST /graphql ${JSON.stringify({ query, variables })}`);
      return Promise.resolve({ status: 'ok', data: planned });
    },
  };
}

/** Maximum characters shown of a file. */
const MAX_SHOWN = 200;

/** Of a file's content only the beginning is shown; everything else is shown in full. */
function shortened(name: string, value: unknown): unknown {
  if (name !== 'content' || typeof value !== 'string' || value.length <= MAX_SHOWN) return value;
  return `${value.slice(0, MAX_SHOWN)}… (${value.length} characters)`;
}
