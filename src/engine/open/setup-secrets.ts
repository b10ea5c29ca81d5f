/**
 * Variables of `--setup-env`: credentials that setup commands get and no other command. No process with them is left when a
 * setup command has ended; what remains are the files that setup commands write.
 */

import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { MIN_SECRET_LENGTH } from '../../domain/secrets/redact.ts';
import { sentence } from '../../domain/text/words.ts';
import type { Sandbox } from '../../ports.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';

/** The variables with their values; empty without the setting. */
export function setupEnvOf({ settings, env }: Pick<RunInput, 'settings' | 'env'>): Record<string, string> {
  return Object.fromEntries(settings.setupEnv.map((name) => [name, env[name] ?? '']));
}

/** Why the variables cannot be given to these setup commands; null when they can, or when there are none. */
export function whyNoSetupEnv(
  { input }: Pick<Session, 'input'>,
  setup: readonly string[],
): RunOutcome | null {
  const { settings, trust } = input;
  const [name] = settings.setupEnv;
  if (name === undefined) return null;
  for (const [variable, value] of Object.entries(setupEnvOf(input))) {
    const isShort = value.length < MIN_SECRET_LENGTH;
    const why =
      value === ''
        ? 'is not set'
        : `has fewer than ${MIN_SECRET_LENGTH} characters, too few to be kept out of what is written`;
    if (isShort) return usageError('ERR_SETUP_ENV', sentence(`--setup-env ${variable}: the variable ${why}`));
  }
  if (trust?.isOutsiders)
    return usageError(
      'ERR_SETUP_ENV',
      `--setup-env ${name}: code of an outsider, or of a pull request that is continued, is checked out, and setup commands would hand the value to it.`,
    );
  if (settings.verifyIn === 'checkout' && setup.length > 0)
    return usageError(
      'ERR_SETUP_ENV',
      `--setup-env ${name}: with --verify-in checkout the setup commands run again, in a checkout that holds what the model wrote, and would hand the value to it. Use --verify-in worktree.`,
    );
  return null;
}

/** Null if the sandbox isolates the commands from each other. */
export function whyNotInSandbox(
  { input }: Pick<Session, 'input'>,
  { level }: Pick<Sandbox, 'level'>,
): RunOutcome | null {
  const [name] = input.settings.setupEnv;
  if (name === undefined || level !== 'none') return null;
  return usageError(
    'ERR_SETUP_ENV',
    `--setup-env ${name}: commands run without a sandbox, so the model's could read what setup commands leave anywhere. Set one up: patchsmith doctor says what is missing.`,
  );
}
