/** A fetch for servers that may send an endless error. */

import { startOfText } from '../../../files/read-bytes.ts';

/** An API error has a few hundred bytes; anything longer comes from a proxy and does not help. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Cuts bodies of error responses off after 64 KiB, decompressed; passes all others through. */
export function withBoundedRefusals(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init);
    if (response.ok || response.body === null) return response;
    const text = (): Promise<string> => startOfText(response.body, MAX_REFUSAL_BYTES);
    return Object.defineProperty(response, 'text', { value: text });
  };
}
