/** `patchsmith blame [RUN] [PATH]` on the command line. */

import { withoutKey } from '../../config/provider-keys.ts';
import { problem } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { handOver } from '../hand-over.ts';
import { namedRun } from '../named-run.ts';
import { untilSignal } from '../until-signal.ts';
import { blameRun } from './blame.ts';

/** Starts `patchsmith blame` with the given flags and variables. */
export async function startBlame(
  context: HostContext,
  { operands, flags, problems }: Given,
): Promise<CommandOutcome> {
  const asked = flags.output === undefined || flags.output === 'json' ? [] : [BLAME_OUTPUT];
  if (problems.length + asked.length > 0) return { status: 'refused', problems: [...problems, ...asked] };
  const named = await namedRun(context, operands[0]);
  if (named.status === 'refused') return named;
  const input = {
    run: named.run,
    path: operands[1] ?? null,
    json: flags.output === 'json',
    redact: context.redact,
    cwd: context.cwd,
    env: withoutKey(context.env),
    print: (document: string) => handOver(context.stdout, document),
  };
  const outcome = await untilSignal(context.interrupt, () => blameRun(input));
  return sayEnd(context, outcome);
}

const BLAME_OUTPUT = problem(
  'ERR_INVALID_VALUE',
  '--output: blame prints text; use --output json for a machine-readable report',
);
