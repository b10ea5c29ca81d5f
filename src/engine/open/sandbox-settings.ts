/** The settings of the sandbox, for every way in which a run begins. */

import type { OpenedSandbox, SandboxOptions } from '../../adapters/sandboxes/options.ts';
import { absolutePath } from '../../domain/changes/path.ts';
import { type RunOutcome, sandboxUnavailable, usageError } from '../../domain/run/outcome.ts';
import { warning } from '../../domain/warnings/warning.ts';
import type { Sandbox } from '../../ports.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';

/** Decided by the machine this process runs on, even for a resumed or replayed run. */
export function sandboxSettings({
  settings,
  env,
  cwd,
}: Pick<RunInput, 'settings' | 'env' | 'cwd'>): Pick<SandboxOptions, 'hostEnv' | 'limits' | 'mounts'> {
  const { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } = settings;
  const mounts = settings.mounts.map((path) => absolutePath(cwd, path));
  return { hostEnv: env, mounts, limits: { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } };
}

/** A command without a sandbox sees all processes of the machine, including this one. */
export function warnOfReadableSecrets(session: Session, { level }: Sandbox): void {
  if (level !== 'none' || session.input.secretsInProc !== true) return;
  session.warn(
    warning(
      'WARN_KEY_IN_PROC',
      'The environment of this process cannot be cleared: commands can read the API key in /proc.',
    ),
  );
}

/** Why the run does not start: because of the machine or of the settings. */
export function notOpened({ status, reason }: Exclude<OpenedSandbox, { status: 'ok' }>): RunOutcome {
  return status === 'refused'
    ? usageError('ERR_SANDBOX_REFUSED', reason)
    : sandboxUnavailable('ERR_SANDBOX_UNAVAILABLE', reason);
}
