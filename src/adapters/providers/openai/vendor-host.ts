/** Whose host an address names. */

/** OpenAI's own hosts, and Azure's: nothing is answered there without a key. */
export function isVendorHost(hostname: string): boolean {
  return /(^|\.)openai\.com$/.test(hostname) || isAzureHost(hostname);
}

/** Azure's, whose keys are others than OpenAI's. */
export function isAzureHost(hostname: string): boolean {
  return /(^|\.)azure\.com$/.test(hostname);
}
