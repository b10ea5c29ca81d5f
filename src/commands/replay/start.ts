/** `patchsmith replay [RUN]`: runs a recorded run again without a model, to check that it produces the same patch. */

import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { withoutKey } from '../../config/provider-keys.ts';
import { type Problem, problem } from '../../domain/errors/problem.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { openRun } from '../../engine/open-run.ts';
import { runOpened } from '../../engine/run.ts';
import type { RunInput } from '../../engine/run-input.ts';
import { makeTemporaryFolder } from '../../files/replace-file.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given } from '../command.ts';
import { readSettings, readTrust } from '../inputs.ts';
import { namedRun, readUntil, type StoppedEarly } from '../work.ts';
import { replayedRun } from './spec.ts';

/** Starts `patchsmith replay` with the given flags and variables. A refusal is kept in the run directory that was named. */
export async function startReplay(
  context: HostContext,
  { operands, flags, problems }: Given,
): Promise<CommandOutcome> {
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

/**
 * Loop, tools, sandbox, workspace and publisher are those of a run; the model's turns and the clock are recorded ones.
 * No key is needed, and of the checkout only what the run directory does not keep. `run` is the id of a run or its directory.
 */
export async function replayRun(
  run: string,
  input: RunInput,
): Promise<RunOutcome | StoppedEarly | { problem: Problem }> {
  const { settings } = input;
  const found = await readUntil(input, settings.deadlineMs, () => openRunDirectory(run, input));
  if (found.status === 'stopped') return found;
  if (found.status === 'failed') return { problem: problem('ERR_RUN_NOT_FOUND', found.message) };
  const folder = makeTemporaryFolder(input.env);
  const objects = makeTemporaryFolder(input.env);
  try {
    const spec = replayedRun({
      run: found.directory,
      folder: folder.path,
      objectsGitDir: `${objects.path}/objects.git`,
    });
    return await runOpened(input, (session) => openRun(session, spec));
  } finally {
    folder.remove();
    objects.remove();
  }
}
