/** `patchsmith run` on the command line. */

import { withoutKey } from '../../config/provider-keys.ts';
import { runTask } from '../../engine/attempts/run-task.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given } from '../command.ts';
import { readRunInputs } from '../inputs.ts';
import { typedFor } from '../typed-flags.ts';
import { keepWithinBound } from './keep-within-bound.ts';

/** Carries out a plan with the given flags and variables. A refusal is kept in the run directory that was named. */
export async function startRun(
  context: HostContext,
  { flags, problems }: Pick<Given, 'flags' | 'problems'>,
): Promise<CommandOutcome> {
  const inputs = await readRunInputs(context, flags, problems);
  if (inputs.status === 'refused') {
    const { keepRefusal } = await import('../refused-run.ts');
    await keepRefusal(context, flags, inputs.problems);
    return inputs;
  }
  const { settings, apiKey, otherKeys, searchKey, notes, trust, servers } = inputs;
  for (const key of [apiKey ?? [], Object.values(otherKeys)].flat()) context.hide(key);
  const env = { ...withoutKey(context.env), ...searchKey };
  return {
    status: 'printed',
    outcome: await runTask({
      ...context,
      settings,
      typed: typedFor('resume', flags, context.redact),
      apiKey,
      otherKeys,
      env,
      servers,
      startNotes: [...(context.startNotes ?? []), ...notes],
      ...(trust === undefined ? {} : { trust }),
      // If the folder was named explicitly, its owner cleans it up.
      ...(settings.runDir === null ? { afterwards: () => tidy(context, settings.maxTotalBytes) } : {}),
    }),
  };
}

async function tidy({ env, now }: HostContext, maxTotalBytes: number): Promise<string | null> {
  // The run has ended, and what could not be cleaned up is tried again with the next one.
  return keepWithinBound(env, maxTotalBytes, now()).catch(() => null);
}
