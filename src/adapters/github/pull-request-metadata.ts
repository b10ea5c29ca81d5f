/** Labels, people and a milestone for a pull request. */

import * as z from 'zod';
import type { GitHubRefusal } from '../../ports/github.ts';
import { addLabels } from './issues.ts';
import { Login, type PullRequest } from './pull-requests.ts';
import { answerOf, GitHubRefused, type OnGitHub } from './request.ts';

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
  const { labels, assignees, milestone } = wanted;
  const labelled = pull.labels.map(({ name }) => name);
  const problems: (GitHubRefusal | string)[] = [];
  for (const step of [
    () => addLabels(where, pull.number, without(labels, labelled)).then(() => null),
    () => assign(where, pull.number, without(assignees, loginsOf(pull.assignees))),
    () => setMilestone(where, pull, milestone),
    () => askForReviews(where, pull, wanted),
  ]) {
    const done = await answerOf(step());
    const problem = done.status === 'ok' ? done.data : done.refusal;
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

async function assign(where: OnGitHub, number: number, missing: readonly string[]): Promise<string | null> {
  if (missing.length === 0) return null;
  const { assignees } = await where.write(
    'POST /issues/{issue_number}/assignees',
    { issue_number: number, assignees: missing },
    {
      schema: z.object({ assignees: z.array(Login).nullish() }),
      isRepeatable: true,
      planned: { assignees: missing.map((login) => ({ login })) },
    },
  );
  // GitHub does not report the ones it leaves out.
  const left = without(missing, loginsOf(assignees));
  return left.length > 0 ? `GitHub did not assign it to ${left.join(', ')}` : null;
}

async function setMilestone(
  where: OnGitHub,
  pull: PullRequest,
  named: string | null,
): Promise<string | null> {
  if (named === null) return null;
  const number = await milestoneNumber(where, named);
  if (number === null) return `there is no milestone ${JSON.stringify(named)}`;
  if (pull.milestone?.number !== number)
    await where.write('PATCH /issues/{issue_number}', { issue_number: pull.number, milestone: number });
  return null;
}

/** Someone who has already reviewed is not asked again. */
async function askForReviews(
  where: OnGitHub,
  pull: PullRequest,
  { reviewers, teamReviewers }: PullRequestMetadata,
): Promise<string | null> {
  if (reviewers.length === 0 && teamReviewers.length === 0) return null;
  const parameters = { pull_number: pull.number };
  const entry = z.object({ user: Login.nullable() });
  const reviews =
    pull.number === 0 ? [] : await where.list('/pulls/{pull_number}/reviews', entry, parameters);
  const known = [
    ...loginsOf(pull.requested_reviewers),
    ...loginsOf(reviews.flatMap(({ user }) => user ?? [])),
  ];
  const slugs = teamReviewers.map((team) => team.slice(team.indexOf('/') + 1));
  const knownTeams = (pull.requested_teams ?? []).map(({ slug }) => slug);
  const wanted = [
    ...without(reviewers, known).map((name) => ({ name, asked: { reviewers: [name] } })),
    ...without(slugs, knownTeams).map((name) => ({ name, asked: { team_reviewers: [name] } })),
  ];
  const left: string[] = [];
  let why = '';
  // Of several in one request GitHub asks none if it cannot ask one of them.
  for (const { name, asked } of wanted) {
    const route = 'POST /pulls/{pull_number}/requested_reviewers';
    const answer = await answerOf(where.write(route, { ...parameters, ...asked }, { isRepeatable: true }));
    if (answer.status === 'ok') continue;
    if (wanted.length === 1 || answer.refusal.status !== 422) throw new GitHubRefused(answer.refusal);
    left.push(name);
    why = answer.refusal.message.replace(/ - https?:\/\/\S+$/, '');
  }
  return left.length === 0 ? null : `GitHub did not request a review from ${left.join(', ')}: ${why}`;
}

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
