/** The way in which a commit gets to GitHub: `--via api` or `--via push`. */

import * as z from 'zod';
import { apiCommitter, PLANNED_COMMIT } from '../adapters/github/api-committer.ts';
import { pushCommitter } from '../adapters/workspace/push-committer.ts';
import type { Committer } from '../ports.ts';
import type { Job } from './job.ts';

export async function committerFor(job: Job): Promise<Committer> {
  const { fork, settings, scratch, token, signal, env, say } = job;
  if (settings.via === 'api') return apiCommitter(fork, { mustBeVerified: settings.sign === 'required' });
  const url = `${settings.githubServerUrl}/${fork.owner}/${fork.repo}.git`;
  if (settings.dryRun)
    return {
      async commit({ branch }) {
        say(`would git push ${url} ${PLANNED_COMMIT}:refs/heads/${branch}`);
        return { status: 'made', sha: PLANNED_COMMIT, verified: null };
      },
    };
  return pushCommitter({ folder: scratch, url, token, author: await authorOf(job), signal, env });
}

/** Tokens of apps may not ask who they are; the one of a workflow is this bot's. */
async function authorOf({ fork }: Job): Promise<{ name: string; email: string }> {
  const me = await fork.github.ask({
    route: 'GET /user',
    schema: z.object({ login: z.string(), id: z.int() }),
  });
  const { login, id } = me.status === 'ok' ? me.data : { login: 'github-actions[bot]', id: 41_898_282 };
  return { name: login, email: `${id}+${login}@users.noreply.github.com` };
}
