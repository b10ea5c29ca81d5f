/** `patchsmith resume RUN` on the command line. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { readStart } from '../../adapters/storage/read-journal.ts';
import { readKey, readOtherKeys, withoutKey } from '../../config/provider-keys.ts';
import type { Settings } from '../../config/schema.ts';
import { type Problem, prefixedProblems } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given, StoppedEarly } from '../command.ts';
import { hideNamed, readServers, readSettings, readTrust } from '../inputs.ts';
import { namedRun } from '../named-run.ts';
import { typedFor } from '../typed-flags.ts';
import { resumeRun } from './resume.ts';

/** Starts `patchsmith resume` with the given flags and variables. */
export async function startResume(
  context: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome | StoppedEarly> {
  const read = readSettings(context, flags, problems);
  if (read.status === 'refused') return read;
  const { repo, quiet } = read.settings;
  const named = await namedRun(context, operands[0], { repo, quiet });
  if (named.status === 'refused') return named;
  hideNamed(context, read.settings);
  const { key, notes, problems: keyless } = await readKey(context, read.settings);
  if (keyless.length > 0) {
    const problems = await keyMissedBy(context, { run: named.run, settings: read.settings });
    if (problems === null) return { status: 'refused', problems: keyless };
    if (problems.length > 0) return { status: 'refused', problems };
  }
  if (key !== null) context.hide(key);
  const others = await readOtherKeys(context, read.settings);
  if (others.problems.length > 0) return { status: 'refused', problems: others.problems };
  for (const one of Object.values(others.keys)) context.hide(one);
  const trust = await readTrust(context, read.settings);
  const { servers, problems: unusable } = await readServers(context, read, trust, true);
  if (unusable.length > 0) return { status: 'refused', problems: unusable };
  const input = {
    ...context,
    settings: read.settings,
    typed: {
      ...typedFor('resume', flags, context.redact),
      ...(switches.has('accept-changes') ? { 'accept-changes': true } : {}),
    },
    servers,
    apiKey: key,
    otherKeys: others.keys,
    env: withoutKey(context.env),
    startNotes: [...notes, ...others.notes],
    ...(trust === undefined ? {} : { trust }),
  };
  return resumeRun(input, {
    run: named.run,
    acceptChanges: switches.has('accept-changes'),
    given: read.given,
  });
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
