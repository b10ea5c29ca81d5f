/** Starts `patchsmith usage`: since when, and of whom. */

import type { Settings } from '../../config/schema.ts';
import { problem } from '../../domain/errors/problem.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayTo } from '../../host/say.ts';
import { untilSignal } from '../until-signal.ts';
import { reportOrganization } from './organization.ts';
import { showUsage, type UsageInput } from './usage.ts';

/** The request in the command line. */
export interface UsageRequest extends Pick<UsageInput, 'env' | 'redact' | 'print' | 'json'> {
  readonly settings: Settings;
  /** Of the whole organisation, instead of past runs. */
  readonly ofAll: boolean;
}

/** The last line is the caller's to print. */
export async function startUsage(context: HostContext, request: UsageRequest): Promise<CommandOutcome> {
  const { settings, ofAll, ...parts } = request;
  const { since, by } = settings;
  const now = context.now();
  const from = since === null ? null : 'at' in since ? since.at : now - since.agoMs;
  if (from !== null && from > now)
    return { status: 'refused', problems: [problem('ERR_INVALID_VALUE', '--since: lies in the future')] };
  const say = sayTo(context);
  const input = { ...parts, from, by, say };
  return ofAll
    ? reportOrganization(context, settings, input)
    : { status: 'printed', outcome: await untilSignal(context.interrupt, () => showUsage(input)) };
}
