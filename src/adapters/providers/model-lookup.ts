/**
 * Checks whether an API accepts a key and has a model, with requests that use no tokens. Does not read the answer's
 * text.
 */

import { withoutTail } from '../../domain/text/shorten.ts';
import { checkedKey, parseEndpoint } from './asking/endpoint.ts';
import { ProviderSettingsError } from './settings-error.ts';

/** What to look up, and where. */
export interface ModelQuestion {
  /** As in `--provider`. */
  readonly provider: string;
  readonly model: string;
  /** Null for an endpoint that needs none. */
  readonly key: string | null;
  /** Null for the vendor's. */
  readonly baseUrl: string | null;
  readonly allowInsecure: boolean;
  readonly fetch: typeof fetch;
  /** Aborts the lookup. */
  readonly signal: AbortSignal;
}

/** `unclear`: it may be all right. `not asked`: the provider has no such request. */
export type ModelFound =
  | { status: 'known'; host: string }
  | { status: 'refused'; said: string; fix: string | null }
  | { status: 'unclear'; said: string }
  | { status: 'not asked' };

interface Lookup {
  readonly vendor: string;
  readonly variable: string;
  /** Below the base URL, whose path may end with an API's path. */
  path(base: string, model: string): string;
  headers(key: string): Record<string, string>;
}

const LOOKUPS: Readonly<Record<string, Lookup>> = {
  anthropic: {
    vendor: 'https://api.anthropic.com',
    variable: 'ANTHROPIC_API_KEY',
    path: (base, model) => `${base}/v1/models/${encodeURIComponent(model)}`,
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: {
    vendor: 'https://api.openai.com/v1',
    variable: 'OPENAI_API_KEY',
    path: (base, model) =>
      `${base.replace(/\/(?:responses|chat\/completions)$/, '')}/models/${encodeURIComponent(model)}`,
    headers: (key) => ({ authorization: `Bearer ${key}` }),
  },
  gemini: {
    vendor: 'https://generativelanguage.googleapis.com',
    variable: 'GEMINI_API_KEY',
    path: (base, model) => `${base}/v1beta/models/${encodeURIComponent(model.replace(/^models\//, ''))}`,
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
};

/** One request, without retries. */
export async function lookUpModel(question: ModelQuestion): Promise<ModelFound> {
  const { provider, model, key, baseUrl, allowInsecure, fetch: ask, signal } = question;
  const lookup = Object.hasOwn(LOOKUPS, provider) ? LOOKUPS[provider] : undefined;
  // Azure has deployments instead of models.
  if (lookup === undefined || baseUrl?.includes('?')) return { status: 'not asked' };
  try {
    const url = parseEndpoint(baseUrl ?? lookup.vendor, allowInsecure);
    url.pathname = lookup.path(withoutTail(url.pathname, '/'), model);
    const response = await ask(url, {
      headers: key === null ? {} : lookup.headers(checkedKey(key, lookup.variable)),
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return foundBy(response.status, { host: url.host, model, isVendor: baseUrl === null });
  } catch (error) {
    if (error instanceof ProviderSettingsError) return { status: 'refused', said: error.message, fix: null };
    if (signal.aborted)
      return { status: 'unclear', said: `no answer in time from ${hostOf(question, lookup)}` };
    // What fetch throws for a connection that failed.
    if (!(error instanceof TypeError)) throw error;
    return {
      status: 'refused',
      said: `${hostOf(question, lookup)} cannot be reached${causeOf(error)}`,
      fix: null,
    };
  }
}

function foundBy(
  status: number,
  { host, model, isVendor }: { host: string; model: string; isVendor: boolean },
): ModelFound {
  // Gemini answers 400 to an unknown key.
  if (status === 401 || status === 403 || status === 400)
    return {
      status: 'refused',
      said: `${host} does not take the key (status ${status})`,
      fix: 'set another key, or ask its administrator what it may do',
    };
  if (status === 404 && isVendor)
    return { status: 'refused', said: `${host} has no model ${model}`, fix: 'name another one with --model' };
  if (status >= 200 && status < 300) return { status: 'known', host };
  return {
    status: 'unclear',
    said: `${host} did not say whether it has ${model} (status ${status})`,
  };
}

function hostOf({ baseUrl }: ModelQuestion, { vendor }: Lookup): string {
  return new URL(baseUrl ?? vendor).host;
}

/** The system's name for it; messages could repeat what was sent. */
function causeOf({ cause }: TypeError): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /^[A-Z_0-9]+$/.test(code) ? `: ${code}` : '';
}
