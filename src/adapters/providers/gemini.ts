/**
 * Gemini through its own API. Requests use fetch: the vendor's client is 742 KB of code for a single kind of request
 * (decision 027).
 */

import { bytesBeyondTokens } from '../../domain/images/shown.ts';
import { redactorFor } from '../../domain/secrets/redact.ts';
import { withoutTail } from '../../domain/text/shorten.ts';
import type { LlmProvider } from '../../ports.ts';
import { attemptParts } from './asking/attempt-parts.ts';
import { withBoundedRefusals } from './asking/bounded-refusals.ts';
import { checkedKey, type EndpointOptions, parseEndpoint } from './asking/endpoint.ts';
import { askPatiently } from './asking/patience.ts';
import { attemptStream } from './asking/stream-attempt.ts';
import { GeminiReader } from './gemini/answer.ts';
import { geminiFailure } from './gemini/failures.ts';
import { geminiCallIds, geminiRequest } from './gemini/request.ts';

const GEMINI_API = 'https://generativelanguage.googleapis.com';

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createGeminiProvider(options: EndpointOptions): LlmProvider {
  const url = parseEndpoint(options.baseUrl ?? GEMINI_API, options.allowInsecureBaseUrl ?? false);
  const model = options.model.replace(/^models\//, '');
  url.pathname = `${withoutTail(url.pathname, '/')}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent`;
  url.search = 'alt=sse';
  const key = checkedKey(options.apiKey, 'GEMINI_API_KEY');
  const redact = redactorFor([key]);
  const ask = withBoundedRefusals(options.fetch ?? fetch);
  return {
    name: 'gemini',
    model: options.model,
    complete: (request) => {
      const { conversation } = request;
      const attempt = {
        url: url.href,
        headers: { 'x-goog-api-key': key },
        ask,
        ...attemptParts(options, request, redact),
        failureOf: geminiFailure,
      };
      const asked = {
        patience: options,
        redact,
        where: `model ${options.model} at ${url.host}`,
        attempt: (maxTokens: number) =>
          attemptStream(
            attempt,
            geminiRequest(options, conversation, maxTokens),
            (bytes) => new GeminiReader(bytes - bytesBeyondTokens(conversation), geminiCallIds(conversation)),
          ),
      };
      return askPatiently(asked, request);
    },
  };
}
