/** A fetch for servers that may send an endless error. */

import { startOfText } from '../../../files/read-bytes.ts';

/** An error of the API has a few hundred bytes; anything longer from a proxy is no help. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Bodies of error responses are cut off after 64 KiB, decompressed; all others are passed through. */
export function withBoundedRefusals(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init);
    if (response.ok || response.body === null) return response;
    const text = (): Promise<string> => startOfText(response.body, MAX_REFUSAL_BYTES);
    return Object.defineProperty(response, 'text', { value: text });
  };
}
