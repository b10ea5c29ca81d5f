/** What the settings say of the sandbox, for every way in which a run begins. */

import type { SandboxOptions } from '../adapters/sandboxes/registry.ts';
import type { RunInput } from './session.ts';

/** What the machine of today decides, also for a run that is carried on or played again. */
export function sandboxSettings({
  settings,
  env,
}: Pick<RunInput, 'settings' | 'env'>): Pick<SandboxOptions, 'hostEnv' | 'limits'> {
  const { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } = settings;
  return { hostEnv: env, limits: { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } };
}
