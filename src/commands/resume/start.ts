/** `patchsmith resume RUN` on the command line. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { readStart } from '../../adapters/storage/read-journal.ts';
import { readKey } from '../../config/provider-keys.ts';
import type { SettingKey, Settings } from '../../config/schema.ts';
import { type Problem, prefixedProblems } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given, StoppedEarly } from '../command.ts';
import { readRunParts } from '../inputs.ts';
import { namedRun } from '../named-run.ts';
import { typedFor } from '../typed-flags.ts';
import { resumeRun } from './resume.ts';

/** Starts `patchsmith resume` with the given flags and variables. */
export async function startResume(
  context: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome | StoppedEarly> {
  const parts = await readRunParts(context, flags, problems, true);
  if (parts.settings === null || parts.problems.length > 0)
    return { status: 'refused', problems: parts.problems };
  const { settings, sources, keyless, othersKeyless } = parts;
  const { repo, quiet } = settings;
  const named = await namedRun(context, operands[0], { repo, quiet });
  if (named.status === 'refused') return named;
  if (keyless.length > 0) {
    const problems = (await keyMissedBy(context, { run: named.run, settings })) ?? keyless;
    if (problems.length > 0) return { status: 'refused', problems };
  }
  if (othersKeyless.length > 0) return { status: 'refused', problems: othersKeyless };
  const acceptChanges = switches.has('accept-changes');
  const typed = {
    ...typedFor('resume', flags, context.redact),
    ...(acceptChanges ? { 'accept-changes': true } : {}),
  };
  const given = (Object.keys(sources) as SettingKey[]).filter((key) => sources[key].from !== 'default');
  return resumeRun({ ...parts.input, typed }, { run: named.run, acceptChanges, given });
}

/**
 * What to say about the key of the provider that answered the run, if it is not the chosen one: nothing if that key is there,
 * so that `resume` says which flag to repeat. Null when it is the chosen one, or not known.
 */
async function keyMissedBy(
  context: HostContext,
  { run, settings }: { run: string; settings: Settings },
): Promise<Problem[] | null> {
  const found = await openRunDirectory(run, context);
  const start = found.status === 'ok' ? await readStart(found.directory.events) : null;
  if (start === null) return null;
  const { provider } = start;
  if (provider === settings.provider || providerNamed(provider) === null) return null;
  const { problems } = await readKey(context, { provider, baseUrl: settings.baseUrl });
  return prefixedProblems(`the run was answered by --provider ${provider}, and `, problems);
}
