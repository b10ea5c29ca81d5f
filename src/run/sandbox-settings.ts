/** What the settings say of the sandbox, for every way in which a run begins. */

import type { SandboxOptions } from '../adapters/sandboxes/registry.ts';
import type { Sandbox } from '../ports.ts';
import type { RunInput, Session } from './session.ts';

/** What the machine of today decides, also for a run that is carried on or played again. */
export function sandboxSettings({
  settings,
  env,
}: Pick<RunInput, 'settings' | 'env'>): Pick<SandboxOptions, 'hostEnv' | 'limits'> {
  const { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } = settings;
  return { hostEnv: env, limits: { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } };
}

/** A command without a sandbox sees the processes of the machine, this one included. */
export function warnOfReadableSecrets(session: Session, { level }: Sandbox): void {
  if (level !== 'none' || session.input.secretsInProc !== true) return;
  session.warn('The environment of this process cannot be wiped: commands can read the API key in /proc.');
}
