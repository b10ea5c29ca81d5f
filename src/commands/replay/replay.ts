/** `patchsmith replay`: runs a recorded run again without a model, to check that it produces the same patch. */

import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { type Problem, problem } from '../../domain/errors/problem.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { openRun } from '../../engine/open-run.ts';
import { runOpened } from '../../engine/run.ts';
import type { RunInput } from '../../engine/run-input.ts';
import { makeTemporaryFolder } from '../../files/temporary.ts';
import type { StoppedEarly } from '../command.ts';
import { readUntil } from '../until-signal.ts';
import { replayedRun } from './spec.ts';

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
