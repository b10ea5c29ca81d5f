/** The HTTP client with proxy support. Loaded only if there is a proxy: it is larger than everything else. */

import { fetch as ask, EnvHttpProxyAgent } from 'undici';
import { innermostMessage } from '../../domain/errors/innermost-message.ts';

/** `exceptions` is the value of NO_PROXY; hosts for which `isDirect` is true are also reached directly. */
export interface ProxyUse {
  readonly proxy: URL;
  /** The value of `Proxy-Authorization`; null for none. */
  readonly login: string | null;
  /** The variable that names it, which says what kind of address it is for. */
  readonly variable: 'HTTP_PROXY' | 'HTTPS_PROXY';
  readonly exceptions: string;
  readonly isDirect: (hostname: string) => boolean;
}

/** A fetch that uses the proxy for addresses of its kind, and connects directly to others. */
export function proxiedFetch({ proxy, login, variable, exceptions, isDirect }: ProxyUse): typeof fetch {
  const isPlain = variable === 'HTTP_PROXY';
  // Stated in full, or the client would read the environment, from which a password has been wiped by now.
  const agent = new EnvHttpProxyAgent({
    httpProxy: isPlain ? proxy.origin : '',
    httpsProxy: isPlain ? '' : proxy.origin,
    // A proxy for plain HTTP gets the requests themselves; many refuse tunnels to such addresses.
    proxyTunnel: !isPlain,
    noProxy: exceptions.trim(),
    // The client itself drops a user without a password.
    ...(login === null ? {} : { token: login }),
  });
  const proxied = (input: string | URL, init?: object) =>
    isDirect(new URL(input).hostname)
      ? ask(input, init)
      : ask(input, { ...init, dispatcher: agent }).catch((error: unknown) => {
          throw error instanceof TypeError ? failure(error, variable, proxy) : error;
        });
  // The types of the package and of the platform's copy of it differ only in name.
  return proxied as unknown as typeof fetch;
}

/**
 * In the form of a failed fetch, with the client's message innermost, such as the proxy's own status. The proxy is named
 * too, since the client does not say which route it took.
 */
function failure(error: Error, variable: string, { host }: URL): TypeError {
  const cause = new Error(`${innermostMessage(error)} (${variable} is ${host})`);
  return new TypeError(error.message, { cause });
}
