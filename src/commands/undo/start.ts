/** `patchsmith undo [RUN]` on the command line. */

import { withoutKey } from '../../config/provider-keys.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd, sayTo } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { readSettings } from '../inputs.ts';
import { namedRun } from '../named-run.ts';
import { untilSignal } from '../until-signal.ts';
import { undoRun } from './undo.ts';

/** Starts `patchsmith undo` with the given flags and variables. */
export async function startUndo(
  context: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome> {
  const read = readSettings(context, flags, problems);
  if (read.status === 'refused') return read;
  const { repo } = read.settings;
  const named = await namedRun(context, operands[0], { repo });
  if (named.status === 'refused') return named;
  const say = sayTo(context);
  const input = {
    run: named.run,
    repo,
    force: switches.has('force'),
    cwd: context.cwd,
    env: withoutKey(context.env),
    say,
  };
  const outcome = await untilSignal(context.interrupt, () => undoRun(input));
  return sayEnd(context, outcome);
}
