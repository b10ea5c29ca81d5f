/** In what endpoints differ, and how it is found out: by what the first one of a kind refuses. */

import type { AttemptFailure } from '../asking/failures.ts';
import { isVendorHost } from './vendor-host.ts';

/** How an endpoint wants to be asked. */
export interface Accommodation {
  /** The field with the most tokens of an answer: reasoning models only take the newer, most other servers know the older. */
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** Ask for a report of the tokens at the end of a stream. */
  readonly wantsUsage: boolean;
  /** Ask for encrypted reasoning; models that do not reason refuse to be asked. */
  readonly wantsReasoning: boolean;
  /** Images may be in the result of a call (Responses API). */
  readonly imagesInResults: boolean;
}

/** What is tried first. */
export function anyEndpoint(hostname: string): Accommodation {
  return {
    limitField: isVendorHost(hostname) ? 'max_completion_tokens' : 'max_tokens',
    wantsUsage: true,
    wantsReasoning: true,
    imagesInResults: isVendorHost(hostname),
  };
}

/** What to try after a refusal; null when the refusal is about something else. Each difference is tried once at most. */
export function accommodating(
  before: Accommodation,
  { kind, message }: AttemptFailure,
): Accommodation | null {
  if (kind !== 'invalid_request') return null;
  if (before.limitField === 'max_tokens' && message.includes('max_completion_tokens'))
    return { ...before, limitField: 'max_completion_tokens' };
  if (before.wantsUsage && message.includes('stream_options')) return { ...before, wantsUsage: false };
  if (before.wantsReasoning && /encrypted.content/i.test(message) && /not support/i.test(message))
    return { ...before, wantsReasoning: false };
  return null;
}
