/** Claude through a client of its vendor: the API itself, and other clouds. */

import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { type EndpointOptions, ProviderSettingsError } from '../asking/endpoint.ts';
import { NOTHING_SAID, type RefusalTable, refusalFailure } from '../asking/failures.ts';
import { type NamelessProvider, providerOf } from '../asking/provider.ts';
import { AttemptFailed } from '../asking/stream.ts';
import { ClaudeReader } from './answer.ts';
import { betaHeaders, requestBody } from './request.ts';

/** One way to Claude. */
export interface ClaudeAccess {
  /** Without the SDK's resources, which are most of its code and not needed for a single kind of request. */
  readonly client: BaseAnthropic;
  readonly host: string;
  /** For text from the server, which may repeat a secret. */
  readonly redact: Redact;
  /** Called for each request, with the signal that ends it. */
  attend?(signal: AbortSignal): void;
}

/** Client options that leave retries, logging and redirects to this program. */
export const QUIET_CLIENT = {
  maxRetries: 0,
  // A redirect would send the conversation to a host that was not chosen.
  fetchOptions: { redirect: 'manual' },
  webhookKey: null,
  openTelemetry: false,
  logLevel: 'off',
} as const;

/** The SDK's own timer is not used. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Asks Claude for its turns. */
export function claudeProvider(
  options: EndpointOptions,
  { client, host, redact, attend }: ClaudeAccess,
): NamelessProvider {
  const send = async (body: object, signal: AbortSignal, headers: Readonly<Record<string, string>>) => {
    attend?.(signal);
    // `messages.create` sends the same request, but also prints warnings to stderr, once per turn.
    const answer = client
      .post('/v1/messages', { body, headers, signal, timeout: NO_TIMEOUT_MS })
      .asResponse();
    try {
      return await Promise.race([answer, onceAborted(signal)]);
    } catch (error) {
      return refusalOf(error, redact);
    }
  };
  return providerOf(
    options,
    {
      host,
      redact,
      send: (body, signal, { conversation, purpose }) =>
        send(body, signal, betaHeaders(conversation, purpose)),
    },
    {
      table: CLAUDE_REFUSALS,
      body: ({ conversation, purpose }, maxTokens) => requestBody(options, conversation, maxTokens, purpose),
      reader: ({ conversation }, count) => new ClaudeReader(conversation, count),
    },
  );
}

/** How long a client that was interrupted may take to say what it knows, such as a status without a body. */
const LAST_WORDS_MS = 250;

/** The login of a cloud, which its client waits for before the request, knows no signal. */
function onceAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () =>
      void setTimeout(() => reject(new DOMException('', 'AbortError')), LAST_WORDS_MS).unref();
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** What these clients say when they find no cloud login; retrying does not help. */
const NO_LOGIN = /^Failed to (?:resolve AWS|acquire Google OAuth) credentials/;

/** What the client threw, as the response that it stands for, or as fetch would throw it. */
function refusalOf(error: unknown, redact: Redact): Response {
  if (!(error instanceof Error) || error instanceof AttemptFailed || error.name === 'AbortError') throw error;
  const unsent = (type: string): AttemptFailed => {
    const said = { ...NOTHING_SAID, type, message: redact(innermostMessage(error)) };
    return new AttemptFailed(refusalFailure({ status: null, said, retryAfterMs: null }, CLAUDE_REFUSALS));
  };
  if (NO_LOGIN.test(error.message)) throw unsent('no login');
  // The clients of other clouds come with their own SDK, with different classes.
  if (!('requestID' in error && 'status' in error && 'headers' in error)) throw unsent('client error');
  if (typeof error.status !== 'number') throw new TypeError(innermostMessage(error), { cause: error.cause });
  const body: unknown = 'error' in error ? error.error : undefined;
  return new Response(body === undefined ? error.message.replace(/^\d+ /, '') : JSON.stringify(body), {
    status: error.status,
    headers: error.headers as Headers,
  });
}

/**
 * Clients that are not part of this program, since only some users need them: the one that `construct` makes of what `load`
 * imports. Throws ProviderSettingsError with the command to type if it is not installed next to this program, and for
 * whatever else the vendor's code throws.
 */
export async function openPeer<Loaded, Client>(
  { provider, packages }: { provider: string; packages: readonly string[] },
  load: () => Promise<Loaded>,
  construct: (loaded: Loaded) => Client,
): Promise<Client> {
  const install = `npm install ${packages.join(' ')} (where patchsmith is installed, with --global if it is)`;
  try {
    return construct(await load());
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ProviderSettingsError(
      'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
        ? `The provider ${provider} needs a package that is not part of patchsmith: ${install}.`
        : `The client of the provider ${provider} cannot be used: ${oneLine(error.message, 500)}. Check its settings and its version: ${install}.`,
    );
  }
}

/** The refusals of the Claude API, by the vendor's error table, and of the clouds that offer it. */
export const CLAUDE_REFUSALS: RefusalTable = {
  advice: {
    billing: 'Raise the spend limit or add credit in the Claude Console.',
    authentication:
      'Check that ANTHROPIC_API_KEY, or the login of the cloud (docs/providers.md), is valid for this endpoint.',
    permission: 'Use a key whose workspace may use this model.',
    rate_limit: 'Run fewer jobs at a time, or raise the rate limit of the workspace.',
    outage: 'Try again later; see status.claude.com.',
  },
  names: {
    enforced_spend_limit_reached: 'billing',
    contract_spend_limit_reached: 'billing',
    authentication_error: 'authentication',
    billing_error: 'billing',
    permission_error: 'permission',
    not_found_error: 'not_found',
    request_too_large: 'too_large',
    rate_limit_error: 'rate_limit',
    invalid_request_error: 'invalid_request',
    // Frames of Bedrock.
    throttlingException: 'rate_limit',
    validationException: 'invalid_request',
    // What the vendor's clients throw before they send anything.
    'no login': 'authentication',
    'client error': 'invalid_request',
  },
  texts: [
    // Both are plain invalid_request_errors.
    {
      says: /reached your specified API usage limits|credit balance is too low/i,
      kind: 'billing',
      among: ['invalid_request'],
    },
    { says: /prompt is too long/i, kind: 'too_large', among: ['invalid_request'] },
    // Bedrock forbids what it does not recognise.
    {
      says: /API key is valid|security token|request signature/i,
      kind: 'authentication',
      among: ['permission'],
    },
  ],
};
