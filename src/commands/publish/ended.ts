/** Where a publication, or a part of it, ends: refusals by GitHub and signals become outcomes. */

import { openGitHub } from '../../adapters/github/client.ts';
import { dryRun, GitHubRefused } from '../../adapters/github/request.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import type { Settings } from '../../config/schema.ts';
import type { Environment } from '../../domain/environment.ts';
import type { Interruption } from '../../domain/run/limits.ts';
import { deadlineExceeded, interrupted, type RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { timeoutSignal, until } from '../../files/time-limit.ts';
import type { GitHub } from '../../ports/github.ts';
import { explainRefusal, workflowsAmong } from './explain-refusal.ts';

/** The facts that explain how a publication ended. */
export interface EndingPlace {
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly result: Pick<RunResult, 'changedFiles'>;
  /** Where the patch can still be found; null if there is none. */
  readonly patchFile: string | null;
}

/** The work's own end, or the outcome of a refusal or a signal. The only place where a refusal by GitHub ends the work. */
export async function ended<End>(place: EndingPlace, work: () => Promise<End>): Promise<End | RunOutcome> {
  const { settings, signal, result, patchFile } = place;
  try {
    return await until(signal, work);
  } catch (error) {
    if (signal.aborted) return stopped(signal, settings);
    if (!(error instanceof GitHubRefused)) throw error;
    return explainRefusal(error.refusal, { workflows: workflowsAmong(result.changedFiles), patchFile });
  }
}

function stopped(signal: AbortSignal, { deadlineMs }: Settings): RunOutcome {
  const { cause, ...reason } = signal.reason as Interruption;
  if (cause === 'signal' && 'signal' in reason)
    return interrupted(reason.signal, `Stopped by ${reason.signal}. Publish again to continue.`);
  return deadlineExceeded(
    `The deadline of ${deadlineMs / 1_000} s passed (--deadline). Publish again to continue.`,
  );
}

/** How to reach GitHub for one command. */
export interface GitHubWanted {
  readonly settings: Settings;
  readonly token: string;
  readonly version: string;
  readonly env: Environment;
  readonly interrupt: AbortSignal;
  readonly secondMs?: number;
  readonly say: (line: string) => void;
}

/** GitHub, read-only in a dry run, and the signal that ends everything: an interrupt or the deadline. */
export async function openFor(input: GitHubWanted): Promise<{ github: GitHub; signal: AbortSignal }> {
  const { settings, interrupt, env, say } = input;
  const signal = AbortSignal.any([interrupt, timeoutSignal(settings.deadlineMs)]);
  const fetch = await fetchByEnvironment(env);
  const client = openGitHub({ ...input, apiUrl: settings.githubApiUrl, signal, fetch });
  return { github: settings.dryRun ? dryRun(client, (line) => say(`would ${line}`)) : client, signal };
}
