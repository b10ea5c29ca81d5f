/** What must not be where commands run without a sandbox. */

import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/listed.ts';
import type { Sandbox } from '../../ports.ts';
import type { Trust } from '../trust/trust.ts';

/** Null when commands are contained, or there is nothing to be had; then why the run does not start. */
export function whyNotUncontained(trust: Trust | undefined, { level }: Sandbox): RunOutcome | null {
  if (trust === undefined || level !== 'none') return null;
  if (trust.isOutsiders) {
    return usageError(
      "An outsider's code is checked out, and its commands would run without a sandbox. Set one up: patchsmith doctor says what is missing.",
    );
  }
  const { places } = trust.credentials;
  if (places.length === 0) return null;
  return usageError(
    `Commands run without a sandbox, and could read the credentials in git's configuration: ${listed(places, 1)}. Set persist-credentials: false for actions/checkout.`,
  );
}
