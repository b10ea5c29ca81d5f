/** A fetch for servers that may send an endless error. */

/** An error of the API has a few hundred bytes; anything longer from a proxy is no help. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Bodies of error responses are cut off after 64 KiB, decompressed; all others are passed through. */
export function withBoundedRefusals(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init);
    if (response.ok || response.body === null) return response;
    const text = (): Promise<string> => beginningOf(response.body);
    return Object.defineProperty(response, 'text', { value: text });
  };
}

async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the transfer.
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES).toString('utf8');
}
