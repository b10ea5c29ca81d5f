/**
 * Gemini through its own API. Requests use fetch: the vendor's client is 742 KB of code for a single kind of request
 * (decision 027).
 */

import { redactorFor } from '../../domain/secrets/redact.ts';
import { withoutTail } from '../../domain/text/shorten.ts';
import { checkedKey, type EndpointOptions, parseEndpoint } from './asking/endpoint.ts';
import type { RefusalTable } from './asking/failures.ts';
import { type NamelessProvider, posting, providerOf } from './asking/provider.ts';
import { withBoundedRefusals } from './asking/stream.ts';
import { GeminiReader } from './gemini/answer.ts';
import { geminiRequest } from './gemini/request.ts';

const GEMINI_API = 'https://generativelanguage.googleapis.com';

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createGeminiProvider(options: EndpointOptions): NamelessProvider {
  const url = parseEndpoint(options.baseUrl ?? GEMINI_API, options.allowInsecureBaseUrl ?? false);
  const model = options.model.replace(/^models\//, '');
  url.pathname = `${withoutTail(url.pathname, '/')}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent`;
  url.search = 'alt=sse';
  const key = checkedKey(options.apiKey, 'GEMINI_API_KEY');
  const access = {
    host: url.host,
    redact: redactorFor([key]),
    send: posting(withBoundedRefusals(options.fetch ?? fetch), url, { 'x-goog-api-key': key }),
  };
  return providerOf(options, access, {
    table: GEMINI_REFUSALS,
    body: ({ conversation }, maxTokens) => geminiRequest(options, conversation, maxTokens),
    reader: ({ conversation }, count) => new GeminiReader(conversation, count),
  });
}

/** A wrong key and a prompt that is too long are plain INVALID_ARGUMENT errors. */
const among = ['invalid_request'] as const;

const GEMINI_REFUSALS: RefusalTable = {
  advice: {
    authentication: 'Check that GEMINI_API_KEY is a valid key of the Gemini API.',
    billing: 'Set up billing for the project of the key in Google AI Studio.',
    permission: 'Use a key whose project may use this model, from a region where the API is offered.',
    rate_limit: 'Run fewer jobs at a time, or raise the quota of the project.',
  },
  names: {
    UNAUTHENTICATED: 'authentication',
    PERMISSION_DENIED: 'permission',
    NOT_FOUND: 'not_found',
    RESOURCE_EXHAUSTED: 'rate_limit',
    INVALID_ARGUMENT: 'invalid_request',
    FAILED_PRECONDITION: 'invalid_request',
    INTERNAL: 'outage',
    UNAVAILABLE: 'outage',
    DEADLINE_EXCEEDED: 'outage',
  },
  texts: [
    { says: /API key not valid|API key expired|API_KEY_INVALID/i, kind: 'authentication', among },
    { says: /exceeds the maximum number of tokens|input token count/i, kind: 'too_large', among },
    { says: /billing|prepay/i, kind: 'billing', among },
    { says: /location is not supported/i, kind: 'permission', among },
  ],
};
