/**
 * OpenAI and every compatible endpoint. The end of the base URL selects one of the two APIs; otherwise it is the
 * Responses API at OpenAI's own address, and elsewhere Chat Completions, which all others have.
 *
 * Requests use fetch: the vendor's client loads every resource it knows, and only one request is needed here.
 */

import type { Conversation } from '../../domain/conversation/conversation.ts';
import { bytesBeyondTokens } from '../../domain/images/shown.ts';
import { redactorFor } from '../../domain/secrets/redact.ts';
import { withoutTail } from '../../domain/text/shorten.ts';
import type { LlmProvider } from '../../ports.ts';
import { attemptParts } from './asking/attempt-parts.ts';
import { withBoundedRefusals } from './asking/bounded-refusals.ts';
import { checkedKey, type EndpointOptions, parseEndpoint } from './asking/endpoint.ts';
import { askPatiently } from './asking/patience.ts';
import { attemptStream } from './asking/stream-attempt.ts';
import { type Accommodation, accommodating, anyEndpoint } from './openai/accommodation.ts';
import { ChatReader } from './openai/chat/answer.ts';
import { CHAT_MESSAGE, chatCallIds, chatRequest } from './openai/chat/request.ts';
import { openAiFailure } from './openai/failures.ts';
import { ResponsesReader } from './openai/responses/answer.ts';
import { responsesCallIds, responsesRequest } from './openai/responses/request.ts';
import { isVendorHost } from './openai/vendor-host.ts';

const OPENAI_API = 'https://api.openai.com/v1';

type Api = 'responses' | 'chat';

const PATHS: Readonly<Record<Api, string>> = { responses: '/responses', chat: '/chat/completions' };

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createOpenAiProvider(options: EndpointOptions): LlmProvider {
  const { api, url } = addressOf(options);
  const isKeyless = options.apiKey === null && !isVendorHost(url.hostname);
  const key = isKeyless ? null : checkedKey(options.apiKey, 'OPENAI_API_KEY');
  const redact = redactorFor(key === null ? [] : [key]);
  const ask = withBoundedRefusals(options.fetch ?? fetch);
  const where = `model ${options.model} at ${url.host}${key === null ? ', without a key' : ''}`;
  // What this endpoint turned out not to accept: found out once, not in every turn.
  let known: Accommodation = anyEndpoint(url.hostname);
  return {
    name: 'openai',
    model: options.model,
    complete: async (request) => {
      const { conversation } = request;
      if (isOfOtherApi(api, conversation))
        return { status: 'failed', kind: 'invalid_request', message: otherApi(api, where) };
      const attempt = {
        url: url.href,
        headers: key === null ? {} : keyHeader(url, key),
        ask,
        ...attemptParts(options, request, redact),
        failureOf: openAiFailure,
      };
      const beyond = bytesBeyondTokens(conversation);
      const attemptOnce = (maxTokens: number, how: Accommodation) =>
        api === 'chat'
          ? attemptStream(
              attempt,
              chatRequest(options, conversation, maxTokens, how),
              (bytes) => new ChatReader(bytes - beyond, chatCallIds(conversation)),
            )
          : attemptStream(
              attempt,
              responsesRequest(options, conversation, maxTokens, how),
              (bytes) => new ResponsesReader(bytes - beyond, responsesCallIds(conversation)),
            );
      const asked = {
        patience: options,
        redact,
        where,
        attempt: async (maxTokens: number) => {
          for (;;) {
            const result = await attemptOnce(maxTokens, known);
            const next = result.status === 'failed' ? accommodating(known, result.failure) : null;
            if (next === null) return result;
            known = next;
          }
        },
      };
      return askPatiently(asked, request);
    },
  };
}

/** Azure's older addresses, which have a version, expect the key in a different header. */
function keyHeader({ search }: URL, key: string): Record<string, string> {
  return search === '' ? { authorization: `Bearer ${key}` } : { 'api-key': key };
}

/** The base URL may end in the path of one of the two APIs. */
function addressOf({ baseUrl, allowInsecureBaseUrl = false }: EndpointOptions): { api: Api; url: URL } {
  const url = parseEndpoint(baseUrl ?? OPENAI_API, allowInsecureBaseUrl, /^(\?api-version=[\w.-]+)?$/);
  const path = withoutTail(url.pathname, '/');
  const named = (['responses', 'chat'] as const).find((one) => path.endsWith(PATHS[one]));
  const api = named ?? (url.hostname === new URL(OPENAI_API).hostname ? 'responses' : 'chat');
  url.pathname = named === undefined ? path + PATHS[api] : path;
  return { api, url };
}

/** What one API wrote cannot be sent to the other. */
function isOfOtherApi(api: Api, { messages }: Conversation): boolean {
  return messages.some(
    (message) =>
      message.role === 'assistant' &&
      message.content.some(({ type }) => (type === CHAT_MESSAGE) !== (api === 'chat')),
  );
}

function otherApi(api: Api, where: string): string {
  const path = PATHS[api === 'chat' ? 'responses' : 'chat'];
  return `The conversation started with a different API than this one; use a base URL that ends in ${path} (${where}).`;
}
