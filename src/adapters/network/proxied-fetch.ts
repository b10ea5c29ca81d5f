/** The HTTP client that knows proxies. Loaded only where there is one: it is larger than all the rest. */

import { fetch as ask, ProxyAgent } from 'undici';
import { percentDecoded } from '../../domain/text/uri.ts';

/** Goes by this proxy wherever `isDirect` does not say otherwise. */
export function proxiedFetch(proxy: URL, isDirect: (address: URL) => boolean): typeof fetch {
  const agent = new ProxyAgent({ uri: proxy.origin, ...login(proxy) });
  const proxied = (input: string | URL, init?: object) =>
    isDirect(new URL(input))
      ? ask(input, init)
      : ask(input, { ...init, dispatcher: agent }).catch((error: unknown) => {
          throw error instanceof TypeError ? failure(error, proxy) : error;
        });
  // The types of the package and of the platform's own copy of it are told apart by their names only.
  return proxied as unknown as typeof fetch;
}

/** The client itself leaves out a user without a password. */
function login({ username, password }: URL): { token?: string } {
  if (username === '' && password === '') return {};
  const words = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return { token: `Basic ${Buffer.from(words).toString('base64')}` };
}

/** In the shape of a fetch that failed, with what the client says innermost, such as the proxy's own status. */
function failure(error: Error, { host }: URL): TypeError {
  let inner = error;
  while (inner.cause instanceof Error) inner = inner.cause;
  return new TypeError(error.message, { cause: new Error(`${inner.message}, by way of the proxy ${host}`) });
}
