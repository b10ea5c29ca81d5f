/** Closes pull requests, finds those that were closed, and opens them again. */

import * as z from 'zod';
import { findPulls, Login, type NewPullRequest, PullRequest } from './pull-requests.ts';
import { GitHubRefused, getOrNull, getOrThrow, type OnGitHub } from './request.ts';

/** A pull request that was closed without being merged. */
export interface ClosedPullRequest {
  readonly pull: PullRequest;
  /** Login of the account that closed it; null if GitHub does not say. */
  readonly by: string | null;
}

/** The newest closed pull request from a branch into this base, if it has our marker and was not merged; otherwise null. */
export async function findUnmerged(
  where: OnGitHub,
  wanted: Pick<NewPullRequest, 'base' | 'branch' | 'headOwner' | 'headRepo'>,
  marker: string,
): Promise<ClosedPullRequest | null> {
  const closed = (await findPulls(where, wanted, 'closed')).filter(({ base }) => base.ref === wanted.base);
  const [newest] = closed.sort((a, b) => b.number - a.number);
  if (newest === undefined || newest.merged_at != null || !newest.body?.includes(marker)) return null;
  const { closed_by } = await getOrThrow(where, {
    route: 'GET /repos/{owner}/{repo}/issues/{issue_number}',
    parameters: { issue_number: newest.number },
    schema: z.object({ closed_by: Login.nullish() }),
  });
  return { pull: newest, by: closed_by?.login ?? null };
}

/** Closes it without merging. Throws refusals as `getOrThrow` does. */
export async function closePullRequest(where: OnGitHub, pull: PullRequest): Promise<void> {
  await setState(where, pull, 'closed');
}

/** The pull request, open again; null if GitHub does not permit it, as after its branch was recreated. */
export async function reopenPullRequest(where: OnGitHub, pull: PullRequest): Promise<PullRequest | null> {
  try {
    return await setState(where, pull, 'open');
  } catch (error) {
    if (error instanceof GitHubRefused && error.refusal.status === 422) return null;
    throw error;
  }
}

function setState(where: OnGitHub, pull: PullRequest, state: 'open' | 'closed'): Promise<PullRequest> {
  return getOrThrow(where, {
    route: 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
    parameters: { pull_number: pull.number, state },
    schema: PullRequest,
    isRepeatable: true,
    planned: pull,
  });
}

/** Deletes a ref, such as `refs/heads/main`; one that is gone already is fine. */
export async function deleteRef(where: OnGitHub, name: string): Promise<void> {
  const route = 'DELETE /repos/{owner}/{repo}/git/refs/{ref}';
  const parameters = { ref: name.replace('refs/', '') };
  try {
    await getOrNull(where, { route, parameters, schema: z.unknown(), isRepeatable: true, planned: '' });
  } catch (error) {
    const isGone = error instanceof GitHubRefused && /does not exist/i.test(error.refusal.message);
    if (!isGone) throw error;
  }
}
