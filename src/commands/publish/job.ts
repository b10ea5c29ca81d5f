/**
 * The state shared by all steps of a publication: the run, the settings, the access to GitHub, and everything published so far.
 */

import * as z from 'zod';
import { type CleanMerge, findHead, mergeBaseOf } from '../../adapters/github/branch.ts';
import { Clone } from '../../adapters/github/clone.ts';
import type { PullBranch } from '../../adapters/github/pull-requests.ts';
import { OnGitHub } from '../../adapters/github/request.ts';
import { failed } from '../../domain/failed.ts';
import {
  type AskedIn,
  askedIn,
  branchOf,
  branchSuffix,
  issuePlanId,
  markerOf,
  planId,
  type RunPlan,
} from '../../domain/github/publishing/identity.ts';
import { usageError } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import type { FindKnown } from '../../domain/secrets/secret-scan.ts';
import { sha256Of } from '../../files/hash.ts';
import { cleanTree, type MergedTrees, mergeTrees } from '../../git/store/merge-trees.ts';
import { type PublishPlace, stop } from './place.ts';
import type { CheckedRun } from './read-run.ts';

/** Everything the steps of one publication share. */
export interface PublishJob extends PublishPlace {
  readonly run: CheckedRun;
  /** The run's result without the secrets of this process. Its files are git's own as soon as the patch is proven. */
  readonly result: RunResult;
  readonly plan: RunPlan;
  readonly findKnown: FindKnown;
  readonly redact: Redact;
  /** An empty folder for the duration of the publication. */
  readonly scratch: string;
  readonly branch: string;
  /** Included in the pull request, to find it again. */
  readonly marker: string;
  /** The issue of `--issue`, else the one that the run names. */
  readonly askedIn: AskedIn | null;
  /** Included in the comment on that issue. */
  readonly issueMarker: string;
  /** With `--fallback issue`, the patch as it was proven on the base of today. */
  readonly made: { patch: Uint8Array | null };
}

/** An issue of the repository that is published to. */
export interface IssueOfWork extends Pick<PublishJob, 'issueMarker'> {
  readonly askedIn: AskedIn;
}

/** Assembles what the steps of a publication share. `issue` is that of `--issue`; null when none was named. */
export function jobOf(
  parts: PublishPlace & Pick<PublishJob, 'run' | 'result' | 'plan' | 'findKnown' | 'redact' | 'scratch'>,
  issue: IssueOfWork | null,
): PublishJob {
  const { settings, publication, plan, repository, result } = parts;
  const id = planId(plan, repository, sha256Of);
  const { followUp } = result;
  const suffix = branchSuffix(settings.branchSuffix, result, sha256Of);
  const branch = followUp?.branch ?? `${settings.branch ?? branchOf(plan, id)}${suffix}`;
  publication.branch = branch;
  const job = { ...parts, branch, marker: markerOf(followUp?.marker ?? id), made: { patch: null } };
  if (followUp === null)
    return { ...job, askedIn: askedIn(plan, repository), issueMarker: markerOf(id), ...issue };
  // What became of it is said where people look: one comment on the pull request, whatever it was continued for.
  const { pullRequest: number } = followUp;
  const url = `${settings.githubServerUrl}/${repository}/pull/${number}`;
  return {
    ...job,
    // It has its branch in the repository itself.
    fork: parts.upstream,
    askedIn: { repository, number, url, isPullRequest: true, isHere: true },
    issueMarker: markerOf(issuePlanId(url, sha256Of)),
    ...issue,
  };
}

/** The clone of the repository with the branch. `repository` is the upstream's name of today, which git needs. */
export function cloneFor(place: PublishPlace & Pick<PublishJob, 'scratch'>, repository: string): Clone {
  const { upstream, fork, settings, say, scratch: folder } = place;
  const tell = settings.dryRun ? (line: string) => say(`would ${line}`) : undefined;
  const name = fork === upstream ? repository : `${fork.owner}/${fork.repo}`;
  return new Clone({ ...place, folder, tell, url: `${settings.githubServerUrl}/${name}.git` });
}

/** The merge of two commits, which the clone has from then on. */
export async function mergeIn(
  clone: Clone,
  upstream: OnGitHub,
  ours: string,
  theirs: string,
): Promise<MergedTrees> {
  const before = await mergeBaseOf(upstream, theirs, ours);
  return (await clone.fetch([before, ours, theirs]))
    ? mergeTrees(clone.gitDir, { before, ours, theirs }, clone.network)
    : failed(`GitHub no longer has all of ${before}, ${ours} and ${theirs}`);
}

/** The merge for the commits of a branch that may be merges of its base. */
export function cleanMergeIn(clone: Clone, upstream: OnGitHub): CleanMerge {
  return async (ours, theirs) => cleanTree(await mergeIn(clone, upstream, ours, theirs));
}

/** The commit that a run is published on. */
export interface Base {
  /** OWNER/NAME as the repository is called today, even if it was requested by an older name. */
  readonly repository: string;
  readonly branch: string;
  readonly sha: string;
}

/** What GitHub says of the repository, by its name of today. Throws `GitHubRefused`. */
export function readRepository(where: OnGitHub) {
  return where.get('', RepositoryFacts);
}

const RepositoryFacts = z.object({
  default_branch: z.string(),
  full_name: z.string(),
  archived: z.boolean().default(false),
  disabled: z.boolean().default(false),
});

/**
 * The base, and where the pull request into it is or will be: found by today's names, which is what pull requests contain. It is the
 * one that the run began on, unless `--base` names another one; null for the default branch.
 */
export async function readBase(
  { upstream, fork, settings, branch }: PublishPlace & Pick<PublishJob, 'branch'>,
  began: string | null,
): Promise<{ base: Base; place: PullPlace }> {
  const { default_branch, full_name: repository } = await readRepository(upstream);
  const name = settings.base ?? began ?? default_branch;
  const wrong = (reason: string) => stop(usageError('ERR_BASE_BRANCH', reason));
  if (branch === name || branch === default_branch)
    wrong(`${branch} is the base branch; choose another one with --branch.`);
  const sha = await findHead(upstream, name);
  if (sha === null)
    return wrong(`There is no branch ${JSON.stringify(name)} in ${repository}; name the base with --base.`);
  const here = new OnGitHub(upstream.github, repository);
  const { owner: headOwner, repo: headRepo } = fork === upstream ? here : fork;
  return {
    base: { repository, branch: name, sha },
    place: { upstream: here, wanted: { base: name, branch, headOwner, headRepo } },
  };
}

/** A repository, and what tells the pull request there. */
export interface PullPlace {
  readonly upstream: OnGitHub;
  readonly wanted: PullBranch;
}
