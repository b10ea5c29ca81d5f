/** `patchsmith replay [RUN]` on the command line. */

import { withoutKey } from '../../config/provider-keys.ts';
import type { Problem } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given, StoppedEarly } from '../command.ts';
import { readSettings, readTrust } from '../inputs.ts';
import { namedRun } from '../named-run.ts';
import { replayRun } from './replay.ts';

/** Starts `patchsmith replay` with the given flags and variables. A refusal is kept in the run directory that was named. */
export async function startReplay(
  context: HostContext,
  { operands, flags, problems }: Given,
): Promise<CommandOutcome | StoppedEarly> {
  const refuse = async (reasons: Problem[]): Promise<CommandOutcome> => {
    const { keepRefusal } = await import('../refused-run.ts');
    await keepRefusal(context, flags, reasons);
    return { status: 'refused', problems: reasons };
  };
  const read = readSettings(context, flags, problems);
  if (read.status === 'refused') return refuse(read.problems);
  const { repo, quiet } = read.settings;
  const named = await namedRun(context, operands[0], { repo, quiet });
  if (named.status === 'refused') return refuse(named.problems);
  // In the sandbox nothing of the job can be reached.
  const trust = read.settings.sandbox === 'off' ? await readTrust(context, read.settings) : undefined;
  const input = {
    ...context,
    settings: read.settings,
    apiKey: null,
    env: withoutKey(context.env),
    startNotes: [],
    ...(trust === undefined ? {} : { trust }),
  };
  const outcome = await replayRun(named.run, input);
  if ('status' in outcome) return outcome;
  return 'problem' in outcome ? refuse([outcome.problem]) : { status: 'printed', outcome };
}
