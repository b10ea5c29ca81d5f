/** The user name and password in a proxy's address. */

import { percentDecoded } from '../../domain/text/uri.ts';

/** The value of `Proxy-Authorization`; null if the address has no login. */
export function loginFor({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const words = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(words).toString('base64')}`;
}
