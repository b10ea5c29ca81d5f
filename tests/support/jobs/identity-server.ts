import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The endpoint at which a runner gives a job tokens that say who it is. */
export interface IdentityServer {
  /** What a job with `id-token: write` finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Every token given, with its audience. */
  readonly given: readonly { token: string; audience: string }[];
  /** Resolves when it has been asked. */
  readonly asked: Promise<void>;
  close(): Promise<void>;
}

const REQUEST_TOKEN = 'request-token-of-this-job-0123456789';

/** `status` is what it answers with in place of tokens; with `silent` it never answers. */
export async function startIdentityServer(status: number | 'silent' = 200): Promise<IdentityServer> {
  const given: { token: string; audience: string }[] = [];
  const arrival = new EventEmitter();
  const asked = once(arrival, 'request').then(() => undefined);
  const server = createServer((request, response) => {
    arrival.emit('request');
    if (status === 'silent') return;
    const url = new URL(request.url ?? '', 'http://127.0.0.1');
    const allowed =
      request.headers.authorization === `Bearer ${REQUEST_TOKEN}` &&
      url.searchParams.get('api-version') === '2.0';
    if (!allowed || status !== 200) {
      response.writeHead(allowed ? status : 401).end();
      return;
    }
    const audience = url.searchParams.get('audience') ?? 'https://github.com/owner';
    const token = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from(JSON.stringify({ aud: audience, n: given.length })).toString('base64url')}.c2lnbmF0dXJl`;
    given.push({ token, audience });
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ count: 1, value: token }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
    },
    given,
    asked,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
