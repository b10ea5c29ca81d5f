/** The current pull requests by patchsmith, found by their markers and checked by the commits of their branches. */

import * as z from 'zod';
import { recordIn } from '../../../domain/github/publishing/record.ts';
import { type CleanMerge, commitsSince, findHead } from '../branch.ts';
import { PullRequest } from '../pull-requests.ts';
import { GitHubObjectId, type OnGitHub } from '../request.ts';

const Pull = PullRequest.extend({
  state: z.string(),
  created_at: z.iso.datetime({ offset: true }),
  base: z.object({ sha: GitHubObjectId, ref: z.string(), repo: z.object({ full_name: z.string() }) }),
});

/** A pull request whose text has our record, and whose branch is in the repository itself. */
export type OwnPull = Exclude<ReturnType<typeof ownPull>, NotOwn>;

/** Why a pull request is not one to continue. */
export type NotOwn = keyof typeof NOT_OWN;

/** The same, as the end of a sentence. */
export const NOT_OWN = {
  missing: 'there is no such pull request.',
  closed: 'it is closed.',
  'of a fork': 'its branch is in a fork, where anyone could have written it.',
  'not ours': 'its text has no record of patchsmith, so it is not one of its pull requests.',
} as const;

/** The pull request with this number, or why it is not an open one by patchsmith. */
export async function readOwnPull(where: OnGitHub, number: number): Promise<OwnPull | NotOwn> {
  const pull = await where.find('/pulls/{pull_number}', Pull, { pull_number: number });
  const own = pull === null ? 'missing' : ownPull(pull);
  if (typeof own === 'string') return own;
  // GitHub shows the commit that the base was at when the branch was last pushed to.
  const sha = await findHead(where, own.base.branch);
  return sha === null ? 'closed' : { ...own, base: { ...own.base, sha } };
}

/** The open pull requests by patchsmith, oldest first. */
export async function listOwnPulls(where: OnGitHub): Promise<OwnPull[]> {
  const listed = await where.list('/pulls', Pull, { state: 'open', direction: 'asc' });
  return listed.map(ownPull).filter((pull) => typeof pull !== 'string');
}

function ownPull(pull: z.infer<typeof Pull>) {
  const { number, node_id, draft = false, html_url: url, state, title, head, base } = pull;
  const body = pull.body ?? '';
  if (state !== 'open') return 'closed' as const;
  // Only somebody with write access can have put a branch there.
  if (head.repo?.full_name.toLowerCase() !== base.repo.full_name.toLowerCase()) return 'of a fork' as const;
  const found = recordIn(body);
  if (found === null || head.ref === base.ref) return 'not ours' as const;
  return {
    ...{ number, node_id, draft, url, title, body, createdAt: pull.created_at },
    /** OWNER/NAME as the repository is called today. */
    repository: base.repo.full_name,
    branch: head.ref,
    head: head.sha,
    /** The branch to merge into, and the commit it is at. */
    base: { branch: base.ref, sha: base.sha },
    /** `marker` is the id in its markers. */
    ...found,
  };
}

/** The commits of its branch. A branch without a commit by patchsmith is not patchsmith's, whatever the text says. */
export async function commitsOf(where: OnGitHub, { base, head }: OwnPull, cleanMerge: CleanMerge) {
  const commits = await commitsSince(where, { baseSha: base.sha, head, cleanMerge });
  return commits.origins.length === 0 ? null : commits;
}
