/** Why a run does not start when its commands are not contained as required. */

import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/words.ts';
import type { Sandbox } from '../../ports.ts';
import type { Trust } from '../trust/trust.ts';

/** Null when commands are contained or could gain nothing; otherwise why the run does not start. */
export function whyNotUncontained(trust: Trust | undefined, { level }: Sandbox): RunOutcome | null {
  if (trust === undefined || level !== 'none') return null;
  // Also checked here because a replay passes no gate.
  if (trust.refusal !== null) return trust.refusal;
  if (trust.isOutsiders) {
    return usageError(
      'ERR_UNCONTAINED',
      "An outsider's code is checked out, and its commands would run without a sandbox. Set one up: patchsmith doctor says what is missing.",
    );
  }
  const { places } = trust.credentials;
  if (places.length === 0) return null;
  return usageError(
    'ERR_UNCONTAINED',
    `Commands run without a sandbox, and could read the credentials in git's configuration: ${listed(places, 1)}. Set persist-credentials: false for actions/checkout.`,
  );
}

/** `folders` are repositories in the work tree that no sandbox covers. */
export function whyUncovered(folders: readonly string[]): string {
  const named = folders.map((folder) => JSON.stringify(`${folder}/.git`));
  return `${listed(named, 1)} cannot be hidden from commands: it is a link, has a name that is not UTF-8, leads to a place in the work tree that is missing or behind a link, or is beyond the first 64 repositories in the work tree. Move it out of the work tree, or accept that with --sandbox auto.`;
}
