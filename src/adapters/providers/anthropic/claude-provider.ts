/** Claude as a provider, through whichever client reaches it. */

import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { bytesBeyondTokens } from '../../../domain/images/shown.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';
import type { LlmProvider } from '../../../ports.ts';
import { attemptParts } from '../asking/attempt-parts.ts';
import { askPatiently, type Patience } from '../asking/patience.ts';
import { toolUseIds } from '../asking/tool-use.ts';
import { attemptTurn } from './attempt.ts';
import { betaHeaders, type RequestSettings, requestBody } from './request.ts';

/** What every way to Claude needs. */
export interface ClaudeSettings extends RequestSettings, Patience {
  /** Longest silence before and during an answer; default 120 s. */
  readonly idleTimeoutMs?: number;
}

/** One way to Claude. */
export interface ClaudeAccess {
  /** Name of the provider. */
  readonly name: string;
  readonly client: BaseAnthropic;
  readonly host: string;
  /** For text from the server, which may repeat a secret. */
  readonly redact: Redact;
  /** The client converts the event stream from another framing. */
  readonly isTranscoded?: boolean;
  /** Called for each turn, with the signal that ends it. */
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

/** Asks Claude for its turns. */
export function claudeProvider(settings: ClaudeSettings, access: ClaudeAccess): LlmProvider {
  const { name, client, host, redact, isTranscoded = false, attend } = access;
  const where = `model ${settings.model} at ${host}`;
  return {
    name,
    model: settings.model,
    complete: (request) => {
      const { conversation, signal, purpose } = request;
      attend?.(signal);
      const attempt = {
        client,
        headers: betaHeaders(conversation, purpose),
        isTranscoded,
        earlierCalls: toolUseIds(conversation),
        beyondTokens: bytesBeyondTokens(conversation),
        ...attemptParts(settings, request, redact),
      };
      const asked = {
        patience: settings,
        redact,
        where,
        attempt: (maxTokens: number) =>
          attemptTurn({ ...attempt, body: requestBody(settings, conversation, maxTokens, purpose) }),
      };
      return askPatiently(asked, request);
    },
  };
}
