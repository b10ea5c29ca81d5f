/** A repository on GitHub as its commands see it, and how their work there ends. */

import { openGitHub } from '../../adapters/github/client.ts';
import { dryRun, GitHubRefused, OnGitHub } from '../../adapters/github/request.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { withoutKeyAndTokens } from '../../config/provider-keys.ts';
import type { Settings } from '../../config/schema.ts';
import type { Environment } from '../../domain/environment.ts';
import { nothingPublished, type PublicationSoFar } from '../../domain/github/publishing/publication.ts';
import type { Interruption } from '../../domain/run/limits.ts';
import { deadlineExceeded, interrupted, publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { timeoutSignal, until } from '../../files/time-limit.ts';
import { explained } from './refusals.ts';

/** Where to work, and as whom. */
export interface PlaceGiven {
  readonly settings: Settings;
  /** OWNER/NAME. */
  readonly repository: string;
  readonly token: string;
  /** patchsmith's. */
  readonly version: string;
  /** Keys and tokens in it are not passed on. */
  readonly env: Environment;
  readonly interrupt: AbortSignal;
  /** Length of a second, in milliseconds, in the pauses before retries. Default: 1,000. */
  readonly secondMs?: number;
  /** A step of the action, for whose readers settings are inputs. Default: false. */
  readonly isStep?: boolean;
  /** Prints one line for people. */
  readonly say: (line: string) => void;
}

/** The repository that is published to, with everything that each step needs there. */
export interface PublishPlace extends Omit<PlaceGiven, 'interrupt'> {
  readonly isStep: boolean;
  /** An interrupt or the deadline. */
  readonly signal: AbortSignal;
  readonly upstream: OnGitHub;
  /** Where the branch is created. */
  readonly fork: OnGitHub;
  /** Page of the workflow run; null outside a workflow. */
  readonly runUrl: string | null;
  /** Reports each published object; silent in a dry run, which publishes nothing. */
  readonly sayMade: (line: string) => void;
  /** Updated after every step, so that everything published is reported, whatever happens later. */
  readonly publication: PublicationSoFar;
  /** Files of the patch that are workflows, which explains refusals. */
  readonly workflows: readonly string[];
  /** Where the patch of the run is; null before there is a run. */
  readonly patchFile: string | null;
}

/** GitHub is read-only in a dry run. Asks it nothing yet. */
export async function openPlace(given: PlaceGiven): Promise<PublishPlace> {
  const { settings, repository, version, interrupt, say } = given;
  const env = withoutKeyAndTokens(given.env);
  const signal = AbortSignal.any([interrupt, timeoutSignal(settings.deadlineMs)]);
  const fetch = await fetchByEnvironment(env);
  const client = openGitHub({ ...given, apiUrl: settings.githubApiUrl, signal, fetch });
  const github = settings.dryRun ? dryRun(client, (line) => say(`would ${line}`)) : client;
  const upstream = new OnGitHub(github, repository);
  return {
    ...given,
    env,
    isStep: given.isStep === true,
    signal,
    upstream,
    fork: settings.headRepository === null ? upstream : new OnGitHub(github, settings.headRepository),
    runUrl: runUrlOf(settings.githubServerUrl, env),
    sayMade: settings.dryRun ? () => {} : say,
    publication: { ...nothingPublished(version), repository, dryRun: settings.dryRun },
    workflows: [],
    patchFile: null,
  };
}

function runUrlOf(server: string, { GITHUB_REPOSITORY, GITHUB_RUN_ID }: Environment): string | null {
  if (!/^[\w.-]+\/[\w.-]+$/.test(GITHUB_REPOSITORY ?? '') || !/^\d+$/.test(GITHUB_RUN_ID ?? '')) return null;
  return `${server}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
}

/** Ends the work at once. Caught in `ended`, as a refusal by GitHub is. */
class WorkStopped extends Error {
  readonly outcome: RunOutcome;

  constructor(outcome: RunOutcome) {
    super(outcome.reason);
    this.outcome = outcome;
  }
}

/** Ends the work with this outcome, from wherever it is found out. */
export function stop(outcome: RunOutcome): never {
  throw new WorkStopped(outcome);
}

/** The outcome of what ends the work before its end; null when nothing does. */
export async function obstacleIn(
  place: PublishPlace,
  work: () => Promise<unknown>,
): Promise<RunOutcome | null> {
  return ended(place, async () => {
    await work();
    return null;
  });
}

/** The work's own end, or the outcome with which it was stopped. The only place where a refusal ends the work. */
export async function ended<End>(
  { settings, signal, workflows }: PublishPlace,
  work: () => Promise<End>,
): Promise<End | RunOutcome> {
  try {
    return await until(signal, work);
  } catch (error) {
    if (signal.aborted) return cutOff(signal, settings);
    if (error instanceof WorkStopped) return error.outcome;
    if (!(error instanceof GitHubRefused)) throw error;
    return publishFailed('ERR_GITHUB_REFUSED', explained(error.refusal, workflows));
  }
}

function cutOff(signal: AbortSignal, { deadlineMs }: Settings): RunOutcome {
  const { cause, ...reason } = signal.reason as Interruption;
  if (cause === 'signal' && 'signal' in reason)
    return interrupted(reason.signal, `Stopped by ${reason.signal}. Publish again to continue.`);
  return deadlineExceeded(
    `The deadline of ${deadlineMs / 1_000} s passed (--deadline). Publish again to continue.`,
  );
}
