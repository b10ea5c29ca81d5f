/** What goes wrong on purpose, and which requests it hits. */

import type { SeenRequest } from './server.ts';

/** Which requests are meant; a field that is left out fits all. */
export interface Matcher {
  readonly method?: string;
  /** As GitHub's description names it (`git/create-ref`), or `git-http/upload-pack`, `git-http/receive-pack`. */
  readonly operation?: string;
  readonly path?: RegExp;
}

export type Trouble =
  /** `rawBody` is sent instead of GitHub's JSON. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly rawBody?: string;
      /** Further fields of the body, such as `errors`. */
      readonly more?: Readonly<Record<string, unknown>>;
    }
  /** The connection is reset before any answer. */
  | { readonly kind: 'reset' }
  /** Nothing comes, and the connection stays open. */
  | { readonly kind: 'stall' }
  /** The answer comes this much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The hourly limit is used up. */
  | { readonly kind: 'primary-limit'; readonly status: 403 | 429; readonly resetInSeconds: number }
  /** Too fast for GitHub's taste; `retryAfterSeconds` null: it does not say how long. */
  | {
      readonly kind: 'secondary-limit';
      readonly status: 403 | 429;
      readonly retryAfterSeconds: number | null;
    };

export interface Fault {
  /** Default: every request. */
  readonly on?: Matcher;
  /** The first request that is hit, counted from 1 among those that fit since the fault was added. Default: 1. */
  readonly nth?: number;
  /** How many are hit from then on. Default: 1. */
  readonly times?: number;
  /** The request is carried out all the same, and only its answer is spoiled. Default: no. */
  readonly carriedOut?: boolean;
  readonly trouble: Trouble;
}

export class Faults {
  readonly #planned: { readonly fault: Fault; seen: number }[] = [];

  add(fault: Fault): void {
    this.#planned.push({ fault, seen: 0 });
  }

  clear(): void {
    this.#planned.length = 0;
  }

  /** Counts the request; the first fault that hits it, else null. */
  hitting(request: SeenRequest): Fault | null {
    const hits = this.#planned.filter((planned) => {
      const { on = {}, nth = 1, times = 1 } = planned.fault;
      if (!fits(on, request)) return false;
      planned.seen += 1;
      return planned.seen >= nth && planned.seen < nth + times;
    });
    return hits[0]?.fault ?? null;
  }
}

export function fits({ method, operation, path }: Matcher, request: SeenRequest): boolean {
  if (method !== undefined && method !== request.method) return false;
  if (operation !== undefined && operation !== request.operation) return false;
  return path === undefined || path.test(request.path);
}

/** Status, headers and body of the troubles that are answers. */
export function troubleAnswer(
  trouble: Extract<Trouble, { kind: 'status' | 'primary-limit' | 'secondary-limit' }>,
  nowMs: number,
): { status: number; headers: Record<string, string>; body: string } {
  const json = (message: string, headers: Record<string, string>, more: object = {}) => ({
    status: trouble.status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({
      message,
      ...more,
      documentation_url: 'https://docs.github.com/rest',
      status: String(trouble.status),
    }),
  });
  switch (trouble.kind) {
    case 'status':
      if (trouble.rawBody === undefined)
        return json(
          trouble.message ?? MESSAGES[trouble.status] ?? 'Injected',
          { ...trouble.headers },
          trouble.more,
        );
      return {
        status: trouble.status,
        headers: { 'content-type': 'text/html', ...trouble.headers },
        body: trouble.rawBody,
      };
    case 'primary-limit': {
      const reset = Math.ceil(nowMs / 1000) + trouble.resetInSeconds;
      return json('API rate limit exceeded for installation ID 4711.', {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(reset),
      });
    }
    case 'secondary-limit':
      return json(
        'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
        trouble.retryAfterSeconds === null ? {} : { 'retry-after': String(trouble.retryAfterSeconds) },
      );
  }
}

const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Bad credentials',
  403: 'Resource not accessible by integration',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Validation Failed',
  500: 'Server Error',
  502: 'Server Error',
  503: 'Service Unavailable',
};
