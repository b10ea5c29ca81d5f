/** GitHub's API. Types only. */

import type * as z from 'zod';

/** GitHub's API with one token. It does its own retries and rate limiting; callers must not. All of it throws `GitHubRefused`. */
export interface GitHub {
  ask<T>(request: GitHubRequest<T>): Promise<T>;
  /** All entries of a list, page by page; one with more than 10,000 is refused. */
  list<T>(
    list: Pick<GitHubRequest<T>, 'route' | 'parameters'> & { readonly entry: z.ZodType<T> },
  ): Promise<T[]>;
  /** Sends GraphQL, for what REST cannot do; during outages more than once. */
  query<T>(query: GitHubQuery<T>): Promise<T>;
}

/** A GraphQL query or mutation. */
export interface GitHubQuery<T> {
  /** `query …` or `mutation …`. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The fields needed from the answer's `data`. */
  readonly schema: z.ZodType<T>;
  /** For a mutation: the answer that a dry run assumes. */
  readonly planned?: T;
}

/** A request to the REST API. */
export interface GitHubRequest<T> {
  /** Method and path, such as `GET /repos/{owner}/{repo}`. */
  readonly route: string;
  /** Fills the braces of the route; the rest becomes the query of a GET, otherwise the body. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The fields needed from the answer. Default: none. */
  readonly schema?: z.ZodType<T>;
  /** Whether it may be sent again if it is unknown whether it arrived. Default: all but a POST. */
  readonly isRepeatable?: boolean;
  /** For a write whose answer is needed: the one that a dry run assumes. */
  readonly planned?: T;
}

/** GitHub's answer, or its refusal as a value. */
export type GitHubAnswer<T> = { status: 'ok'; data: T } | { status: 'refused'; refusal: GitHubRefusal };

/** `status` is null when there was no usable answer; `permission` is what GitHub says the token lacks. */
export interface GitHubRefusal {
  readonly route: string;
  readonly status: number | null;
  readonly message: string;
  readonly permission: string | null;
  readonly requestId: string | null;
}

/** The author of a commit. */
export interface Person {
  readonly name: string;
  readonly email: string;
}
