/** The refusals of the Claude API, and of the clouds that offer it. */

import type { RefusalTable } from '../asking/failures.ts';

/** By the vendor's error table. */
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
