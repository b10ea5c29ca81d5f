/** The pull requests and comments of patchsmith in a repository, and what the runs behind them have cost. */

import * as z from 'zod';
import { originOfCommit } from '../../domain/github/publishing/commit-message.ts';
import {
  costOfCommit,
  countedOnce,
  type PullOutcome,
  type RunCost,
  recordOfCosts,
} from '../../domain/github/publishing/costs.ts';
import { ownAccount } from './access.ts';
import { GitHubObjectId, type OnGitHub } from './request.ts';

const Writer = z.object({ login: z.string(), type: z.string() }).nullish();
const Thread = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  user: Writer,
  state: z.string(),
  html_url: z.string(),
  created_at: z.iso.datetime({ offset: true }),
  pull_request: z.object({ merged_at: z.string().nullish() }).optional(),
});
const Comment = z.object({ issue_url: z.string(), body: z.string().nullish(), user: Writer });
const Commit = z.object({
  commit: z.object({ message: z.string(), tree: z.object({ sha: GitHubObjectId }) }),
  parents: z.array(z.unknown()),
});

/** Of all that was updated since, in Unix milliseconds. Only texts of the token's account, or of a bot, are believed. */
export async function readCosts(where: OnGitHub, sinceMs: number) {
  const since = new Date(sinceMs).toISOString().replace(/\.\d+/, '');
  const me = await ownAccount(where.github);
  const isOurs = (user: z.infer<typeof Writer>) =>
    user != null && (user.login === me?.login || (user.type === 'Bot' && !me?.login.endsWith('[bot]')));
  const pulls: (PullOutcome & { createdAt: number; marker: string })[] = [];
  // `marker` is the id of the plan, or of the pull request that was continued; `number` that of what says so.
  const costs: (RunCost & { marker: string; number: number })[] = [];
  const threads = await where.list('/issues', Thread, { state: 'all', since });
  for (const { number, title, body, user, state, html_url: url, created_at, pull_request } of threads) {
    // The last one, where ours is: people may have written below it.
    const marker = [...(body ?? '').matchAll(/<!-- patchsmith:([0-9a-f]{8}) -->/g)].at(-1)?.[1];
    if (pull_request === undefined || marker === undefined || !isOurs(user)) continue;
    const commits = await where.list('/pulls/{pull_number}/commits', Commit, { pull_number: number });
    let edited = false;
    for (const { commit, parents } of commits) {
      const origin = originOfCommit(commit.message);
      if (origin?.tree === commit.tree.sha)
        costs.push({ runId: origin.runId, usd: costOfCommit(commit.message), marker, number });
      else edited ||= parents.length < 2;
    }
    const isMerged = typeof pull_request.merged_at === 'string';
    pulls.push({
      ...{ number, title, url, edited, marker },
      state: state === 'open' ? 'open' : isMerged ? 'merged' : 'closed',
      createdAt: Date.parse(created_at),
    });
  }
  const comments = await where.list('/issues/comments', Comment, { since });
  // What went wrong on the pull request of a plan belongs to the plan.
  const plans = new Map(pulls.map(({ number, marker }) => [number, marker]));
  for (const { issue_url, body, user } of comments) {
    const record = isOurs(user) ? recordOfCosts(body ?? '') : null;
    const number = Number(issue_url.split('/').at(-1));
    for (const cost of record?.costs ?? [])
      costs.push({ ...cost, marker: plans.get(number) ?? record?.marker ?? '', number });
  }
  return { pulls, costs: countedOnce(costs) };
}
