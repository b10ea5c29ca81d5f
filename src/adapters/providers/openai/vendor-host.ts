/** Whose host an address names. */

/** OpenAI's own hosts, and Azure's: nothing is answered there without a key. */
export function isVendorHost(hostname: string): boolean {
  return /(^|\.)(openai\.com|azure\.com)$/.test(hostname);
}
