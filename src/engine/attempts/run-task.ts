/** A task, from a plan to a patch: in one run, or in several attempts of which the best is kept. */

import type { RunOutcome } from '../../domain/run/outcome.ts';
import { besideOthers } from '../../files/time-limit.ts';
import { runPatchsmith } from '../run.ts';
import type { RunInput } from '../run-input.ts';

/** Never rejects because of anything that can happen to a run: that is in the outcome. */
export async function runTask(input: RunInput): Promise<RunOutcome> {
  if (input.settings.attempts === 1) return runPatchsmith(input);
  const { runAttempts } = await import('./run-attempts.ts');
  return besideOthers(() => runAttempts(input));
}
