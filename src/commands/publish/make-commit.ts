/** One commit on a branch: pushed by git, or made by GitHub's API where it has to be signed (`--sign required`). */

import { ownAccount } from '../../adapters/github/access.ts';
import type { Clone } from '../../adapters/github/clone.ts';
import { makeSignedCommit } from '../../adapters/github/signed-commit.ts';
import { changeSubject } from '../../domain/github/publishing/change-title.ts';
import { commitMessage, planTrailer } from '../../domain/github/publishing/commit-message.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import type { CommitOrder, Person } from '../../ports/github.ts';
import type { PublishJob, Refused } from './job.ts';

/** The commit to make; `base` and `request` are stated in its message. */
export interface CommitToMake extends Pick<CommitOrder, 'tree' | 'parents' | 'branch' | 'head'> {
  readonly base: string;
  readonly request: string | null;
}

/** `moved`: someone else moved the branch in the meantime, and nothing was overwritten. */
export type CommitMade = Refused | { status: 'made'; sha: string } | { status: 'moved' };

/** Makes the commit and moves the branch to it, which is reported in the publication. Throws `GitHubRefused`. */
export async function makeCommit(job: PublishJob, clone: Clone, wanted: CommitToMake): Promise<CommitMade> {
  const { settings, fork, result, publication, run, say, sayMade } = job;
  const { base, request, ...order } = wanted;
  const { author, committer, trailers } = await peopleOf(job);
  const facts = { runId: result.runId, tree: order.tree, base, request };
  const message = commitMessage(changeSubject(result), facts, {
    message: settings.commitMessage,
    trailers: [...planTrailer(result.plan?.title), ...trailers],
  });
  const tell = (sha: string, verified: boolean | null): CommitMade => {
    const operation = order.head === null ? 'created' : 'updated';
    publication.commit = { sha, tree: order.tree, operation, verified };
    sayMade(`${order.branch} ${operation}: ${sha.slice(0, 8)}`);
    return { status: 'made', sha };
  };
  const push = (sha: string, ref: string) => {
    if (!settings.dryRun) return clone.push(sha, ref);
    say(`would git push ${clone.url} ${sha}:${ref}`);
    return Promise.resolve(true);
  };
  if (settings.sign === 'required') {
    const made = await makeSignedCommit(fork, clone, { ...order, message, author, committer }, push);
    if (made.status === 'made') return tell(made.sha, true);
    if (made.status === 'moved') return made;
    const reason = `${sentence(made.message)} The patch is kept in ${run.directory.patch}.`;
    return { status: 'refused', outcome: publishFailed('ERR_COMMIT_NOT_MADE', reason) };
  }
  const by = author ?? (await accountOf(job));
  const sha = await clone.makeCommit({ ...order, message, author: by, committer: committer ?? by });
  if (!(await push(sha, `refs/heads/${order.branch}`))) return { status: 'moved' };
  return tell(sha, null);
}

async function peopleOf(job: PublishJob) {
  const { author, committer, signoff, coAuthors } = job.settings;
  const line = ({ name, email }: Person) => `${name} <${email}>`;
  // As `git commit --signoff` does it: by the committer, who is the author where none is named.
  const signer = signoff ? (committer ?? author ?? (await accountOf(job))) : null;
  const trailers = [
    ...coAuthors.map((person) => `Co-authored-by: ${line(person)}`),
    ...(signer === null ? [] : [`Signed-off-by: ${line(signer)}`]),
  ];
  return { author, committer, trailers };
}

/** The account of the token; the workflow's bot where GitHub does not name it. */
async function accountOf({ fork }: PublishJob): Promise<Person> {
  const me = await ownAccount(fork.github);
  const { login, id } = me ?? { login: 'github-actions[bot]', id: 41_898_282 };
  return { name: login, email: `${id}+${login}@users.noreply.github.com` };
}
