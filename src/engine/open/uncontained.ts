/** What must not be where commands run without a sandbox. */

import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { Sandbox } from '../../ports.ts';
import type { Trust } from '../trust/trust.ts';

/** Null when commands are contained, or there is nothing to be had; then why the run does not start. */
export function whyNotUncontained(trust: Trust | undefined, { level }: Sandbox): RunOutcome | null {
  if (trust === undefined || level !== 'none') return null;
  if (trust.isOutsiders) {
    return usageError(
      'Code of an outsider is checked out, and its commands would run without a sandbox. Have one: patchsmith doctor says what is missing.',
    );
  }
  const [first, ...more] = trust.credentials.places;
  if (first === undefined) return null;
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return usageError(
    `Commands run without a sandbox, and could read the credentials that git keeps here: ${first}${others}. Set persist-credentials: false for actions/checkout.`,
  );
}
