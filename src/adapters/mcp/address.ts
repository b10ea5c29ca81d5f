/** A server reached over HTTP: the runner's own connection, with bounds on what it accepts. */

import { setTimeout } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type GivenUp, MAX_MESSAGE_BYTES, withBoundedAnswers } from './bounds.ts';

/** Where a server is, and how to get there. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Knows the machine's proxy. */
  readonly fetch: typeof fetch;
}

/** The transport, and what is known of its end. */
export type AddressTransport = StreamableHTTPClientTransport & GivenUp;

/**
 * Minimum time between two listening streams: a server chooses how soon the next one is opened, and may choose no
 * wait at all.
 */
const BETWEEN_STREAMS_MS = 1_000;

/** Redirects are followed within the origin only, so that headers go nowhere else. */
export function addressTransport({ url, headers, fetch }: ServerAddress): AddressTransport {
  let why: string | null = null;
  let listensFrom = Number.NEGATIVE_INFINITY;
  const giveUp = (reason: string) => {
    why ??= reason;
    void transport.close();
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin',
    fetch: async (input, init) => {
      if (init?.method === 'GET') {
        const wait = listensFrom + BETWEEN_STREAMS_MS - performance.now();
        listensFrom = performance.now() + Math.max(0, wait);
        if (wait > 0)
          await setTimeout(wait, undefined, { ref: false, ...(init.signal ? { signal: init.signal } : {}) });
      }
      return bounded(await fetch(input, init), giveUp);
    },
  });
  return withBoundedAnswers(Object.assign(transport, { whyGone: () => why, giveUp }));
}

/** The same answer with a body that breaks off at the limit for one message. */
function bounded(answer: Response, giveUp: (why: string) => void): Response {
  if (answer.body === null) return answer;
  let size = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk);
      controller.terminate();
      giveUp(`it sent more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB in one answer`);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}
