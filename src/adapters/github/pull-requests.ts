/** Pull requests: found, opened, brought up to date, and furnished with what people asked for. */

import * as z from 'zod';
import type { GitHubRefusal } from '../../ports.ts';
import { find, GitHubRefused, listAll, need, type OnGitHub } from './asking.ts';

const Login = z.object({ login: z.string() });

const PullRequest = z.object({
  number: z.int(),
  html_url: z.string(),
  draft: z.boolean().optional(),
  user: Login.nullish(),
  title: z.string(),
  body: z.string().nullable(),
  head: z.object({ sha: z.string() }),
  labels: z.array(z.object({ name: z.string() })),
  assignees: z.array(Login).nullish(),
  milestone: z.object({ number: z.int() }).nullable(),
  requested_reviewers: z.array(Login).nullish(),
  requested_teams: z.array(z.object({ slug: z.string() })).nullish(),
});
export type PullRequest = z.infer<typeof PullRequest>;

export interface PullRequestText {
  readonly title: string;
  readonly body: string;
}

export interface NewPullRequest extends PullRequestText {
  readonly base: string;
  readonly branch: string;
  /** OWNER/NAME of the branch's repository. */
  readonly headOwner: string;
  readonly headRepo: string;
  readonly draft: boolean;
}

/** The open pull request from a branch into a base; null when there is none. */
export async function findPullRequest(
  where: OnGitHub,
  { base, branch, headOwner }: Pick<NewPullRequest, 'base' | 'branch' | 'headOwner'>,
): Promise<PullRequest | null> {
  const [found] = await need(where, {
    route: 'GET /repos/{owner}/{repo}/pulls',
    parameters: { state: 'open', head: `${headOwner}:${branch}`, base, per_page: 1 },
    schema: z.array(PullRequest),
  });
  return found ?? null;
}

/** Opens it; when another one opens it at the same moment, or an answer is lost, takes the one that is there. */
export async function openPullRequest(
  where: OnGitHub,
  wanted: NewPullRequest,
): Promise<{ pull: PullRequest; isNew: boolean }> {
  const { title, body, base, branch, headOwner, headRepo, draft } = wanted;
  const isFork = headOwner !== where.owner || headRepo !== where.repo;
  const request = {
    route: 'POST /repos/{owner}/{repo}/pulls',
    parameters: {
      title,
      body,
      base,
      head: isFork ? `${headOwner}:${branch}` : branch,
      // Forks in the same organisation are told apart by name.
      ...(isFork && headOwner === where.owner ? { head_repo: headRepo } : {}),
      draft,
    },
    schema: PullRequest,
    planned: planned(wanted),
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return { pull: await need(where, request), isNew: true };
    } catch (error) {
      if (!(error instanceof GitHubRefused)) throw error;
      const { status } = error.refusal;
      const isOutage = status === null || status >= 500;
      if (!isOutage && status !== 422) throw error;
      const there = await findPullRequest(where, wanted);
      if (there !== null) return { pull: there, isNew: isOutage };
      if (!isOutage || tries === 3) throw error;
    }
  }
}

function planned({ title, body, draft }: NewPullRequest): PullRequest {
  return {
    number: 0,
    html_url: '',
    draft,
    title,
    body,
    head: { sha: '' },
    labels: [],
    assignees: [],
    milestone: null,
    requested_reviewers: [],
    requested_teams: [],
  };
}

export async function updatePullRequest(
  where: OnGitHub,
  pull: PullRequest,
  { title, body }: PullRequestText,
): Promise<void> {
  await need(where, {
    route: 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
    parameters: { pull_number: pull.number, title, body },
    schema: PullRequest,
    isRepeatable: true,
    planned: { ...pull, title, body },
  });
}

export interface Furnishing {
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
  readonly teamReviewers: readonly string[];
  readonly assignees: readonly string[];
  /** Number or title. */
  readonly milestone: string | null;
}

/** Adds what is missing and takes nothing away. What GitHub refuses does not keep the rest from being added. */
export async function furnish(
  where: OnGitHub,
  pull: PullRequest,
  wanted: Furnishing,
): Promise<(GitHubRefusal | string)[]> {
  const problems: (GitHubRefusal | string)[] = [];
  for (const step of [addLabels, addAssignees, setMilestone, askForReviews]) {
    try {
      const problem = await step(where, pull, wanted);
      if (problem !== null) problems.push(problem);
    } catch (error) {
      if (!(error instanceof GitHubRefused)) throw error;
      problems.push(error.refusal);
    }
  }
  return problems;
}

type Step = (where: OnGitHub, pull: PullRequest, wanted: Furnishing) => Promise<string | null>;

const Anything = z.unknown();

const addLabels: Step = async (where, pull, { labels }) => {
  const missing = without(
    labels,
    pull.labels.map(({ name }) => name),
  );
  if (missing.length === 0) return null;
  await need(where, {
    route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
    parameters: { issue_number: pull.number, labels: missing },
    schema: Anything,
    isRepeatable: true,
    planned: [],
  });
  return null;
};

const addAssignees: Step = async (where, pull, { assignees }) => {
  const missing = without(assignees, loginsOf(pull.assignees));
  if (missing.length === 0) return null;
  const { assignees: now } = await need(where, {
    route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/assignees',
    parameters: { issue_number: pull.number, assignees: missing },
    schema: z.object({ assignees: z.array(Login).nullish() }),
    isRepeatable: true,
    planned: { assignees: missing.map((login) => ({ login })) },
  });
  // GitHub says nothing of those whom it leaves out.
  const left = without(missing, loginsOf(now));
  return left.length > 0 ? `GitHub does not let it be assigned to ${left.join(', ')}` : null;
};

const setMilestone: Step = async (where, pull, { milestone }) => {
  if (milestone === null) return null;
  const number = await milestoneNumber(where, milestone);
  if (number === null) return `there is no milestone ${JSON.stringify(milestone)}`;
  if (pull.milestone?.number === number) return null;
  await need(where, {
    route: 'PATCH /repos/{owner}/{repo}/issues/{issue_number}',
    parameters: { issue_number: pull.number, milestone: number },
    schema: Anything,
    isRepeatable: true,
    planned: null,
  });
  return null;
};

/** Who has given a review is not asked again. */
const askForReviews: Step = async (where, pull, { reviewers, teamReviewers }) => {
  if (reviewers.length === 0 && teamReviewers.length === 0) return null;
  const reviews =
    pull.number === 0
      ? []
      : await listAll(where, {
          route: 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
          parameters: { pull_number: pull.number },
          entry: z.object({ user: Login.nullable() }),
        });
  const known = [
    ...loginsOf(pull.requested_reviewers),
    ...reviews.flatMap(({ user }) => (user ? [user.login] : [])),
  ];
  const people = without(reviewers, known);
  const teams = without(
    teamReviewers,
    (pull.requested_teams ?? []).map(({ slug }) => slug),
  );
  if (people.length === 0 && teams.length === 0) return null;
  await need(where, {
    route: 'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers',
    parameters: {
      pull_number: pull.number,
      ...(people.length > 0 ? { reviewers: people } : {}),
      ...(teams.length > 0 ? { team_reviewers: teams } : {}),
    },
    schema: Anything,
    isRepeatable: true,
    planned: null,
  });
  return null;
};

const Milestone = z.object({ number: z.int(), title: z.string() });

/** A number is a number first, and a title when there is no such number. */
async function milestoneNumber(where: OnGitHub, named: string): Promise<number | null> {
  if (/^\d{1,9}$/.test(named)) {
    const found = await find(where, {
      route: 'GET /repos/{owner}/{repo}/milestones/{milestone_number}',
      parameters: { milestone_number: Number(named) },
      schema: Milestone,
    });
    if (found) return found.number;
  }
  const all = await listAll(where, {
    route: 'GET /repos/{owner}/{repo}/milestones',
    parameters: { state: 'all' },
    entry: Milestone,
  });
  return all.find(({ title }) => title === named)?.number ?? null;
}

function loginsOf(people: readonly { login: string }[] | null | undefined): string[] {
  return (people ?? []).map(({ login }) => login);
}

/** GitHub takes names in any case for the same. */
function without(wanted: readonly string[], there: readonly string[]): string[] {
  const known = new Set(there.map((name) => name.toLowerCase()));
  return wanted.filter((name) => !known.has(name.toLowerCase()));
}
