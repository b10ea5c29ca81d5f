/** Repositories on GitHub: reads and writes whose refusal ends the current work, and dry runs. */

import * as z from 'zod';
import type { GitHub, GitHubAnswer, GitHubRefusal, GitHubRequest } from '../../ports/github.ts';

/** The id of a git object on GitHub, which only supports SHA-1. */
export const GitHubObjectId = z.string().regex(/^[0-9a-f]{40}$/);

/** GitHub refuses or does not answer. Caught where a publication ends. */
export class GitHubRefused extends Error {
  readonly refusal: GitHubRefusal;

  constructor(refusal: GitHubRefusal) {
    super(`${refusal.route}: ${refusal.message}`);
    this.refusal = refusal;
  }

  /** Whether it is unknown if the request was carried out. */
  get isOutage(): boolean {
    return this.refusal.status === null || this.refusal.status >= 500;
  }
}

/** Fills the braces of a path; the rest becomes the query of a GET, otherwise the body. */
type Parameters = Readonly<Record<string, unknown>>;

/**
 * A repository together with the means to ask about it. Paths such as `/pulls` begin below it. Everything throws `GitHubRefused`
 * unless it says otherwise.
 */
export class OnGitHub {
  readonly github: GitHub;
  readonly owner: string;
  readonly repo: string;

  /** `repository` is OWNER/NAME. */
  constructor(github: GitHub, repository: string) {
    const [owner = '', repo = ''] = repository.split('/');
    this.github = github;
    this.owner = owner;
    this.repo = repo;
  }

  /** What is there. */
  get<T>(path: string, schema: z.ZodType<T>, parameters: Parameters = {}): Promise<T> {
    return this.#ask({ route: `GET ${path}`, schema, parameters });
  }

  /** The same; null if there is no such thing, or not any more. */
  find<T>(path: string, schema: z.ZodType<T>, parameters: Parameters = {}): Promise<T | null> {
    return orNull(this.get(path, schema, parameters));
  }

  /** All entries of a list. More than 10,000 are refused. */
  list<T>(path: string, entry: z.ZodType<T>, parameters: Parameters = {}): Promise<T[]> {
    const { owner, repo } = this;
    const route = `GET /repos/{owner}/{repo}${path}`;
    return this.github.list({ route, parameters: { owner, repo, ...parameters }, entry });
  }

  /** The answer to `POST /pulls` and the like. */
  write<T>(
    route: string,
    parameters: Parameters,
    more: Pick<GitHubRequest<T>, 'schema' | 'planned' | 'isRepeatable'> = {},
  ): Promise<T> {
    return this.#ask({ route, parameters, ...more });
  }

  /** Does nothing if it is gone already. */
  async remove(path: string, parameters: Parameters): Promise<void> {
    await orNull(this.#ask({ route: `DELETE ${path}`, parameters }));
  }

  #ask<T>({ route, parameters, ...request }: GitHubRequest<T>): Promise<T> {
    const { owner, repo } = this;
    return this.github.ask({
      ...request,
      route: route.replace(' ', ' /repos/{owner}/{repo}'),
      parameters: { owner, repo, ...parameters },
    });
  }
}

/** A refusal as a value, for those who can do without the answer, or have more to say. */
export async function answerOf<T>(asked: Promise<T>): Promise<GitHubAnswer<T>> {
  try {
    return { status: 'ok', data: await asked };
  } catch (error) {
    if (error instanceof GitHubRefused) return { status: 'refused', refusal: error.refusal };
    throw error;
  }
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  const answer = await answerOf(asked);
  if (answer.status === 'ok') return answer.data;
  if ([404, 410].includes(answer.refusal.status ?? 0)) return null;
  throw new GitHubRefused(answer.refusal);
}

/**
 * Makes something that must not exist twice. Where it is unknown whether it was made, or the refusal may come from one that exists
 * already (`isTaken`), it is looked for before another try.
 */
export async function findOrMake<T>(
  make: () => Promise<T>,
  find: () => Promise<T | null>,
  isTaken: (refusal: GitHubRefusal) => boolean = () => false,
): Promise<{ thing: T; isNew: boolean }> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { thing: await make(), isNew: true };
    } catch (error) {
      if (!(error instanceof GitHubRefused)) throw error;
      const { isOutage, refusal } = error;
      if (!isOutage && !isTaken(refusal)) throw error;
      const thing = await find();
      if (thing !== null) return { thing, isNew: isOutage };
      if (!isOutage || tries === 3) throw error;
    }
  }
}

/** The same for what an earlier publication may have made. */
export async function findElseMake<T>(
  find: () => Promise<T | null>,
  make: () => Promise<T>,
): Promise<{ thing: T; isNew: boolean }> {
  const thing = await find();
  return thing === null ? findOrMake(make, find) : { thing, isNew: false };
}

/** A GitHub that is only read from: `tell` is called for each write with one line, of method, path and body. */
export function dryRun(github: GitHub, tell: (line: string) => void): GitHub {
  return {
    ...github,
    async ask(request) {
      const { route, parameters = {}, schema, planned } = request;
      if (route.startsWith('GET ')) return github.ask(request);
      if (schema !== undefined && planned === undefined)
        throw new Error(`${route} does not say what it plans.`);
      const body: Record<string, unknown> = { ...parameters };
      const path = route.replace(/\{(\w+)\}/g, (_, name: string) => {
        delete body[name];
        return encodeURIComponent(String(parameters[name]));
      });
      tell(Object.keys(body).length === 0 ? path : `${path} ${JSON.stringify(body)}`);
      return planned as never;
    },
    async query(asked) {
      const { query, variables, planned } = asked;
      if (query.startsWith('query ')) return github.query(asked);
      if (planned === undefined) throw new Error(`${query} does not say what it plans.`);
      tell(`POST /graphql ${JSON.stringify({ query, variables })}`);
      return planned;
    },
  };
}
