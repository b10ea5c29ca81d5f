/** The branch to merge into, as it is now. */

import * as z from 'zod';
import { findHead } from '../../adapters/github/branch.ts';
import { getOrThrow, type OnGitHub } from '../../adapters/github/request.ts';
import { usageError } from '../../domain/run/outcome.ts';
import { type PublishJob, type Refused, repositoryNamed } from './job.ts';

/** The commit that a run is published on. */
export interface Base {
  /** OWNER/NAME as the repository is called today, even if it was requested by an older name. */
  readonly repository: string;
  readonly branch: string;
  readonly sha: string;
}

/** What GitHub says of the repository, by its name of today. Throws `GitHubRefused`. */
export function readRepository(where: OnGitHub) {
  const route = 'GET /repos/{owner}/{repo}';
  return getOrThrow(where, { route, schema: RepositoryFacts });
}

const RepositoryFacts = z.object({
  default_branch: z.string(),
  full_name: z.string(),
  archived: z.boolean().default(false),
  disabled: z.boolean().default(false),
});

/** `--base`, otherwise the branch the run began on, otherwise the repository's default branch. */
export async function readBase({
  upstream,
  branch,
  result,
  settings,
  publication,
}: PublishJob): Promise<Refused | { status: 'ok'; base: Base }> {
  const { default_branch, full_name } = await readRepository(upstream);
  const name = settings.base ?? result.baseBranch ?? default_branch;
  const refuse = (reason: string): Refused => ({
    status: 'refused',
    outcome: usageError('ERR_BASE_BRANCH', reason),
  });
  if (branch === name || branch === default_branch)
    return refuse(`${branch} is the base branch; choose another one with --branch.`);
  const sha = await findHead(upstream, name);
  if (sha === null)
    return refuse(`There is no branch ${JSON.stringify(name)} in ${full_name}; name the base with --base.`);
  publication.base = { branch: name, sha };
  return { status: 'ok', base: { repository: full_name, branch: name, sha } };
}

/** Where the pull request is or will be. They are found by today's names, which is what they contain. */
export function pullPlace(job: PublishJob, base: Pick<Base, 'repository' | 'branch'>) {
  const upstream = repositoryNamed(job.upstream.github, base.repository);
  const { owner: headOwner, repo: headRepo } = job.fork === job.upstream ? upstream : job.fork;
  return { upstream, wanted: { base: base.branch, branch: job.branch, headOwner, headRepo } };
}
