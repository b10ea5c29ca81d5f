/** Where requests go, and with which key. */

import { ProviderSettingsError } from '../settings-error.ts';

/** Throws ProviderSettingsError for an address that a key must not be sent to. A query has to fit `query`. */
export function parseEndpoint(baseUrl: string, mayBePlain: boolean, query = /^$/): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ProviderSettingsError('The base URL of the API is not an http(s) URL.');
  }
  if (url.username !== '' || url.password !== '' || !query.test(url.search) || url.hash !== '') {
    throw new ProviderSettingsError(
      `The base URL of the API (host ${url.host}) may have a path, but no user, password, query or fragment.`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !mayBePlain) {
    throw new ProviderSettingsError(
      `The base URL of the API (host ${url.host}) must use https: over plain http the key could be read on the way.`,
    );
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** A header only allows visible ASCII, and an exception about it would contain the key. */
export function checkedKey(apiKey: string | null, variable: string): string {
  if (!apiKey) throw new ProviderSettingsError(`There is no API key. Set ${variable}.`);
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ProviderSettingsError(
      `The API key contains spaces, line breaks or other characters that a key cannot have. Check ${variable}.`,
    );
  }
  return apiKey;
}
