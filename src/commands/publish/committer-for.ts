/** How a commit gets to GitHub: `--via api` or `--via push`. */

import { apiCommitter, PLANNED_COMMIT } from '../../adapters/github/committers/api.ts';
import { pushCommitter } from '../../adapters/github/committers/push.ts';
import { ownAccount } from '../../adapters/github/sticky-comment.ts';
import type { MessageWishes } from '../../domain/github/publishing/commit-message.ts';
import type { CommitOrder, Committer, Person } from '../../ports/github.ts';
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
  return pushCommitter({ folder: scratch, url, token, self: await accountOf(job), signal, env });
}

/** The message and the author of each commit, according to the settings. */
export async function commitWishes(
  job: PublishJob,
): Promise<MessageWishes & Pick<CommitOrder, 'author' | 'committer'>> {
  const { commitMessage: message, author, committer, signoff, coAuthors } = job.settings;
  const line = ({ name, email }: Person) => `${name} <${email}>`;
  // As `git commit --signoff` does it: by the committer, who is the author where none is named.
  const signer = signoff ? (committer ?? author ?? (await accountOf(job))) : null;
  const trailers = [
    ...coAuthors.map((person) => `Co-authored-by: ${line(person)}`),
    ...(signer === null ? [] : [`Signed-off-by: ${line(signer)}`]),
  ];
  return { message, trailers, author, committer };
}

/** An app's token is treated as the workflow's, which belongs to this bot. */
async function accountOf({ fork }: PublishJob): Promise<Person> {
  const me = await ownAccount(fork.github);
  const { login, id } = me ?? { login: 'github-actions[bot]', id: 41_898_282 };
  return { name: login, email: `${id}+${login}@users.noreply.github.com` };
}
