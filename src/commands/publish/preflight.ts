/**
 * Checks whether a publication would be permitted, before a run spends anything. GitHub has no query for that, so this sends
 * requests that have no effect: a blob that no commit contains, and a pull request from a branch to itself.
 */

import { findHead } from '../../adapters/github/branch.ts';
import { GitHubRefused, type OnGitHub } from '../../adapters/github/request.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { checkRulesAhead } from './branch-rules.ts';
import { readRepository } from './job.ts';
import { type PublishPlace, stop } from './place.ts';
import { explained } from './refusals.ts';

/**
 * Ends with exit 11, the missing permissions and the fix if publishing is not permitted. Leaves nothing visible. `continues`: there
 * is a pull request to continue, so that none has to be opened, and rules are asked for with its round.
 */
export async function preflightPublishing(place: PublishPlace, continues: boolean): Promise<void> {
  try {
    await askForAll(place, continues);
  } catch (error) {
    if (!(error instanceof GitHubRefused)) throw error;
    stop(publishFailed('ERR_GITHUB_REFUSED', `Publishing would fail: ${explained(error.refusal)}`));
  }
}

async function askForAll(
  { repository, upstream, fork, settings }: PublishPlace,
  continues: boolean,
): Promise<void> {
  const head = settings.headRepository ?? repository;
  const defaultBranch = await defaultBranchOf(upstream, repository);
  if (head !== repository) await defaultBranchOf(fork, head);
  const base = settings.base ?? defaultBranch;
  if ((await findHead(upstream, base)) === null)
    stop(
      publishFailed(
        'ERR_BRANCH_MISSING',
        `There is no branch ${base} in ${repository}. Name one with --base.`,
      ),
    );
  // Git stores branches like files: `patchsmith` and `patchsmith/x` exclude each other.
  const parts = (settings.branch ?? 'patchsmith/x').split('/').slice(0, -1);
  for (const name of parts.map((_, depth) => parts.slice(0, depth + 1).join('/')))
    if ((await findHead(fork, name)) !== null)
      stop(
        publishFailed(
          'ERR_BRANCH_NAME_TAKEN',
          `The repository ${head} has a branch ${name}, so it cannot have branches below it, such as ${name}/x. Rename it, or choose another name with --branch.`,
        ),
      );
  await fork.write('POST /git/blobs', { content: '', encoding: 'utf-8' }, { isRepeatable: true });
  if (continues) return;
  await askForPullRequest(upstream, base);
  const branch = settings.branch ?? 'patchsmith/x';
  const isNew = settings.branch === null || (await findHead(fork, branch)) === null;
  await checkRulesAhead(fork, settings, { branch, isNew, isMerge: false });
}

/** To a token that may open pull requests GitHub answers that there is nothing to merge. */
async function askForPullRequest(upstream: OnGitHub, base: string): Promise<void> {
  const title = 'patchsmith checks whether it may open pull requests';
  try {
    await upstream.write('POST /pulls', { title, head: base, base }, { isRepeatable: true });
  } catch (error) {
    if (!(error instanceof GitHubRefused) || error.refusal.status !== 422) throw error;
  }
}

async function defaultBranchOf(where: OnGitHub, name: string): Promise<string> {
  const { default_branch, archived, disabled } = await readRepository(where);
  const state = archived ? 'archived, so nothing can be published in it' : disabled && 'disabled by GitHub';
  if (state) stop(publishFailed('ERR_REPOSITORY_CLOSED', `The repository ${name} is ${state}.`));
  return default_branch;
}
