/** A request that has passed the checks that are the same for all, and the answer to it. */

import type { SeenRequest } from './server.ts';
import type { Repository, Token, World } from './state/world.ts';

export interface Call {
  readonly world: World;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** `{}` when none was sent. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly accept: string;
  /** Null for anonymous requests. */
  readonly token: Token | null;
  /** The one that the path names. Throws where the path names none. */
  repository(): Repository;
  readonly seen: SeenRequest;
}

/** `body` undefined: none. A Buffer is sent as it is. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (call: Call) => Promise<Answer> | Answer;

/** One page of a list, with the `Link` header to the others. */
export function page(call: Call, items: readonly unknown[]): Answer {
  const size = Math.min(100, Math.max(1, Number(call.query.get('per_page') ?? 30)));
  const number = Math.max(1, Number(call.query.get('page') ?? 1));
  const last = Math.max(1, Math.ceil(items.length / size));
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(to));
    return `<${call.world.apiUrl}${call.seen.path}?${query}>; rel="${rel}"`;
  };
  const links = [
    ...(number > 1 ? [link(number - 1, 'prev')] : []),
    ...(number < last ? [link(number + 1, 'next'), link(last, 'last')] : []),
    ...(number > 1 ? [link(1, 'first')] : []),
  ];
  return {
    status: 200,
    body: items.slice((number - 1) * size, number * size),
    headers: links.length > 0 ? { link: links.join(', ') } : {},
  };
}
