/** `patchsmith undo [RUN]` on the command line. */

import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd, sayTo } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { readSettings, withoutKey } from '../inputs.ts';
import { namedRun } from '../named-run.ts';
import { untilSignal } from '../until-signal.ts';
import { undoRun } from './undo.ts';

/** Starts `patchsmith undo` with the given flags and variables. */
export async function startUndo(
  edge: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome> {
  const read = readSettings(edge, flags, problems);
  if (read.status === 'refused') return read;
  const { repo } = read.settings;
  const named = await namedRun(edge, operands[0], { repo });
  if (named.status === 'refused') return named;
  const say = sayTo(edge);
  const input = {
    run: named.run,
    repo,
    force: switches.has('force'),
    cwd: edge.cwd,
    env: withoutKey(edge.env),
    say,
  };
  const outcome = await untilSignal(edge.interrupt, () => undoRun(input));
  return sayEnd(edge, outcome);
}
