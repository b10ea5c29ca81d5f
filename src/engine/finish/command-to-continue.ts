/** How to continue a run that has stopped, as its last lines say it. */

import { DEFAULT_PROVIDER, providerNamed } from '../../adapters/providers/registry.ts';
import { type SettingKey, settingEntries } from '../../config/schema.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { flagsToContinue } from '../../domain/journal/continuation.ts';
import { resumeCommand } from '../../domain/journal/resume-command.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import type { Session } from '../session.ts';

/** The command that continues a run that stopped for this reason; null for one that came to its own end. */
export function commandToContinue(session: Session, stop: StopReason): string | null {
  const { result, directory, input, limits } = session;
  // The chosen attempt continues where it was applied; docs/attempts.md says how the others do.
  if (input.attempt !== undefined) return null;
  if (directory === null || !providerNamed(result.provider, input.providers)?.canResume) return null;
  const flags = flagsToContinue(stop, limits);
  return flags && continuing(session, directory.path, { more: flags });
}

/** `repo` is the work tree to continue in; by default the run's own, named where it has to be. */
export function continuing(
  { result: { provider }, root, input: { settings, typed = {}, cwd } }: Session,
  path: string,
  { more = [], repo }: { more?: readonly string[]; repo?: string } = {},
): string {
  const { fallbackModel, reviewModel } = settings;
  const chosen = {
    // The person who resumes the run decides whose key is used.
    ...(provider === null || provider === DEFAULT_PROVIDER ? {} : { provider }),
    ...(fallbackModel === null ? {} : { 'fallback-model': fallbackModel }),
    ...(reviewModel === null ? {} : { 'review-model': reviewModel }),
    ...Object.fromEntries(
      settingEntries().flatMap(({ key, flag, initial }) =>
        FROM_PROJECT_FILE.includes(key) && settings[key] !== initial ? [[flag, settings[key]]] : [],
      ),
    ),
  };
  const elsewhere = root !== null && (settings.repo !== null || !isWithin(cwd, root)) ? root : undefined;
  const there = repo ?? elsewhere;
  return resumeCommand(path, { ...chosen, ...typed, ...(there === undefined ? {} : { repo: there }) }, more);
}

/** What a project file may raise, and `resume` does not read from there. */
const FROM_PROJECT_FILE: readonly SettingKey[] = ['fixRounds', 'maxToolOutput'];
