/** `patchsmith resume RUN` on the command line. */

import { readKey, readOtherKeys, withoutKey } from '../../config/provider-keys.ts';
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
    const { keyMissedBy } = await import('./recorded-provider.ts');
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
