/** Which vendor an address belongs to. */

/** OpenAI's own hosts and Azure's, which answer nothing without a key. */
export function isVendorHost(hostname: string): boolean {
  return /(^|\.)openai\.com$/.test(hostname) || isAzureHost(hostname);
}

/** Azure's hosts, which have different keys than OpenAI. */
export function isAzureHost(hostname: string): boolean {
  return /(^|\.)azure\.com$/.test(hostname);
}
