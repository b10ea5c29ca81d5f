/** `patchsmith doctor` on the command line. */

import { withoutKey } from '../../config/provider-keys.ts';
import { problem } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { columnsOf, sayEnd } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { handOver } from '../hand-over.ts';
import { readSettings } from '../inputs.ts';
import { connectionLines } from '../start-check.ts';
import { examineMachine } from './doctor.ts';

/** Starts `patchsmith doctor` with the given flags and variables. */
export async function startDoctor(context: HostContext, given: Given): Promise<CommandOutcome> {
  const { flags, problems } = given;
  const asked = flags.output === undefined || flags.output === 'json' ? [] : [DOCTOR_OUTPUT];
  const read = readSettings(context, flags, [...problems, ...asked]);
  if (read.status === 'refused') return read;
  const outcome = await examineMachine({
    settings: read.settings,
    cwd: context.cwd,
    env: withoutKey(context.env),
    connect: () => connectionLines(context, given),
    columns: columnsOf(context.stdout),
    redact: context.redact,
    print: (document) => handOver(context, context.redact(document)),
  });
  return sayEnd(context, outcome);
}

const DOCTOR_OUTPUT = problem(
  'ERR_INVALID_VALUE',
  '--output: doctor prints text; use --output json for a machine-readable report',
);
