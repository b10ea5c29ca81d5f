/** `patchsmith resume RUN` on the command line. */

import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given, StoppedEarly } from '../command.ts';
import {
  hideNamed,
  readKey,
  readOtherKeys,
  readServers,
  readSettings,
  readTrust,
  withoutKey,
} from '../inputs.ts';
import { namedRun } from '../named-run.ts';
import { resumeRun } from './resume.ts';

/** Starts `patchsmith resume` with the given flags and variables. */
export async function startResume(
  edge: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome | StoppedEarly> {
  const read = readSettings(edge, flags, problems);
  if (read.status === 'refused') return read;
  const { repo, quiet } = read.settings;
  const named = await namedRun(edge, operands[0], { repo, quiet });
  if (named.status === 'refused') return named;
  hideNamed(edge, read.settings);
  const { key, notes, problems: keyless } = await readKey(edge, read.settings);
  if (keyless.length > 0) {
    const { keyMissedBy } = await import('./recorded-provider.ts');
    const problems = await keyMissedBy(edge, { run: named.run, settings: read.settings });
    if (problems === null) return { status: 'refused', problems: keyless };
    if (problems.length > 0) return { status: 'refused', problems };
  }
  if (key !== null) edge.hide(key);
  const others = await readOtherKeys(edge, read.settings);
  if (others.problems.length > 0) return { status: 'refused', problems: others.problems };
  for (const one of Object.values(others.keys)) edge.hide(one);
  const trust = await readTrust(edge, read.settings);
  const { servers, problems: unusable } = await readServers(edge, read, trust, true);
  if (unusable.length > 0) return { status: 'refused', problems: unusable };
  const input = {
    ...edge,
    settings: read.settings,
    servers,
    apiKey: key,
    otherKeys: others.keys,
    env: withoutKey(edge.env),
    startNotes: [...notes, ...others.notes],
    ...(trust === undefined ? {} : { trust }),
  };
  return resumeRun(input, {
    run: named.run,
    acceptChanges: switches.has('accept-changes'),
    given: read.given,
  });
}
