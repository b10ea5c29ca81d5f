/** Questions whose refusal ends what is under way, and lists that come in pages. */

import * as z from 'zod';
import type { GitHub, GitHubRefusal, GitHubRequest } from '../../ports.ts';

/** A repository with the way to ask about it. */
export interface OnGitHub {
  readonly github: GitHub;
  readonly owner: string;
  readonly repo: string;
}

/** GitHub says no, or nothing. Caught where a publication ends. */
export class GitHubRefused extends Error {
  readonly refusal: GitHubRefusal;

  constructor(refusal: GitHubRefusal) {
    super(`${refusal.route}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

/** The answer. Throws `GitHubRefused` when there is none. */
export async function getOrThrow<T>(
  { github, owner, repo }: OnGitHub,
  request: GitHubRequest<T>,
): Promise<T> {
  const answer = await github.ask({ ...request, parameters: { owner, repo, ...request.parameters } });
  if (answer.status === 'refused') throw new GitHubRefused(answer.refusal);
  return answer.data;
}

/** The answer; null when there is no such thing. Throws `GitHubRefused` on any other refusal. */
export async function getOrNull<T>(
  { github, owner, repo }: OnGitHub,
  request: GitHubRequest<T>,
): Promise<T | null> {
  const answer = await github.ask({ ...request, parameters: { owner, repo, ...request.parameters } });
  if (answer.status === 'ok') return answer.data;
  if (answer.refusal.status === 404) return null;
  throw new GitHubRefused(answer.refusal);
}

const PAGE = 100;

/** Entries beyond this are not looked at. */
const MAX_PAGES = 30;

/** All entries of a list. Throws `GitHubRefused` when there is no answer. */
export async function paginate<T>(
  where: OnGitHub,
  { route, parameters, entry }: { route: string; parameters?: Record<string, unknown>; entry: z.ZodType<T> },
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const part = await getOrThrow(where, {
      route,
      parameters: { ...parameters, per_page: PAGE, page },
      schema: z.array(entry),
    });
    all.push(...part);
    if (part.length < PAGE) break;
  }
  return all;
}
