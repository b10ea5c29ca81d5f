/** Labels, people and a milestone for a pull request. */

import * as z from 'zod';
import type { GitHubRefusal } from '../../ports/github.ts';
import { addLabels } from './issues.ts';
import { Login, type PullRequest } from './pull-requests.ts';
import { dataOf, GitHubRefused, type OnGitHub } from './request.ts';

/** What to set on a pull request besides its text. */
export interface PullRequestMetadata {
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
  /** Slugs, with or without the organisation. */
  readonly teamReviewers: readonly string[];
  readonly assignees: readonly string[];
  /** Number or title. */
  readonly milestone: string | null;
}

/** Adds what is missing and removes nothing. A refusal by GitHub does not keep the rest from being added. */
export async function setMetadata(
  where: OnGitHub,
  pull: PullRequest,
  wanted: PullRequestMetadata,
): Promise<(GitHubRefusal | string)[]> {
  const problems: (GitHubRefusal | string)[] = [];
  for (const step of [setLabels, addAssignees, setMilestone, askForReviews]) {
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

type MetadataStep = (
  where: OnGitHub,
  pull: PullRequest,
  wanted: PullRequestMetadata,
) => Promise<string | null>;

const setLabels: MetadataStep = async (where, pull, { labels }) => {
  const missing = without(
    labels,
    pull.labels.map(({ name }) => name),
  );
  if (missing.length > 0) await addLabels(where, pull.number, missing);
  return null;
};

const addAssignees: MetadataStep = async (where, pull, { assignees }) => {
  const missing = without(assignees, loginsOf(pull.assignees));
  if (missing.length === 0) return null;
  const { assignees: now } = await where.write(
    'POST /issues/{issue_number}/assignees',
    { issue_number: pull.number, assignees: missing },
    {
      schema: z.object({ assignees: z.array(Login).nullish() }),
      isRepeatable: true,
      planned: { assignees: missing.map((login) => ({ login })) },
    },
  );
  // GitHub does not report the ones it leaves out.
  const left = without(missing, loginsOf(now));
  return left.length > 0 ? `GitHub did not assign it to ${left.join(', ')}` : null;
};

const setMilestone: MetadataStep = async (where, pull, { milestone }) => {
  if (milestone === null) return null;
  const number = await milestoneNumber(where, milestone);
  if (number === null) return `there is no milestone ${JSON.stringify(milestone)}`;
  if (pull.milestone?.number === number) return null;
  await where.write('PATCH /issues/{issue_number}', { issue_number: pull.number, milestone: number });
  return null;
};

/** Someone who has already reviewed is not asked again. */
const askForReviews: MetadataStep = async (where, pull, { reviewers, teamReviewers }) => {
  if (reviewers.length === 0 && teamReviewers.length === 0) return null;
  const reviews =
    pull.number === 0
      ? []
      : await where.list('/pulls/{pull_number}/reviews', z.object({ user: Login.nullable() }), {
          pull_number: pull.number,
        });
  const known = [
    ...loginsOf(pull.requested_reviewers),
    ...reviews.flatMap(({ user }) => (user ? [user.login] : [])),
  ];
  const people = without(reviewers, known);
  const teams = without(
    teamReviewers.map((team) => team.slice(team.indexOf('/') + 1)),
    (pull.requested_teams ?? []).map(({ slug }) => slug),
  );
  const wanted = [
    ...people.map((name) => ({ name, asked: { reviewers: [name] } })),
    ...teams.map((name) => ({ name, asked: { team_reviewers: [name] } })),
  ];
  const left: string[] = [];
  let why = '';
  // Of several in one request GitHub asks none if it cannot ask one of them.
  for (const { name, asked } of wanted) {
    const answer = await where.ask({
      route: 'POST /pulls/{pull_number}/requested_reviewers',
      parameters: { pull_number: pull.number, ...asked },
      isRepeatable: true,
    });
    if (answer.status === 'ok') continue;
    if (wanted.length === 1 || answer.refusal.status !== 422) dataOf(answer);
    left.push(name);
    why = answer.refusal.message.replace(/ - https?:\/\/\S+$/, '');
  }
  return left.length === 0 ? null : `GitHub did not request a review from ${left.join(', ')}: ${why}`;
};

const Milestone = z.object({ number: z.int(), title: z.string() });

/** A number is taken as a milestone's number first, and as a title if there is no such milestone. */
async function milestoneNumber(where: OnGitHub, named: string): Promise<number | null> {
  if (/^\d{1,9}$/.test(named)) {
    const path = '/milestones/{milestone_number}';
    const found = await where.find(path, Milestone, { milestone_number: Number(named) });
    if (found) return found.number;
  }
  const all = await where.list('/milestones', Milestone, { state: 'all' });
  return all.find(({ title }) => title === named)?.number ?? null;
}

function loginsOf(people: readonly { login: string }[] | null | undefined): string[] {
  return (people ?? []).map(({ login }) => login);
}

/** GitHub treats names case-insensitively. */
function without(wanted: readonly string[], there: readonly string[]): string[] {
  const known = new Set(there.map((name) => name.toLowerCase()));
  return wanted.filter((name) => !known.has(name.toLowerCase()));
}
