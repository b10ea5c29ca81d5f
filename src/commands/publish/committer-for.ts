/** How a commit gets to GitHub: `--via api` or `--via push`. */

import { apiCommitter, PLANNED_COMMIT } from '../../adapters/github/committers/api.ts';
import { pushCommitter } from '../../adapters/github/committers/push.ts';
import { ownAccount } from '../../adapters/github/sticky-comment.ts';
import type { Committer } from '../../ports.ts';
import type { PublishJob } from './job.ts';

/** The committer that the settings select; with `--dry-run`, one that only prints what it would do. */
export async function committerFor(job: PublishJob): Promise<Committer> {
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

/** An app's token is treated as the workflow's, which belongs to this bot. */
async function authorOf({ fork }: PublishJob): Promise<{ name: string; email: string }> {
  const me = await ownAccount(fork.github);
  const { login, id } = me ?? { login: 'github-actions[bot]', id: 41_898_282 };
  return { name: login, email: `${id}+${login}@users.noreply.github.com` };
}
