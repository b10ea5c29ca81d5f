/** How to continue a run that has stopped, for its last lines. */

import { DEFAULT_PROVIDER, providerNamed } from '../../adapters/providers/registry.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { flagsToContinue } from '../../domain/journal/continuation.ts';
import { resumeCommand } from '../../domain/journal/resume-command.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import type { Session } from '../session.ts';

/** The command that continues a run that stopped for this reason; null for one that came to its own end. */
export function commandToContinue(
  { result, directory, root, input, limits }: Session,
  stop: StopReason,
): string | null {
  const { provider } = result;
  // The chosen attempt continues where it was applied; docs/attempts.md says how the others do.
  if (input.attempt !== undefined) return null;
  if (directory === null || !providerNamed(provider, input.providers)?.canResume) return null;
  const flags = flagsToContinue(stop, limits);
  if (flags === null) return null;
  const { settings, typed = {}, cwd } = input;
  const { fallbackModel, reviewModel, repo } = settings;
  // What a run was given by its project file is not read again.
  const chosen = {
    // The person who resumes the run decides whose key is used.
    ...(provider === null || provider === DEFAULT_PROVIDER ? {} : { provider }),
    ...(fallbackModel === null ? {} : { 'fallback-model': fallbackModel }),
    ...(reviewModel === null ? {} : { 'review-model': reviewModel }),
  };
  const elsewhere = root !== null && (repo !== null || !isWithin(cwd, root)) ? { repo: root } : {};
  return resumeCommand(directory.path, { ...chosen, ...typed, ...elsewhere }, flags);
}
