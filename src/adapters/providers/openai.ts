/**
 * OpenAI and every compatible endpoint. The end of the base URL selects one of the two APIs; otherwise it is the
 * Responses API at OpenAI's own address, and elsewhere Chat Completions, which all others have.
 *
 * Requests use fetch: the vendor's client loads every resource it knows, and only one request is needed here.
 */

import { redactorFor } from '../../domain/secrets/redact.ts';
import { withoutTail } from '../../domain/text/shorten.ts';
import { checkedKey, type EndpointOptions, isVendorHost, parseEndpoint } from './asking/endpoint.ts';
import { type NamelessProvider, posting, providerOf } from './asking/provider.ts';
import { withBoundedRefusals } from './asking/stream.ts';
import { CHAT_MESSAGE, ChatReader, chatRequest } from './openai/chat.ts';
import { ResponsesReader, responsesRequest } from './openai/responses.ts';
import { accommodating, anyEndpoint, OPENAI_REFUSALS } from './openai/shared.ts';

const OPENAI_API = 'https://api.openai.com/v1';

const APIS = {
  responses: { path: '/responses', bodyOf: responsesRequest, Reader: ResponsesReader },
  chat: { path: '/chat/completions', bodyOf: chatRequest, Reader: ChatReader },
} as const;

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createOpenAiProvider(options: EndpointOptions): NamelessProvider {
  const { api, url } = addressOf(options);
  const isKeyless = options.apiKey === null && !isVendorHost(url.hostname);
  const key = isKeyless ? null : checkedKey(options.apiKey, 'OPENAI_API_KEY');
  const { bodyOf, Reader } = APIS[api];
  // What this endpoint turned out not to accept: found out once, not in every turn.
  let known = anyEndpoint(url.hostname);
  const access = {
    host: `${url.host}${key === null ? ', without a key' : ''}`,
    redact: redactorFor(key === null ? [] : [key]),
    send: posting(withBoundedRefusals(options.fetch ?? fetch), url, key === null ? {} : keyHeader(url, key)),
  };
  return providerOf(options, access, {
    table: OPENAI_REFUSALS,
    body: ({ conversation }, maxTokens) => bodyOf(options, conversation, maxTokens, known),
    reader: ({ conversation }, count) => new Reader(conversation, count),
    // What one API wrote cannot be sent to the other.
    objection: ({ conversation: { messages } }) =>
      messages.some(
        ({ role, content }) =>
          role === 'assistant' && content.some(({ type }) => (type === CHAT_MESSAGE) !== (api === 'chat')),
      )
        ? `The conversation started with a different API than this one; use a base URL that ends in ${APIS[api === 'chat' ? 'responses' : 'chat'].path}`
        : null,
    learns: (failure) => {
      const next = accommodating(known, failure);
      known = next ?? known;
      return next !== null;
    },
  });
}

/** Azure's older addresses, which have a version, expect the key in a different header. */
function keyHeader({ search }: URL, key: string): Record<string, string> {
  return search === '' ? { authorization: `Bearer ${key}` } : { 'api-key': key };
}

/** The base URL may end in the path of one of the two APIs. */
function addressOf({ baseUrl, allowInsecureBaseUrl = false }: EndpointOptions): {
  api: keyof typeof APIS;
  url: URL;
} {
  const url = parseEndpoint(baseUrl ?? OPENAI_API, allowInsecureBaseUrl, /^(\?api-version=[\w.-]+)?$/);
  const path = withoutTail(url.pathname, '/');
  const named = (['responses', 'chat'] as const).find((one) => path.endsWith(APIS[one].path));
  const api = named ?? (url.hostname === new URL(OPENAI_API).hostname ? 'responses' : 'chat');
  url.pathname = named === undefined ? path + APIS[api].path : path;
  return { api, url };
}
