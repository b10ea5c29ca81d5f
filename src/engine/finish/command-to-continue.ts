/** How to continue a run that has stopped, for its last lines. */

import { DEFAULT_PROVIDER, providerNamed } from '../../adapters/providers/registry.ts';
import { flagsToContinue } from '../../domain/journal/continuation.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import type { Session } from '../session.ts';

/** The command that continues a run that stopped for this reason; null for one that came to its own end. */
export function commandToContinue(
  { result, directory, input, limits }: Session,
  stop: StopReason,
): string | null {
  const { provider } = result;
  // The chosen attempt continues where it was applied; docs/attempts.md says how the others do.
  if (input.attempt !== undefined) return null;
  if (directory === null || !providerNamed(provider, input.providers)?.canResume) return null;
  const flags = flagsToContinue(stop, limits);
  // The person who resumes the run decides whose key is used.
  const named = provider === null || provider === DEFAULT_PROVIDER ? [] : ['--provider', provider];
  const { fallbackModel, reviewModel } = input.settings;
  const after = [
    ...(fallbackModel === null ? [] : ['--fallback-model', fallbackModel]),
    ...(reviewModel === null ? [] : ['--review-model', reviewModel]),
  ];
  return flags && ['patchsmith resume', directory.path, ...named, ...after, ...flags].join(' ');
}
