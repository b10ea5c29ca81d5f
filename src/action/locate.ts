/** Mode locate: finds the pull request by patchsmith that the event is about. */

import { fetchByEnvironment } from '../adapters/network/machine-proxy.ts';
import type { Given } from '../commands/command.ts';
import { readSettings } from '../commands/inputs.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import type { ActionStep } from './step.ts';

/** Length of a pause in which GitHub computes whether something can be merged. */
const PAUSE_MS = 5_000;

/** Sets the outputs. Fails only where GitHub cannot be asked. */
export async function startLocate(
  context: HostContext,
  { flags, problems }: Given,
  step: ActionStep,
): Promise<CommandOutcome> {
  const { env, interrupt: signal, version } = context;
  const read = readSettings(context, flags, problems);
  if (read.status === 'refused') return read;
  const { repository, githubApiUrl: apiUrl } = read.settings;
  const { openGitHub } = await import('../adapters/github/client.ts');
  const { locate } = await import('../engine/continued/locate.ts');
  const fetch = await fetchByEnvironment(env);
  const token = env.GITHUB_TOKEN || env.GH_TOKEN || null;
  const github = openGitHub({ apiUrl, token, version, signal, fetch });
  const { outcome, number, conflicting } = await locate({ env, repository, github, pauseMs: PAUSE_MS });
  step.onLocated(number, conflicting);
  return { status: 'printed', outcome };
}
