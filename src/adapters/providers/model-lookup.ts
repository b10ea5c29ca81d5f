/** Checks whether an API accepts a key and has a model, with a request that uses no tokens. Does not read the answer's text. */

import { withoutTail } from '../../domain/text/shorten.ts';
import { checkedKey, ProviderSettingsError, parseEndpoint } from './asking/endpoint.ts';

/** What to look up, and where. */
export interface ModelQuestion {
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
  /** The folder of the models, below the base URL, whose path may end with an API's path. */
  folder(base: string): string;
  headers(key: string): Record<string, string>;
}

const LOOKUPS: Readonly<Record<string, Lookup>> = {
  anthropic: {
    vendor: 'https://api.anthropic.com',
    variable: 'ANTHROPIC_API_KEY',
    folder: (base) => `${base}/v1/models`,
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: {
    vendor: 'https://api.openai.com/v1',
    variable: 'OPENAI_API_KEY',
    folder: (base) => `${base.replace(/\/(?:responses|chat\/completions)$/, '')}/models`,
    headers: (key) => ({ authorization: `Bearer ${key}` }),
  },
  gemini: {
    vendor: 'https://generativelanguage.googleapis.com',
    variable: 'GEMINI_API_KEY',
    folder: (base) => `${base}/v1beta/models`,
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
};

/** One request, without retries. */
export async function lookUpModel(question: ModelQuestion): Promise<ModelFound> {
  const { provider, model, key, baseUrl, allowInsecure, fetch: ask, signal } = question;
  const lookup = Object.hasOwn(LOOKUPS, provider) ? LOOKUPS[provider] : undefined;
  // Azure has deployments instead of models.
  if (lookup === undefined || baseUrl?.includes('?')) return { status: 'not asked' };
  const { host } = new URL(baseUrl ?? lookup.vendor);
  const refused = (said: string, fix: string | null = null): ModelFound => ({ status: 'refused', said, fix });
  try {
    const url = parseEndpoint(baseUrl ?? lookup.vendor, allowInsecure);
    const name = encodeURIComponent(model.replace(/^models\//, ''));
    url.pathname = `${lookup.folder(withoutTail(url.pathname, '/'))}/${name}`;
    const headers = key === null ? {} : lookup.headers(checkedKey(key, lookup.variable));
    const response = await ask(url, { headers, redirect: 'manual', signal });
    await response.body?.cancel();
    const { status } = response;
    // Gemini answers 400 to an unknown key.
    if ([400, 401, 403].includes(status))
      return refused(
        `${host} does not take the key (status ${status})`,
        'set another key, or ask its administrator what it may do',
      );
    if (status === 404 && baseUrl === null)
      return refused(`${host} has no model ${model}`, 'name another one with --model');
    if (response.ok) return { status: 'known', host };
    return { status: 'unclear', said: `${host} did not say whether it has ${model} (status ${status})` };
  } catch (error) {
    if (error instanceof ProviderSettingsError) return refused(error.message);
    if (signal.aborted) return { status: 'unclear', said: `no answer in time from ${host}` };
    // What fetch throws for a connection that failed.
    if (!(error instanceof TypeError)) throw error;
    return refused(`${host} cannot be reached${causeOf(error)}`);
  }
}

/** The system's name for it; messages could repeat what was sent. */
function causeOf({ cause }: TypeError): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /^[A-Z_0-9]+$/.test(code) ? `: ${code}` : '';
}
