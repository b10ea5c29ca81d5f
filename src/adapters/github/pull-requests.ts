/** Finds, opens, updates, closes and reopens pull requests, and tells which ones patchsmith made. */

import * as z from 'zod';
import { recordIn, type TitledText } from '../../domain/github/publishing/pull-text.ts';
import { type CleanMerge, commitsSince, findHead } from './branch.ts';
import { answerOf, findOrMake, GitHubObjectId, GitHubRefused, type OnGitHub } from './request.ts';

/** An account in GitHub's answers. */
export const Login = z.object({ login: z.string() });

/** The fields used from a pull request in GitHub's answers. */
export const PullRequest = z.object({
  number: z.int(),
  /** Its id in GraphQL. */
  node_id: z.string(),
  html_url: z.string(),
  draft: z.boolean().optional(),
  user: Login.nullish(),
  title: z.string(),
  body: z.string().nullable(),
  /** Without a repository if the fork no longer exists. */
  head: z.object({
    sha: GitHubObjectId,
    ref: z.string(),
    repo: z.object({ full_name: z.string() }).nullable(),
  }),
  base: z.object({ ref: z.string() }),
  merged_at: z.string().nullish(),
  labels: z.array(z.object({ name: z.string() })),
  assignees: z.array(Login).nullish(),
  milestone: z.object({ number: z.int() }).nullable(),
  requested_reviewers: z.array(Login).nullish(),
  requested_teams: z.array(z.object({ slug: z.string() })).nullish(),
});
export type PullRequest = z.infer<typeof PullRequest>;

/** Which branch is to be merged into which. */
export interface PullBranch {
  readonly base: string;
  readonly branch: string;
  /** OWNER/NAME of the branch's repository. */
  readonly headOwner: string;
  readonly headRepo: string;
}

/** A pull request to open. */
interface NewPullRequest extends TitledText, PullBranch {
  readonly draft: boolean;
  /** Whether maintainers may push to the branch, where that is in a fork. */
  readonly maintainerCanModify: boolean;
}

/**
 * The open pull request from a branch, preferably into this base, otherwise into the one that people gave it; null if there
 * is none.
 */
export async function findPullRequest(where: OnGitHub, wanted: PullBranch): Promise<PullRequest | null> {
  const ours = await findPulls(where, wanted, 'open');
  return ours.find((pull) => pull.base.ref === wanted.base) ?? ours[0] ?? null;
}

/** Those from a branch, into whatever base. */
export async function findPulls(
  where: OnGitHub,
  { branch, headOwner, headRepo }: Omit<PullBranch, 'base'>,
  state: 'open' | 'closed',
): Promise<PullRequest[]> {
  const repository = `${headOwner}/${headRepo}`.toLowerCase();
  // For GitHub an owner's branch is in one repository of each network: the list does not find it in another one.
  const isSecond =
    headOwner.toLowerCase() === where.owner.toLowerCase() &&
    repository !== `${where.owner}/${where.repo}`.toLowerCase();
  const from = isSecond ? {} : { head: `${headOwner}:${branch}` };
  const listed = await where.list('/pulls', PullRequest, { state, ...from });
  return listed.filter(
    ({ head }) => head.ref === branch && head.repo?.full_name.toLowerCase() === repository,
  );
}

/** Opens it; if another one is opened at the same moment, or an answer is lost, gives the one that exists. */
export function openPullRequest(
  where: OnGitHub,
  wanted: NewPullRequest,
): Promise<{ thing: PullRequest; isNew: boolean }> {
  const { title, body, base, branch, headOwner, headRepo, draft } = wanted;
  const isFork = headOwner !== where.owner || headRepo !== where.repo;
  const parameters = {
    ...{ title, body, base, draft },
    head: isFork ? `${headOwner}:${branch}` : branch,
    // Forks in the same organisation are distinguished by name.
    ...(isFork && headOwner === where.owner ? { head_repo: headRepo } : {}),
    ...(isFork && !wanted.maintainerCanModify ? { maintainer_can_modify: false } : {}),
  };
  return findOrMake(
    () => where.write('POST /pulls', parameters, { schema: PullRequest, planned: planned(wanted) }),
    () => findPullRequest(where, wanted),
    ({ status }) => status === 422,
  );
}

function planned({ title, body, draft, base, branch }: NewPullRequest): PullRequest {
  return {
    number: 0,
    node_id: '',
    html_url: '',
    draft,
    title,
    body,
    head: { sha: '', ref: branch, repo: null },
    base: { ref: base },
    labels: [],
    assignees: [],
    milestone: null,
    requested_reviewers: [],
    requested_teams: [],
  };
}

/** Gives a pull request a new title and body, or another state. */
export async function updatePullRequest(
  where: OnGitHub,
  pull: Pick<PullRequest, 'number'>,
  update: Partial<TitledText & { state: 'open' | 'closed' }>,
): Promise<void> {
  await where.write('PATCH /pulls/{pull_number}', { pull_number: pull.number, ...update });
}

/** Null once it is a draft again, which also needs `contents: write`; otherwise the reason. */
export async function turnIntoDraft(
  { github }: OnGitHub,
  { node_id }: Pick<PullRequest, 'node_id'>,
): Promise<string | null> {
  const turned = await answerOf(
    github.query({
      query:
        'mutation ($id: ID!) { convertPullRequestToDraft(input: { pullRequestId: $id }) { pullRequest { isDraft } } }',
      variables: { id: node_id },
      schema: z.object({ convertPullRequestToDraft: z.object({}) }),
      planned: { convertPullRequestToDraft: {} },
    }),
  );
  return turned.status === 'ok' ? null : turned.refusal.message;
}

/** Login of the account that closed it; undefined if GitHub does not say. */
export async function closedBy(where: OnGitHub, { number }: PullRequest): Promise<string | undefined> {
  const schema = z.object({ closed_by: Login.nullish() });
  return (await where.get('/issues/{issue_number}', schema, { issue_number: number })).closed_by?.login;
}

/** Whether it is open again: GitHub does not permit it after its branch was recreated. */
export async function reopenPullRequest(where: OnGitHub, pull: PullRequest): Promise<boolean> {
  try {
    await updatePullRequest(where, pull, { state: 'open' });
    return true;
  } catch (error) {
    if (error instanceof GitHubRefused && error.refusal.status === 422) return false;
    throw error;
  }
}

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
