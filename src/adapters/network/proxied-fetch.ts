/** The HTTP client that knows proxies. Loaded only where there is one: it is larger than all the rest. */

import { fetch as ask, EnvHttpProxyAgent } from 'undici';
import { percentDecoded } from '../../domain/text/uri.ts';

/** `exceptions` is the value of NO_PROXY; hosts that `isDirect` names are asked directly besides. */
export interface ProxyUse {
  readonly proxy: URL;
  readonly exceptions: string;
  readonly isDirect: (hostname: string) => boolean;
}

/** A fetch that goes by the proxy for https. Plain HTTP is for servers near by and always goes directly. */
export function proxiedFetch({ proxy, exceptions, isDirect }: ProxyUse): typeof fetch {
  // Said in full, or the client would look into the environment itself, from which a password has been wiped by now.
  const agent = new EnvHttpProxyAgent({
    httpProxy: '',
    httpsProxy: proxy.origin,
    noProxy: exceptions.trim(),
    ...login(proxy),
  });
  const proxied = (input: string | URL, init?: object) =>
    isDirect(new URL(input).hostname)
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

/**
 * In the shape of a fetch that failed, with what the client says innermost, such as the proxy's own status. The proxy is named
 * besides: the client does not say which way it went.
 */
function failure(error: Error, { host }: URL): TypeError {
  let inner = error;
  while (inner.cause instanceof Error) inner = inner.cause;
  return new TypeError(error.message, { cause: new Error(`${inner.message} (HTTPS_PROXY is ${host})`) });
}
