/** The differences between endpoints, learned from what they refuse. */

import type { AttemptFailure } from '../asking/failures.ts';
import { isVendorHost } from './vendor-host.ts';

/** What the requests to an endpoint look like. */
export interface Accommodation {
  /**
   * The field for the maximum tokens of an answer: reasoning models accept only the newer one, most other servers
   * know the older one.
   */
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** Request a token report at the end of a stream. */
  readonly wantsUsage: boolean;
  /** Request encrypted reasoning; models that do not reason refuse such a request. */
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

/** What to try after a refusal; null if the refusal is about something else. Each difference is tried at most once. */
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
