/** A server that is reached by HTTP: the runner's own connection, bounded in what it takes in. */

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { MAX_MESSAGE_BYTES } from './program.ts';

/** Where a server is, and how to get there. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Knows the machine's proxy. */
  readonly fetch: typeof fetch;
}

/** The transport, and why the connection was cut off, in words; null while it was not. */
export type AddressTransport = StreamableHTTPClientTransport & { whyGone(): string | null };

/** Redirects are followed within the origin only, so that headers go nowhere else. */
export function addressTransport({ url, headers, fetch }: ServerAddress): AddressTransport {
  let why: string | null = null;
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin',
    fetch: async (input, init) =>
      bounded(await fetch(input, init), () => {
        why = `it sent more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB in one answer`;
        void transport.close();
      }),
  });
  return Object.assign(transport, { whyGone: () => why });
}

/** The same answer, whose body breaks off after as many bytes as one message may have. */
function bounded(answer: Response, onExcess: () => void): Response {
  if (answer.body === null) return answer;
  let size = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk);
      controller.terminate();
      onExcess();
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}
