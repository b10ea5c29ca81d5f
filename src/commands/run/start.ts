/** `patchsmith run` on the command line. */

import { lstatSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS } from '../../adapters/storage/run-directory.ts';
import { idsIn, notedPlaces, runFolders } from '../../adapters/storage/run-places.ts';
import { formatSize, pluralize } from '../../domain/text/words.ts';
import { runTask } from '../../engine/attempts/run-task.ts';
import { orNone } from '../../files/failures.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given } from '../command.ts';
import { readRunInputs, typedFor } from '../inputs.ts';

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
  const { settings } = inputs.input;
  return {
    status: 'printed',
    outcome: await runTask({
      ...inputs.input,
      typed: typedFor('resume', flags, context.redact),
      // If the folder was named explicitly, its owner cleans it up.
      ...(settings.runDir === null ? { afterwards: () => tidy(context, settings.maxTotalBytes) } : {}),
    }),
  };
}

async function tidy({ env, now }: HostContext, maxTotalBytes: number): Promise<string | null> {
  // The run has ended, and what could not be cleaned up is tried again with the next one.
  return keepWithinBound(env, maxTotalBytes, now()).catch(() => null);
}

const STAMP = '.tidied';
const HOUR_MS = 3_600_000;

/**
 * Keeps the default folder within its bound. Does nothing more than once an hour, since measuring takes time, and nothing for
 * a run that is alone, as in a job of its own: the newest always stays. Returns a line for people if something was removed.
 * Never rejects because of a disk error.
 */
async function keepWithinBound(
  env: HostContext['env'],
  maxTotalBytes: number,
  now: number,
): Promise<string | null> {
  const folders = runFolders(env);
  const newest = folders.flatMap(idsIn).sort().at(-1);
  const hasOthers = (folder: string) =>
    idsIn(folder).some((id) => id !== newest) ||
    notedPlaces(folder).size > 0 ||
    idsIn(join(folder, CHECKS)).length > 0;
  const due = folders.filter((folder) => hasOthers(folder) && isDue(folder, now));
  if (due.length === 0) return null;
  const { removeRuns } = await import('../remove-runs.ts');
  const rules = { olderThanMs: null, maxTotalBytes, keepFailed: false };
  const { removed, keptBytes } = await removeRuns({ env, rules, now, isDry: false });
  // Not for a check, which keeps nothing.
  if (removed.length === 0) return null;
  const bytes = removed.reduce((sum, run) => sum + run.bytes, 0);
  return `removed ${pluralize(removed.length, 'old run')} (${formatSize(bytes)}) from ${realpathSync(due[0] ?? '/')}, which now takes ${formatSize(keptBytes)} of ${formatSize(maxTotalBytes)} (--max-total-size)`;
}

/** Notes that it is being done. */
function isDue(folder: string, now: number): boolean {
  const stamp = join(folder, STAMP);
  const isNoted = orNone(() => {
    const last = lstatSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (last > now - HOUR_MS && last <= now) return false;
    rmSync(stamp, { force: true });
    writeFileSync(stamp, '', { flag: 'wx', mode: 0o600 });
    return true;
  });
  return isNoted ?? false;
}
