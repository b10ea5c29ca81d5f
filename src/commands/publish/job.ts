/** What all steps of a publication know: the run, the settings, the way to GitHub, and what has been made so far. */

import { ownerAndName } from '../../adapters/github/owner-and-name.ts';
import type { OnGitHub } from '../../adapters/github/request.ts';
import type { Settings } from '../../config/resolve.ts';
import {
  type AskedIn,
  askedIn,
  branchOf,
  markerOf,
  planId,
  type RunPlan,
} from '../../domain/github/publishing/identity.ts';
import type { Publication } from '../../domain/github/publishing/publication.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { FindKnown } from '../../domain/secrets/secret-scan.ts';
import { sha256Of } from '../../files/hash.ts';
import type { GitHub } from '../../ports.ts';
import type { CheckedRun } from './read-run.ts';

/** All that the steps of one publication share. */
export interface PublishJob {
  readonly run: CheckedRun;
  /** The run's result without the secrets of this process, its files counted anew. */
  readonly result: RunResult;
  readonly settings: Settings;
  readonly token: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** An empty folder for the time of the publication. */
  readonly scratch: string;
  readonly findKnown: FindKnown;
  readonly say: (line: string) => void;
  /** The same for what has been made; silent in a dry run, which makes nothing. */
  readonly sayMade: (line: string) => void;
  /** The repository that is published to, and the one that the branch is made in. */
  readonly upstream: OnGitHub;
  readonly fork: OnGitHub;
  readonly branch: string;
  /** Stands in the pull request and in the comment of the plan. */
  readonly marker: string;
  readonly askedIn: AskedIn | null;
  /** Page of the workflow run; null outside of one. */
  readonly runUrl: string | null;
  /** Grows with every step, so that what was made is told whatever comes after. */
  readonly told: Publication;
}

/** What a step can come to, besides what it makes. */
export type Refused = { status: 'refused'; outcome: RunOutcome };

/** What a publication is made from. */
export type JobParts = Omit<
  PublishJob,
  'upstream' | 'fork' | 'branch' | 'marker' | 'askedIn' | 'runUrl' | 'sayMade'
> & {
  readonly plan: RunPlan;
  readonly repository: string;
  readonly github: GitHub;
};

/** Brings together what the steps of a publication share. */
export function jobOf({ plan, repository, github, ...parts }: JobParts): PublishJob {
  const { settings, told, env } = parts;
  const id = planId(plan, repository, sha256Of);
  const upstream = named(github, repository);
  const branch = settings.branch ?? branchOf(plan, id);
  Object.assign(told, { repository, branch });
  return {
    ...parts,
    sayMade: settings.dryRun ? () => {} : parts.say,
    upstream,
    fork: settings.headRepository === null ? upstream : named(github, settings.headRepository),
    branch,
    marker: markerOf(id),
    askedIn: askedIn(plan, repository),
    runUrl: runUrlOf(settings.githubServerUrl, env),
  };
}

/** The repository on GitHub that OWNER/NAME means. */
export function named(github: GitHub, repository: string): OnGitHub {
  return { github, ...ownerAndName(repository) };
}

function runUrlOf(server: string, { GITHUB_REPOSITORY, GITHUB_RUN_ID }: PublishJob['env']): string | null {
  if (!/^[\w.-]+\/[\w.-]+$/.test(GITHUB_REPOSITORY ?? '') || !/^\d+$/.test(GITHUB_RUN_ID ?? '')) return null;
  return `${server}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
}
