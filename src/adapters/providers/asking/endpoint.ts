/** Where requests go, and with which key. */

import type { Environment } from '../../../domain/environment.ts';
import type { ModelSettings } from '../../../domain/run/model-settings.ts';
import type { Federation } from '../../../ports/network.ts';
import type { Patience } from './patience.ts';

/** What is part of every request, and must not change within a run. */
export type AskingSettings = Pick<ModelSettings, 'effort'> & { readonly model: string };

/** How to reach an API over HTTP, with which key, and how long to wait for it. */
export interface EndpointOptions extends Patience, AskingSettings {
  /** Null for an endpoint that needs none. */
  readonly apiKey: string | null;
  /** Default: the vendor's API. */
  readonly baseUrl?: string;
  /** Whether plain http to another host is allowed. */
  readonly allowInsecureBaseUrl?: boolean;
  /** Used to reach it. Default: the platform's own fetch. */
  readonly fetch?: typeof fetch;
  /** Longest silence before and during an answer; default 120 s. */
  readonly idleTimeoutMs?: number;
  /** A login instead of a key. */
  readonly federation?: Federation;
  /**
   * Has the variables of a cloud, which its client cannot look up itself: secrets have been removed from the environment of the
   * process.
   */
  readonly env?: Environment;
}

/** A provider cannot be created from the given settings; the message says which one is wrong and how to fix it. */
export class ProviderSettingsError extends Error {
  override readonly name = 'ProviderSettingsError';
}

/** Throws ProviderSettingsError for an address to which a key must not be sent. A query has to match `query`. */
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

/** OpenAI's own hosts and Azure's, which answer nothing without a key. */
export function isVendorHost(hostname: string): boolean {
  return /(^|\.)openai\.com$/.test(hostname) || isAzureHost(hostname);
}

/** Azure's hosts, which have different keys than OpenAI. */
export function isAzureHost(hostname: string): boolean {
  return /(^|\.)azure\.com$/.test(hostname);
}
