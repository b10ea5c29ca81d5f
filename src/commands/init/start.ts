/** `patchsmith init [TEMPLATE]` on the command line. */

import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd, sayTo } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { readSettings } from '../inputs.ts';
import { initialise } from './init.ts';

/** Starts `patchsmith init` with the given flags and variables. */
export async function startInit(
  context: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome> {
  const read = readSettings(context, flags, problems);
  if (read.status === 'refused') return read;
  const say = sayTo(context);
  const outcome = await initialise({
    template: operands[0] ?? 'issue',
    withApp: switches.has('app'),
    isLong: switches.has('long'),
    repo: read.settings.repo,
    cwd: context.cwd,
    env: context.env,
    say,
  });
  return sayEnd(context, outcome);
}
