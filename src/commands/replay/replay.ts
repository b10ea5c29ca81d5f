/** `patchsmith replay`: a recorded run once more, without a model, to see that it comes to the same patch. */

import { openRun } from '../../adapters/storage/find-run.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { type RunInput, runPrepared } from '../../engine/run.ts';
import { makeTemporaryFolder } from '../../files/temporary.ts';
import { prepareReplay } from './spec.ts';

/**
 * Loop, tools, sandbox, workspace and publisher are those of a run; the model's turns and the clock are recorded ones.
 * Neither the checkout of the run nor a key is needed. `run` is the id of a run or its directory.
 */
export async function replayRun(run: string, input: RunInput): Promise<RunOutcome | { problem: string }> {
  const found = await openRun(run, input);
  if (found.status === 'failed') return { problem: found.message };
  const folder = makeTemporaryFolder(input.env);
  const objects = makeTemporaryFolder(input.env);
  try {
    return await runPrepared(input, (session) =>
      prepareReplay(session, {
        run: found.directory,
        folder: folder.path,
        objectsGitDir: `${objects.path}/objects.git`,
      }),
    );
  } finally {
    folder.remove();
    objects.remove();
  }
}
