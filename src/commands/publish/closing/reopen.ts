/** A pull request of the plan that was closed without being merged: it stays closed unless someone decides otherwise. */

import { ownAccount } from '../../../adapters/github/access.ts';
import { findPullRequest, findUnmerged, type PullRequest } from '../../../adapters/github/pull-requests.ts';
import type { Settings } from '../../../config/schema.ts';
import { publishFailed } from '../../../domain/run/outcome.ts';
import type { pullPlace, Refused } from '../job.ts';

/** The pull request to reopen, and null for none: there is an open one, or none that was closed unmerged. */
export async function findClosed(
  { upstream, wanted }: ReturnType<typeof pullPlace>,
  marker: string,
  setting: Settings['reopen'],
): Promise<Refused | { status: 'ok'; closed: PullRequest | null }> {
  const found = await findUnmerged(upstream, wanted, marker);
  if (found === null || (await findPullRequest(upstream, wanted)) !== null)
    return { status: 'ok', closed: null };
  const me = setting === 'always' ? null : await ownAccount(upstream.github);
  if (setting === 'always' || (me !== null && me.login === found.by))
    return { status: 'ok', closed: found.pull };
  const by = found.by === null ? '' : ` by ${found.by}`;
  return {
    status: 'refused',
    outcome: publishFailed(
      'ERR_PULL_REQUEST_CLOSED',
      `The pull request of this plan was closed${by} without being merged, and stays closed (--reopen never): ${found.pull.html_url}. Reopen it and publish again, or publish with --reopen always.`,
    ),
  };
}
