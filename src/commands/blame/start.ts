/** `patchsmith blame [RUN] [PATH]` on the command line. */

import { isAbsolute } from 'node:path';
import { findRun } from '../../adapters/storage/find-run.ts';
import { RUN_ID } from '../../adapters/storage/run-directory.ts';
import { withoutKey } from '../../config/provider-keys.ts';
import { problem } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { handOver } from '../hand-over.ts';
import { LAST, namedRun } from '../named-run.ts';
import { untilSignal } from '../until-signal.ts';
import { blameRun } from './blame.ts';

/** Starts `patchsmith blame` with the given flags and variables. */
export async function startBlame(
  context: HostContext,
  { operands, flags, problems }: Given,
): Promise<CommandOutcome> {
  const asked = flags.output === undefined || flags.output === 'json' ? [] : [BLAME_OUTPUT];
  if (problems.length + asked.length > 0) return { status: 'refused', problems: [...problems, ...asked] };
  const { run, path } = await meantBy(operands, context);
  const named = await namedRun(context, run);
  // Where there is no last run either, the operand is the name of a run that is not there.
  const isRun = named.status === 'refused' && run === undefined && path !== null;
  if (named.status === 'refused' && !isRun) return named;
  const input = {
    run: named.status === 'ok' ? named.run : (path ?? ''),
    path: isRun ? null : path,
    json: flags.output === 'json',
    redact: context.redact,
    cwd: context.cwd,
    env: withoutKey(context.env),
    print: (document: string) => handOver(context, document),
  };
  const outcome = await untilSignal(context.interrupt, () => blameRun(input));
  return sayEnd(context, outcome);
}

/** A single operand that neither is a run nor has the form of an id is a path in the last one. */
async function meantBy(
  [first, second]: Given['operands'],
  { cwd, env }: Pick<HostContext, 'cwd' | 'env'>,
): Promise<{ run: string | undefined; path: string | null }> {
  const mayBePath =
    first !== undefined &&
    second === undefined &&
    !RUN_ID.test(first) &&
    !isAbsolute(first) &&
    first !== LAST;
  if (!mayBePath) return { run: first, path: second ?? null };
  const found = await findRun(first, { cwd, env: withoutKey(env) });
  return found.status === 'ok' ? { run: first, path: null } : { run: undefined, path: first };
}

const BLAME_OUTPUT = problem(
  'ERR_INVALID_VALUE',
  '--output: blame prints text; use --output json for a machine-readable report',
);
